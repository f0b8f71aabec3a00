import { formatAmount, parseAmount } from '../../internal/amounts.ts';
import { unprocessable } from './sandbox-error.ts';

/*
 * The sandbox counts money in units of 10^-18, as a bigint. Every amount that the API takes is a
 * whole number of these units, so sums are exact.
 */

/**
 * Converts an amount above zero to exact units of 10^-18.
 * @throws SandboxError for zero, and for anything but digits with at most 18 decimals.
 */
export function parsePositive(text: string): bigint {
  if (typeof text !== 'string' || !/^\d{1,30}(\.\d{1,18})?$/.test(text)) {
    throw invalidAmount(
      `Expected a decimal amount as a string, such as "12.50" (digits, at most 18 of them after the point), got ${typeof text === 'string' ? JSON.stringify(text.slice(0, 80)) : typeof text}.`,
    );
  }
  const units = parseUnits(text);
  if (units === 0n) throw invalidAmount('Expected an amount above zero.');
  return units;
}

const invalidAmount = (message: string) =>
  unprocessable('invalid_amount', message, { fields: { amount: message } });

/** Converts digits with at most 18 decimals to exact units of 10^-18. */
export const parseUnits = (text: string): bigint => parseAmount(text) ?? 0n;

/** Converts units of 10^-18 to a decimal string with two decimals, or more if necessary. */
export function formatDecimal(units: bigint): string {
  const [whole, fraction = ''] = formatAmount(units).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}
