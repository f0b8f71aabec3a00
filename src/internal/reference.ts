/** Banks transliterate or cut everything else, and a store may not hold it. */
export const referencePattern = /^(?=.*[A-Za-z0-9])[!-~](?:[ -~]{0,138}[!-~])?$/;

/** Whether a value can be the reference of a payment made once. */
export const isReference = (value: unknown): value is string =>
  typeof value === 'string' && referencePattern.test(value);

/** Problem of an invalid reference. */
export const referenceProblem = {
  expected: 'a reference of 1 to 140 printable ASCII characters',
  hint: 'It has a letter or digit, no space at either end, and is the same at every call for this payment, and for no other',
};
