const fractionDigits = 18;

/**
 * Writes an amount without superfluous zeros, because `12.50`, `12.5` and `012.5` are the same
 * money. Undefined if the value is not a plain decimal string.
 */
export const canonicalAmount = (amount: unknown): string | undefined => {
  if (typeof amount !== 'string' || !/^\d+(\.\d*)?$/.test(amount)) return undefined;
  const [whole = '', fraction = ''] = amount.split('.');
  // Without the lookbehind, the expression would be slow for a string with very many zeros.
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/(?<!0)0+$/, '')}`;
};

/** Converts an amount to a whole number of 10^-18 units; undefined if it is not an amount. */
export function parseAmount(amount: unknown): bigint | undefined {
  const [whole = '', fraction = ''] = canonicalAmount(amount)?.split('.') ?? [];
  const isAmount = whole !== '' && fraction.length <= fractionDigits;
  return isAmount ? BigInt(whole + fraction.padEnd(fractionDigits, '0')) : undefined;
}

/** Writes a number of 10^-18 units as a decimal string without superfluous zeros. */
export function formatAmount(units: bigint): string {
  if (units < 0n) return `-${formatAmount(-units)}`;
  const digits = String(units).padStart(fractionDigits + 1, '0');
  const fraction = digits.slice(-fractionDigits).replace(/0+$/, '');
  const whole = digits.slice(0, -fractionDigits);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
