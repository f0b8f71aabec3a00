/** Does its work when it is awaited, like a promise that has not started. */
export interface Awaitable<T> extends PromiseLike<T> {
  /** Like `Promise.prototype.then`. */
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B>;
  /** Like `Promise.prototype.catch`. */
  catch<R = never>(onRejected?: ((reason: unknown) => R | PromiseLike<R>) | null): Promise<T | R>;
  /** Like `Promise.prototype.finally`. */
  finally(onFinally?: (() => void) | null): Promise<T>;
}
