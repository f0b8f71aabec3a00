import { expectation } from '../internal/issues.ts';
import type { AccountId } from './account.ts';
import type { CounterpartyId } from './counterparty.ts';
import type { EntityId } from './entity.ts';
import type { IbanId } from './iban.ts';
import type { TransferId } from './transfer.ts';

/** What an id names, by its prefix. */
const nouns = {
  acc_: 'an Account',
  cpty_: 'a Counterparty',
  ent_: 'an Entity',
  iban_: 'an IBAN',
  txfr_: 'a Transfer',
} as const;
export type IdPrefix = keyof typeof nouns;

/** The suffix cannot change the path that it is put into: docs/gaps.md, row 22. */
const wellFormed = /^(?=.{1,256}$)[a-z]+_[^\s/\\?#%\p{Cc}\p{Cs}]+$/su;

export const isId = (prefix: IdPrefix, value: unknown): boolean =>
  typeof value === 'string' && value.startsWith(prefix) && wellFormed.test(value);

/** Without a schema, so that a bundle with a guard holds no zod. */
/* @__NO_SIDE_EFFECTS__ */
export function idGuard<Prefix extends IdPrefix>(prefix: Prefix) {
  return (value: unknown): value is `${Prefix}${string}` => isId(prefix, value);
}

/** What is wrong with an id; undefined when nothing is. It shows no text but ids: others may be secret. */
export function idProblem(prefix: IdPrefix, value: unknown): string | undefined {
  if (isId(prefix, value)) return undefined;
  const text = typeof value === 'string' ? value : '';
  const expected = expectation(`the id of ${nouns[prefix]}, ${prefix}…`);
  if (text.startsWith(prefix)) {
    const [sign] = /[\s/\\?#%]/.exec(text) ?? [];
    const what =
      sign === undefined ? 'has a length or letters of no id' : `holds ${JSON.stringify(sign)}`;
    return `${what}; expected ${prefix} and letters or digits`;
  }
  for (const [other, noun] of Object.entries(nouns)) {
    if (!text.startsWith(other)) continue;
    const shown = /^[a-z]+_[A-Za-z\d]{1,40}$/.test(text) ? text : `${other}…`;
    return `"${shown}" is the id of ${noun}; expected ${nouns[prefix]}'s, ${prefix}…`;
  }
  return /^[\da-f]{8}-[\da-f-]{27}$/i.test(text) ? `got a UUID; ${expected}` : expected;
}

/** The id types, by what makes one of a text, or lets a literal be one. */
interface Ways {
  /** An Account's. */
  'accountId(text) or as const': AccountId;
  /** A Counterparty's. */
  'counterpartyId(text) or as const': CounterpartyId;
  /** An Entity's. */
  'entityId(text) or as const': EntityId;
  /** An IBAN's. */
  'ibanId(text) or as const': IbanId;
  /** A Transfer's. */
  'transferId(text) or as const': TransferId;
}

/*
 * A compiler shows a template-literal type as text, and a union by its name: so that what it says of a
 * wrong id tells what to do. Every string has a length and can be trimmed, so each is the same type twice.
 */
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
export type IdFrom<Way extends keyof Ways> = Ways[Way] | (Ways[Way] & Pick<string, 'length'>);
/** As {@link IdFrom}, of a payment's destination, which has no other beside it. */
export type OneDestination<Way extends keyof Ways> = Ways[Way] | (Ways[Way] & Pick<string, 'trim'>);
