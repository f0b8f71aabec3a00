/** Encodes every character but letters and digits. */
const marks = (spell: (character: string) => string) => (text: string) =>
  text.replaceAll(/[^A-Za-z0-9]/g, spell);

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0');

/** How servers, proxies and their logs encode a text. */
export const spellings: readonly (readonly [string, (secret: string) => string])[] = [
  ['as it is', (secret) => secret],
  ['as a bearer token', (secret) => `Bearer ${secret}`],
  ['as a header in lower case', (secret) => `authorization: bearer ${secret}`],
  ['right behind a letter', (secret) => `key${secret}`],
  ['in a URL', encodeURIComponent],
  ['in a form', (secret) => new URLSearchParams({ key: secret }).toString()],
  ['in a URL inside of a URL', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['in a URL, all marks encoded in lower case', marks((character) => `%${hex(character)}`)],
  ['in JSON with escaped slashes', (secret) => secret.replaceAll('/', '\\/')],
  ['in JSON inside of JSON, with escaped slashes', (secret) => secret.replaceAll('/', '\\\\\\/')],
  ['in JSON behind a line break', (secret) => `\\n${secret.replaceAll('/', '\\/')}`],
  ['in JSON with all punctuation escaped', marks((character) => `\\u00${hex(character)}`)],
  ['in HTML', (secret) => secret.replaceAll('&', '&amp;')],
  ['in HTML with decimal numbers', marks((character) => `&#${character.charCodeAt(0)};`)],
  ['in HTML with hexadecimal numbers of characters', marks((character) => `&#x${hex(character)};`)],
];
