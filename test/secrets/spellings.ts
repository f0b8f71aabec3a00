/** Writes every character but letters and digits in another way. */
const marks = (spell: (character: string) => string) => (text: string) =>
  text.replaceAll(/[^A-Za-z0-9]/g, spell);

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0');
/** Writes every character in another way. */
const every = (spell: (character: string) => string) => (text: string) =>
  [...text].map(spell).join('');

const lower = (encoded: string): string =>
  encoded.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());

const named: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '/': '&sol;',
  '+': '&plus;',
  '=': '&equals;',
  _: '&lowbar;',
  '-': '&hyphen;',
  '.': '&period;',
};

/** The ways in which servers, proxies and their logs write a text down. */
export const spellings: readonly (readonly [string, (secret: string) => string])[] = [
  ['as it is', (secret) => secret],
  ['as the header that brought it', (secret) => `Bearer ${secret}`],
  ['as a header in lower case', (secret) => `authorization: bearer ${secret}`],
  ['right behind a letter', (secret) => `key${secret}`],
  ['in a URL', encodeURIComponent],
  ['in a URL, lower case', (secret) => lower(encodeURIComponent(secret))],
  ['in a form', (secret) => new URLSearchParams({ key: secret }).toString()],
  ['in a form, lower case', (secret) => lower(new URLSearchParams({ key: secret }).toString())],
  [
    'in a URL with the text before it, lower case',
    (secret) => lower(encodeURIComponent(`authorization=Bearer ${secret}`)),
  ],
  ['in a URL inside of a URL', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  [
    'in a URL inside of a URL, lower case',
    (secret) => lower(encodeURIComponent(lower(encodeURIComponent(secret)))),
  ],
  ['in a URL, every mark', marks((character) => `%${hex(character)}`)],
  ['in a form that nobody encoded', (secret) => secret.replaceAll('+', ' ')],
  ['in JSON with escaped slashes', (secret) => secret.replaceAll('/', '\\/')],
  ['in JSON inside of JSON, with escaped slashes', (secret) => secret.replaceAll('/', '\\\\\\/')],
  ['in JSON behind a line break', (secret) => `\\n${secret.replaceAll('/', '\\/')}`],
  ['in JSON, every mark', marks((character) => `\\u00${hex(character)}`)],
  ['in JSON, every mark, upper case', marks((character) => `\\u00${hex(character).toUpperCase()}`)],
  ['in HTML', (secret) => secret.replaceAll('&', '&amp;')],
  ['in HTML by name', marks((character) => named[character] ?? character)],
  ['in HTML by number', marks((character) => `&#${character.charCodeAt(0)};`)],
  ['in HTML by hexadecimal number', marks((character) => `&#x${hex(character)};`)],
  [
    'in HTML by hexadecimal number, upper case',
    marks((character) => `&#x${hex(character).toUpperCase()};`),
  ],
  ['in HTML, every character', every((character) => `&#${character.charCodeAt(0)};`)],
  [
    'in HTML without semicolons, every character',
    every((character) => `&#${character.charCodeAt(0)}`),
  ],
  ['in HTML inside of a URL', (secret) => encodeURIComponent(secret.replaceAll('&', '&amp;'))],
  ['in JavaScript, every character', every((character) => `\\x${hex(character)}`)],
  ['in JavaScript with braces, every character', every((character) => `\\u{${hex(character)}}`)],
  ['by escape(), every character', every((character) => `%u00${hex(character)}`)],
  ['in upper case', (secret) => secret.toUpperCase()],
  ['in lower case', (secret) => secret.toLowerCase()],
];

/** The same for what no header can carry. */
export const bodySpellings: typeof spellings = [
  ['in UTF-16 that was read as UTF-8', every((character) => `${character}\0`)],
  ['in UTF-32 that was read as UTF-8', every((character) => `\0\0\0${character}`)],
  ['with places to break a line', every((character) => `${character}\u200b`)],
  ['with soft hyphens', every((character) => `${character}\u00ad`)],
];
