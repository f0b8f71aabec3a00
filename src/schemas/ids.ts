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

export const idPattern = (prefix: IdPrefix): RegExp =>
  new RegExp(wellFormed.source.replace('[a-z]+_', prefix), 'su');

const isId = (prefix: IdPrefix, value: unknown): boolean =>
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
  const expected = `expected the id of ${nouns[prefix]}, ${prefix}…`;
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

/** What makes an id of a text, or lets a literal be one. */
interface Ways {
  'accountId(text) or as const': AccountId;
  'counterpartyId(text) or as const': CounterpartyId;
  'entityId(text) or as const': EntityId;
  'ibanId(text) or as const': IbanId;
  'transferId(text) or as const': TransferId;
}

/*
 * A compiler names a template-literal type by its text alone, and a union by its name: so that what it
 * says of a wrong id tells what to do. Every string has a length, so this is the same type twice.
 */
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
export type IdFrom<Way extends keyof Ways> = Ways[Way] | (Ways[Way] & { readonly length: number });

/** As {@link IdFrom}, of a payment's destination: it has one, and no other beside it. */
export type OneDestination<Way extends keyof Ways> =
  Ways[Way] | (Ways[Way] & { readonly length: number });
