/** The prefixes of the id types, by what makes an id of a string or keeps a literal one. */
interface IdPrefixes {
  /** An Account. */
  'accountId(text) or as const': 'acc_';
  /** A Counterparty. */
  'counterpartyId(text) or as const': 'cpty_';
  /** An Entity. */
  'entityId(text) or as const': 'ent_';
  /** An IBAN. */
  'ibanId(text) or as const': 'iban_';
  /** A Transfer. */
  'transferId(text) or as const': 'txfr_';
}
type Id<Source extends keyof IdPrefixes> = `${IdPrefixes[Source]}${string}`;

/*
 * A compiler shows a union by its name, and a template-literal type as a pattern: so its name is a hint for a
 * caller with a wrong id. Every string has a length and can be trimmed, so each type is the same type twice.
 */
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
export type IdFrom<Source extends keyof IdPrefixes> =
  Id<Source> | (Id<Source> & Pick<string, 'length'>);
/** As {@link IdFrom}, for a payment's destination, which has no other beside it. */
export type OneDestination<Source extends keyof IdPrefixes> =
  Id<Source> | (Id<Source> & Pick<string, 'trim'>);
