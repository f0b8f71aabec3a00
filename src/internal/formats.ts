import { expectation, type Problem } from './issues.ts';
import { isDate } from './objects.ts';

/**
 * The nouns whose records have an id with a prefix, each with the name of one record. The sandbox,
 * openapi.json and the site list their nouns from this table, and the client checks ids by it.
 */
export const nounTable = {
  entities: { prefix: 'ent_', name: 'an Entity' },
  accounts: { prefix: 'acc_', name: 'an Account' },
  transfers: { prefix: 'txfr_', name: 'a Transfer' },
  counterparties: { prefix: 'cpty_', name: 'a Counterparty' },
  ibans: { prefix: 'iban_', name: 'an IBAN' },
} as const;
export type Noun = keyof typeof nounTable;
export type IdPrefix = (typeof nounTable)[Noun]['prefix'];

/** Matches an id without characters that would change a URL's path: docs/gaps.md, row 22. */
const idPattern = /^(?=.{1,256}$)[a-z]+_[^\s/\\?#%\p{Cc}\p{Cs}]+$/su;

export const isWellFormedId = (prefix: IdPrefix, value: unknown): boolean =>
  typeof value === 'string' && value.startsWith(prefix) && idPattern.test(value);

/** Says what is wrong with an id; undefined if nothing is. Quotes at most an id, because other text may be secret. */
export function describeIdProblem(prefix: IdPrefix, value: unknown): string | undefined {
  if (isWellFormedId(prefix, value)) return undefined;
  const id = typeof value === 'string' ? value : '';
  const nouns = Object.values(nounTable);
  const expectedName = nouns.find((noun) => noun.prefix === prefix)?.name;
  const expected = expectation(`the id of ${expectedName}, ${prefix}…`);
  if (id.startsWith(prefix)) {
    const [forbidden] = /[\s/\\?#%]/.exec(id) ?? [];
    const problem =
      forbidden === undefined
        ? 'has an invalid length or character'
        : `contains ${JSON.stringify(forbidden)}`;
    return `${problem}; expected ${prefix} and letters or digits`;
  }
  const other = nouns.find((noun) => id.startsWith(noun.prefix));
  if (other !== undefined) {
    const quotedId = /^[a-z]+_[A-Za-z\d]{1,40}$/.test(id) ? id : `${other.prefix}…`;
    return `"${quotedId}" is the id of ${other.name}; expected ${expectedName}'s, ${prefix}…`;
  }
  const isUuid = /^[\da-f]{8}-[\da-f-]{27}$/i.test(id);
  return isUuid ? `got a UUID; ${expected}` : expected;
}

export const expectedMoment = 'a valid Date or string such as "2026-01-31T12:00:00Z"';

/** Whether a value is a Date, or an ISO 8601 string with an offset. */
export const isMoment = (value: unknown): value is Date | string =>
  typeof value === 'string'
    ? /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(value) &&
      !Number.isNaN(Date.parse(value)) &&
      isOnCalendar(value)
    : isDate(value) && !Number.isNaN(value.getTime());

/** Whether the day of a date exists, because Date.parse reads 30 February as 2 March. */
export const isOnCalendar = (dateTime: string): boolean => {
  const day = dateTime.slice(0, 10);
  // Every month has 28 days, and making a Date takes as long as the rest of reading a time.
  if (Number(day.slice(-2)) <= 28) return true;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
};

/** Matches the code of a currency. Which currencies exist is not documented: docs/gaps.md, row 10. */
export const currencyPattern = /^[A-Za-z0-9]{2,12}$/;
export const isCurrency = (value: unknown): value is string =>
  typeof value === 'string' && currencyPattern.test(value);

/** A reference is printable ASCII, because banks change and stores may reject other characters. */
const referencePattern = /^(?=.*[A-Za-z0-9])[!-~](?:[ -~]{0,138}[!-~])?$/;

/** Match the text that a template makes of a missing value, because several payments would share such a reference. */
const missingValues = [
  /undefined|Invalid Date|\[object [A-Za-z ]+\]/,
  // An id in base58 may have NaN between two digits.
  /(?<![A-Za-z\d])(?:null|NaN)(?![A-Za-z])|(?<![A-Za-z])(?:null|NaN)(?![A-Za-z\d])/,
  // The text of a function that was not called, of its promise, or of a symbol.
  /\(\) ?(?:=>|\{)|\bfunction\b[^(]*\([^)]*\) ?\{|\[Function|Promise \{|Symbol\(/,
  // A placeholder that no value has replaced.
  /\$\{|\{\{|(?<![A-Za-z\d])\{(?:[A-Za-z_]\w*|\d)?\}|<%|%\(\w+\)[ds]|(?<![A-Za-z\d])%[ds](?![A-Za-z\d])/,
  // Infinity, an error of a spreadsheet, or a number that a spreadsheet has rounded (1.2E+5).
  /(?<![A-Za-z ])-?Infinity$|#(?:REF!|N\/A|VALUE!|NAME\?|NUM!|DIV\/0!)|\d\.\d+E\+\d/,
];
const findMissingValue = (reference: string): string | undefined =>
  missingValues.map((pattern) => pattern.exec(reference)?.[0]).find((text) => text !== undefined);

/**
 * Whether a value has the form of a payment's reference. Accepts the text of a missing value,
 * because an earlier version may have recorded such a reference in the journal.
 */
export const isReference = (value: unknown): value is string =>
  typeof value === 'string' && referencePattern.test(value);

/**
 * Returns the key under which a journal stores a reference. Upper and lower case do not count,
 * because two spellings probably mean one payment, and a store may ignore case.
 */
export const journalKey = (reference: string): string => reference.toLowerCase();

const referenceProblem = {
  expected: 'a reference of 1 to 140 printable ASCII characters',
  hint: 'It has a letter or digit, no space at either end, and is the same at every call for this payment, and for no other',
};

/** Describes what is wrong with the reference of a new payment; undefined if it is valid. */
export function describeReferenceProblem(value: unknown): Problem | undefined {
  const missing = isReference(value) ? findMissingValue(value) : undefined;
  if (isReference(value) && missing === undefined) return undefined;
  if (typeof value !== 'string' || value === '') return referenceProblem;
  const characters = [...value];
  const at = characters.findIndex((character) => !/^[ -~]$/.test(character));
  if (at >= 0) {
    const got = `${describeCharacter(characters[at] ?? '')} at position ${at + 1}`;
    const hint = 'Banks rewrite or cut such characters: replace it, as in "Mueller" for "Müller"';
    return { got, expected: 'printable ASCII characters', hint };
  }
  if (value.length > 140) return { ...referenceProblem, got: `${value.length} characters` };
  if (missing !== undefined) {
    const hint =
      'A value was missing when this reference was made, so other payments would get it, too';
    return { got: `"${missing}" in it`, expected: 'a reference of one payment', hint };
  }
  const got = value.trim() === value ? 'no letter or digit' : 'a space at the start or end';
  return { ...referenceProblem, got };
}

/** Shows a character, or its code if it is invisible, because it may move a terminal's cursor. */
const describeCharacter = (character: string): string =>
  /[\p{L}\p{N}\p{P}\p{S}]/u.test(character)
    ? `"${character}"`
    : `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
