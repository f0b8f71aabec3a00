import { refused } from './sandbox-error.ts';

/*
 * Money as a bigint that counts 10^-18: every amount that the API takes is a whole number of these
 * units, so sums are exact.
 */
const places = 18;
const one = 10n ** BigInt(places);

/**
 * Reads an amount, exactly.
 * @throws SandboxError for zero, and for anything but digits with at most 18 decimals.
 */
export function parsePositive(text: string): bigint {
  if (typeof text !== 'string' || !/^\d{1,30}(\.\d{1,18})?$/.test(text)) {
    throw refused(
      'invalid_amount',
      `Expected a decimal amount as a string, such as "12.50" (digits, at most 18 of them after the point), got ${typeof text === 'string' ? JSON.stringify(text.slice(0, 80)) : typeof text}.`,
    );
  }
  const units = unitsOf(text);
  if (units === 0n) throw refused('invalid_amount', 'Expected an amount above zero.');
  return units;
}

/** Reads digits with at most 18 decimals, exactly. */
export function unitsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole) * one + BigInt(fraction.padEnd(places, '0'));
}

/** Writes units as a decimal text: two decimals at least, and no trailing zeros beyond them. */
export function formatDecimal(units: bigint): string {
  const fraction = String(units % one)
    .padStart(places, '0')
    .replace(/0+$/, '')
    .padEnd(2, '0');
  return `${units / one}.${fraction}`;
}
