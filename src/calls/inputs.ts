import type { DetailedIssue } from '../internal/issues.ts';
import { readInput, type Validator } from './arguments.ts';

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

/** Whether inputs are a stream. Loops over a stream share its items, so a second loop would miss some. */
const isStream = (inputs: object): boolean => 'readableFlowing' in inputs || 'getReader' in inputs;

/** An input as the caller passed it, and its copy, for which the SDK read each field once. */
export interface ReadInput<T> {
  readonly input: T;
  readonly copy: T;
}

/**
 * Returns a function that gives each loop the inputs with copies, made at once for an array because
 * the caller may change it. A second loop over a generator or a stream throws, because the
 * remaining items would look like a complete batch.
 */
export function createInputReader<T>(
  inputs: Inputs<T>,
  schema: () => Validator<unknown>,
  createError: (issues: DetailedIssue[]) => Error,
): () => Inputs<ReadInput<T>> {
  /** Whether an earlier loop, or this one, has read an input. */
  let wasFilled = false;
  const read = (input: T): ReadInput<T> => ({ input, copy: readInput(input, schema()) });
  return () => {
    if (Array.isArray(inputs)) return Array.from(inputs as readonly T[], read);
    const isAsync = Symbol.asyncIterator in inputs;
    const createIterator = () => {
      const last = lastIterators.get(inputs);
      if (last !== undefined && isStream(inputs)) throw createError([spentInputs]);
      const iterator = isAsync ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
      if (iterator === last) throw createError([spentInputs]);
      lastIterators.set(inputs, iterator);
      /** Whether this loop has read no input yet. */
      let isEmpty = true;
      const readStep = (step: IteratorResult<T, undefined>): IteratorResult<ReadInput<T>> => {
        if (step.done !== true) {
          [isEmpty, wasFilled] = [false, true];
          return { done: false, value: read(step.value) };
        }
        // A database cursor creates a new iterator for each loop, but returns its rows only once.
        if (isEmpty && wasFilled) throw createError([spentInputs]);
        return step;
      };
      const close = iterator.return?.bind(iterator);
      return {
        // The cast is safe, because `isAsync` shows whether the iterator is asynchronous.
        next: () =>
          isAsync
            ? Promise.resolve(iterator.next()).then(readStep)
            : readStep(iterator.next() as IteratorResult<T, undefined>),
        ...(close && { return: close }),
      };
    };
    // Do not make a synchronous iterable asynchronous, because an `await` for each item is slow.
    const method = isAsync ? Symbol.asyncIterator : Symbol.iterator;
    return { [method]: createIterator } as unknown as Inputs<ReadInput<T>>;
  };
}
