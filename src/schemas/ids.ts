/*
 * The compiler prints a union by its name and type arguments, so `Hint` tells a caller with a wrong
 * id what to do. Both members of `IdFrom` accept the same strings.
 */
/** An id to pass. Convert a `string` with `accountId(text)`, and keep a literal with `as const`. */
export type IdFrom<Prefix extends string, Hint extends string> =
  `${Prefix}${string}` | (`${Prefix}${string}` & Pick<Hint, 'length'>);

// Templates keep the type of a literal id, and let the compiler report the second destination.
/** The destination to leave out. No string has this type, and the arguments are a hint. */
export type ExactlyOneOf<Fields extends string, Prefix extends string, Hint extends string> =
  | (`${Prefix}${string}` & Readonly<Record<Fields, unknown>>)
  | (`${Prefix}${string}` & Readonly<Record<Hint, unknown>>);
