/*
 * A compiler shows a union by its name, and a template-literal type as a pattern: so the name and its arguments
 * are a hint for a caller with a wrong id. Every hint has a length, so `IdFrom` is the same type twice.
 */
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
export type IdFrom<Prefix extends string, Hint extends string> =
  `${Prefix}${string}` | (`${Prefix}${string}` & Pick<Hint, 'length'>);

// Templates, so that a literal id keeps its type and the compiler blames the second destination.
/** The destination that a payment does not have: no string is one, and the arguments are a hint. */
export type ExactlyOneOf<Fields extends string, Prefix extends string, Hint extends string> =
  | (`${Prefix}${string}` & Readonly<Record<Fields, unknown>>)
  | (`${Prefix}${string}` & Readonly<Record<Hint, unknown>>);
