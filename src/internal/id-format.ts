import { expectation } from './issues.ts';

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
const idPattern = /^(?=.{1,256}$)[a-z]+_[^\s/\\?#%\p{Cc}\p{Cs}]+$/su;

export const isWellFormedId = (prefix: IdPrefix, value: unknown): boolean =>
  typeof value === 'string' && value.startsWith(prefix) && idPattern.test(value);

/** Uses no schema, so that a bundle with a guard holds no zod. */
/* @__NO_SIDE_EFFECTS__ */
export function createIdGuard<Prefix extends IdPrefix>(prefix: Prefix) {
  return (value: unknown): value is `${Prefix}${string}` => isWellFormedId(prefix, value);
}

/** Describes what is wrong with an id; undefined if it is valid. Quotes ids only: other strings may be secret. */
export function describeIdProblem(prefix: IdPrefix, value: unknown): string | undefined {
  if (isWellFormedId(prefix, value)) return undefined;
  const id = typeof value === 'string' ? value : '';
  const expected = expectation(`the id of ${nouns[prefix]}, ${prefix}…`);
  if (id.startsWith(prefix)) {
    const [sign] = /[\s/\\?#%]/.exec(id) ?? [];
    const problem =
      sign === undefined
        ? 'has an invalid length or character'
        : `contains ${JSON.stringify(sign)}`;
    return `${problem}; expected ${prefix} and letters or digits`;
  }
  for (const [otherPrefix, noun] of Object.entries(nouns)) {
    if (!id.startsWith(otherPrefix)) continue;
    const quotedId = /^[a-z]+_[A-Za-z\d]{1,40}$/.test(id) ? id : `${otherPrefix}…`;
    return `"${quotedId}" is the id of ${noun}; expected ${nouns[prefix]}'s, ${prefix}…`;
  }
  return /^[\da-f]{8}-[\da-f-]{27}$/i.test(id) ? `got a UUID; ${expected}` : expected;
}
