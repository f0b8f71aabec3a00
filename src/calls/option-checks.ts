import { isObject, isPlainObject } from '../internal/guards.ts';
import type { Issue } from '../errors/errors.ts';
import { join } from '../internal/issues.ts';
import { told, unknownField } from './arguments.ts';

/**
 * Adds to `issues` what is wrong with an option. Options are not checked by schemas: making one takes
 * longer than the rest of a client, and every process makes one.
 */
export type OptionCheck = (value: unknown, at: string, issues: Issue[]) => void;

/** A rule for each option. */
export type OptionChecks<T> = Readonly<Record<keyof T, OptionCheck>>;

/** A rule out of what is wrong with a value. */
export const checkBy =
  (problem: (value: unknown) => string | undefined): OptionCheck =>
  (value, at, issues) => {
    const message = problem(value);
    if (message !== undefined) issues.push({ path: at, message: told(message, value) });
  };

/** What may be left out, and has one rule. */
/* @__NO_SIDE_EFFECTS__ */
export const optionalCheck = (rule: string, holds: (value: unknown) => boolean): OptionCheck =>
  checkBy((value) => (value === undefined || holds(value) ? undefined : rule));

/** An object that has these fields and no others. */
export const fields =
  (rules: Readonly<Record<string, OptionCheck>>): OptionCheck =>
  (value, at, issues) => {
    if (!isPlainObject(value)) {
      issues.push({ path: at, message: told(plainRule, value) });
      return;
    }
    for (const [name, rule] of Object.entries(rules)) rule(value[name], join(at, [name]), issues);
    const names = Object.keys(rules);
    for (const name of Object.keys(value).filter((each) => !Object.hasOwn(rules, each))) {
      const message = unknownField(name, names, at.startsWith('options'));
      issues.push({ path: join(at, [name]), message });
    }
  };
const plainRule = 'expected a plain object. Copy the fields into one, { … }';

export const milliseconds = optionalCheck(
  'expected milliseconds above 0, such as 30_000',
  (value) => Number.isFinite(value) && Number(value) > 0,
);
export const retries = optionalCheck(
  'expected a whole number, 0 or more',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
/** Whether a value has these functions, its own or of its class. */
export const hasFunctions = (value: unknown, names: readonly string[]): boolean =>
  isObject(value) && names.every((name) => typeof Reflect.get(value, name) === 'function');

export const callable = optionalCheck(
  'expected a function',
  (value) => typeof value === 'function',
);

/** The options of a call, as they were given; what is wrong with them goes into `issues`. */
export function checkOptions<T extends object>(
  rules: () => OptionChecks<T>,
  given: T | undefined,
  issues: Issue[],
): Partial<T> {
  if (given === undefined) return {};
  fields(rules())(given, 'options', issues);
  return isPlainObject(given) ? given : {};
}
