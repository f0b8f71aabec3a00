import { throwFromCallSite } from '../errors/call-site.ts';
import { ValidationError } from '../errors/errors.ts';
import { createError } from '../errors/message.ts';
import { formatAmount, parseAmount } from '../internal/amounts.ts';
import { issueAt, withHint, type Problem } from '../internal/issues.ts';

/**
 * Adds decimal strings exactly; without any string the sum is `'0'`. Each may have a minus, at most
 * 30 digits before the point and at most 18 after it.
 * @throws {@link ValidationError} for anything else, such as a number
 * @example
 * ```ts
 * import { sumAmounts } from 'payments-platform-sdk';
 *
 * console.log(sumAmounts(['0.1', '0.20', '-0.05'])); // 0.25
 * ```
 */
export function sumAmounts(amounts: Iterable<string>): string {
  return formatAmount(throwFromCallSite(() => sum(amounts)));
}

function sum(amounts: Iterable<string>): bigint {
  // Reject a string, because a string is iterable, too, and its digits would be added.
  if (Object(amounts) !== amounts || typeof amounts[Symbol.iterator] !== 'function') {
    throw invalidAmount('amounts', { expected: 'an array of decimal strings' }, amounts);
  }
  let total = 0n;
  let at = 0;
  for (const amount of amounts) total += parseSigned(amount, `amounts[${at++}]`);
  return total;
}

/**
 * Compares two decimal strings of the form that {@link sumAmounts} describes, for `sort` or a
 * limit. Returns -1, 0 (also for `'1.5'` and `'1.50'`) or 1.
 * @throws {@link ValidationError} for anything else, such as a number
 * @example
 * ```ts
 * import { compareAmounts } from 'payments-platform-sdk';
 *
 * console.log(compareAmounts('9.99', '10') < 0, ['10', '9.99'].toSorted(compareAmounts));
 * ```
 */
export function compareAmounts(a: string, b: string): -1 | 0 | 1 {
  const difference = throwFromCallSite(() => parseSigned(a, 'a') - parseSigned(b, 'b'));
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

function parseSigned(amount: unknown, path: string): bigint {
  const [, sign, digits] =
    /^(-?)(\d{1,30}(?:\.\d{1,18})?)$/.exec(typeof amount === 'string' ? amount : '') ?? [];
  const units = parseAmount(digits);
  if (units !== undefined) return sign === '-' ? -units : units;
  const hint =
    typeof amount === 'number'
      ? 'A number loses digits: keep the string'
      : 'No comma, plus or exponent; at most 30 digits before the point and 18 after it';
  throw invalidAmount(path, { expected: 'a decimal string, such as "12.50"', hint }, amount);
}

function invalidAmount(path: string, problem: Problem, value: unknown): ValidationError {
  const issue = issueAt(path, problem, value);
  return createError(
    ValidationError,
    { what: `Invalid ${path}: ${issue.message}`, hint: issue.hint },
    { outcome: 'not_sent', issues: [withHint(issue)] },
  );
}
