/*
 * A compiler prints a union by its name and arguments, so these are the hint for a caller with a wrong id. Both
 * members of `IdFrom` accept the same strings.
 */
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
export type IdFrom<Prefix extends string, Hint extends string> =
  `${Prefix}${string}` | (`${Prefix}${string}` & Pick<Hint, 'length'>);

// Templates, so that a literal id keeps its type and the compiler blames the second destination.
/** The destination that a payment does not have: no string is one, and the arguments are a hint. */
export type ExactlyOneOf<Fields extends string, Prefix extends string, Hint extends string> =
  | (`${Prefix}${string}` & Readonly<Record<Fields, unknown>>)
  | (`${Prefix}${string}` & Readonly<Record<Hint, unknown>>);
