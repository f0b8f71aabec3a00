/*
 * If a caller passes a wrong id, the compiler prints the type by its name and arguments, so `Hint`
 * tells the caller what to do. Both members of `IdFrom` accept the same strings.
 */
/** An id to pass to a method. Convert a `string` with `accountId(text)`, or write `as const`. */
export type IdFrom<Prefix extends string, Hint extends string> =
  `${Prefix}${string}` | (`${Prefix}${string}` & Pick<Hint, 'length'>);

// Template types keep the type of a literal id, and let the compiler report two destinations.
/** The destination to leave out. No string has this type. `Hint` tells the caller what to do. */
export type ExactlyOneOf<Fields extends string, Prefix extends string, Hint extends string> =
  | (`${Prefix}${string}` & Readonly<Record<Fields, unknown>>)
  | (`${Prefix}${string}` & Readonly<Record<Hint, unknown>>);
