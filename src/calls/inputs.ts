import type { DetailedIssue } from '../internal/issues.ts';

/** Inputs of a call for many payments. */
export type Inputs<T> = Iterable<T> | AsyncIterable<T>;

/** Says what is wrong with inputs that cannot be iterated. A string does not count as inputs. */
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

/** The last iterator of each iterable that a loop of any call has read. */
const lastIterators = new WeakMap<object, unknown>();

/** Whether inputs are a stream of Node.js or of the web, whose loops share its items. */
const isStream = (inputs: object): boolean => 'readableFlowing' in inputs || 'getReader' in inputs;

/**
 * Returns a function that returns the inputs of one loop. If an earlier loop has used them up,
 * reading throws, because the rest of a generator or of a stream would look like a complete batch,
 * or like a day without payments.
 */
export function createInputReader<T>(
  inputs: Inputs<T>,
  createError: (issues: DetailedIssue[]) => Error,
): () => Inputs<T> {
  let wasFilled = false;
  return () => {
    // An array can be read again, and may be empty then.
    const isArray: boolean = Array.isArray(inputs);
    if (isArray) return inputs;
    const isAsync = Symbol.asyncIterator in inputs;
    const start = () => {
      const last = lastIterators.get(inputs);
      if (last !== undefined && isStream(inputs)) throw createError([spentInputs]);
      const iterator = isAsync ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
      if (iterator === last) throw createError([spentInputs]);
      lastIterators.set(inputs, iterator);
      let isEmpty = true;
      const check = (step: IteratorResult<T>): IteratorResult<T> => {
        // A database cursor makes an iterator for each loop, but has its rows only once.
        if (step.done === true && isEmpty && wasFilled) throw createError([spentInputs]);
        if (step.done !== true) [isEmpty, wasFilled] = [false, true];
        return step;
      };
      const close = iterator.return?.bind(iterator);
      return {
        // TypeScript does not connect `isAsync` with the kind of the iterator.
        next: () =>
          isAsync
            ? Promise.resolve(iterator.next()).then(check)
            : check(iterator.next() as IteratorResult<T>),
        ...(close && { return: close }),
      };
    };
    // Synchronous inputs stay synchronous, because the consumer reads those without a pause.
    return { [isAsync ? Symbol.asyncIterator : Symbol.iterator]: start } as unknown as Inputs<T>;
  };
}
