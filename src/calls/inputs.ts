import type { DetailedIssue } from '../internal/issues.ts';

/** The inputs of a method that makes or checks many payments. */
export type Inputs<T> = Iterable<T> | AsyncIterable<T>;

/** Describes what is wrong with inputs that are not iterable. Strings are not accepted either. */
export const findInputsIssues = (inputs: unknown): DetailedIssue[] =>
  typeof inputs === 'object' &&
  inputs !== null &&
  (Symbol.iterator in inputs || Symbol.asyncIterator in inputs)
    ? []
    : [{ path: 'inputs', message: 'expected an array or another iterable of inputs' }];

const spentInputs: DetailedIssue = {
  path: 'inputs',
  message: 'an earlier loop has read them, and they can be read only once',
  hint: 'Pass an array, or what a new call of the generator function returns: this loop would miss inputs',
};

/** The latest iterator of each iterable, to recognise a generator that was already read. */
const lastIterators = new WeakMap<object, unknown>();

/** Whether inputs are a stream. Loops over a stream share its items, so each misses some. */
const isStream = (inputs: object): boolean => 'readableFlowing' in inputs || 'getReader' in inputs;

/**
 * Returns a function that returns the inputs for one loop. If an earlier loop has read a generator
 * or a stream, reading throws, because the remaining items would look like a complete batch, or
 * like a day without payments.
 */
export function createInputReader<T>(
  inputs: Inputs<T>,
  createError: (issues: DetailedIssue[]) => Error,
): () => Inputs<T> {
  /** Whether an earlier loop, or this one, has read an input. */
  let wasFilled = false;
  return () => {
    // Return an array as it is, because a second loop can read an array again.
    const isArray: boolean = Array.isArray(inputs);
    if (isArray) return inputs;
    const isAsync = Symbol.asyncIterator in inputs;
    const createIterator = () => {
      const last = lastIterators.get(inputs);
      if (last !== undefined && isStream(inputs)) throw createError([spentInputs]);
      const iterator = isAsync ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
      if (iterator === last) throw createError([spentInputs]);
      lastIterators.set(inputs, iterator);
      /** Whether this loop has read no input yet. */
      let isEmpty = true;
      const rejectSpentInputs = (step: IteratorResult<T>): IteratorResult<T> => {
        // A database cursor creates a new iterator for each loop, but returns its rows only once.
        if (step.done === true && isEmpty && wasFilled) throw createError([spentInputs]);
        if (step.done !== true) [isEmpty, wasFilled] = [false, true];
        return step;
      };
      const close = iterator.return?.bind(iterator);
      return {
        // The cast is safe, because `isAsync` shows whether the iterator is asynchronous.
        next: () =>
          isAsync
            ? Promise.resolve(iterator.next()).then(rejectSpentInputs)
            : rejectSpentInputs(iterator.next() as IteratorResult<T>),
        ...(close && { return: close }),
      };
    };
    // Do not make a synchronous iterable asynchronous, because an `await` for each item is slow.
    const method = isAsync ? Symbol.asyncIterator : Symbol.iterator;
    return { [method]: createIterator } as unknown as Inputs<T>;
  };
}
