import { isObject, isPlainObject } from '../internal/guards.ts';
import { issueAt, join, type DetailedIssue, type Problem } from '../internal/issues.ts';
import { unknownNameAt } from './arguments.ts';

/**
 * Adds to `issues` what is wrong with an option. Schemas do not check options: building a schema takes
 * longer than creating the rest of a client, and every process creates a client.
 */
export type OptionCheck = (value: unknown, at: string, issues: DetailedIssue[]) => void;

/** A check for each option. */
export type OptionChecks<T> = Readonly<Record<keyof T, OptionCheck>>;

/** A check that reports a problem; a string is a complete message. */
/* @__NO_SIDE_EFFECTS__ */
export const checkBy =
  (findProblem: (value: unknown) => Problem | string | undefined): OptionCheck =>
  (value, at, issues) => {
    const problem = findProblem(value);
    if (problem !== undefined) issues.push(issueAt(at, problem, value));
  };

/** A check of an option that may be omitted. */
/* @__NO_SIDE_EFFECTS__ */
export const optionalCheck = (
  expected: string,
  isValid: (value: unknown) => boolean,
): OptionCheck =>
  checkBy((value) => (value === undefined || isValid(value) ? undefined : { expected }));

/** A check of an object that has these fields and no others. */
export const fields =
  (checks: Readonly<Record<string, OptionCheck>>): OptionCheck =>
  (value, at, issues) => {
    if (!isPlainObject(value)) {
      issues.push(issueAt(at, plainObject, value));
      return;
    }
    for (const [name, check] of Object.entries(checks))
      check(value[name], join(at, [name]), issues);
    const names = Object.keys(checks);
    const kind = at.startsWith('options') ? 'option' : 'field';
    for (const name of Object.keys(value).filter((key) => !Object.hasOwn(checks, key))) {
      issues.push(unknownNameAt(join(at, [name]), name, kind, names));
    }
  };
const plainObject = { expected: 'a plain object', hint: 'Copy the fields into one, { … }' };

export const milliseconds = optionalCheck(
  'milliseconds above 0, such as 30_000',
  (value) => Number.isFinite(value) && Number(value) > 0,
);
export const retries = optionalCheck(
  'a whole number, 0 or more',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
/** Whether a value has these functions, its own or of its class. */
export const hasFunctions = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => typeof Reflect.get(value, name) === 'function');

export const isBoolean = optionalCheck('true or false', (value) => typeof value === 'boolean');

export const callable = optionalCheck('a function', (value) => typeof value === 'function');

/** Checks the options of a call; what is wrong with them is added to `issues`. */
export function checkOptions<T extends object>(
  checks: () => OptionChecks<T>,
  options: T | undefined,
  issues: DetailedIssue[],
): Partial<T> {
  if (options === undefined) return {};
  fields(checks())(options, 'options', issues);
  return isPlainObject(options) ? options : {};
}
