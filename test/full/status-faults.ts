import { errorBody, page } from './bodies.ts';
import { either, row, transportFaults, type Fault } from './faults.ts';
import type { Exchange } from './server.ts';

const html = 'content-type: text/html';

/** Answers with a status as an API does, or as a proxy in front of it does. */
const says =
  (status: number, ...headers: string[]) =>
  (exchange: Exchange): void => {
    exchange.reply(status, errorBody, ...headers);
  };
const asPage =
  (status: number, ...headers: string[]) =>
  (exchange: Exchange): void => {
    exchange.reply(status, page, html, ...headers);
  };

/** Refusals that will be the same the next time. */
const refused: Fault[] = [
  ...[400, 403, 404, 405, 409, 410, 413, 415, 421, 422, 428, 431, 451, 501, 505].map((status) =>
    row(`${status}`, 'rejected', 'fails', says(status)),
  ),
  row('413 as a page', 'rejected', 'fails', asPage(413)),
  row('413 before the whole request was read', 'rejected', 'fails', (exchange) => {
    exchange.reply(413, errorBody, 'connection: close');
    exchange.fin();
  }),
  row('400 that repeats the credential', 'rejected', 'fails', (exchange) => {
    const sent = exchange.headers.get('authorization') ?? '';
    const told = { error: `bad ${sent}`, code: sent.slice(7), details: { sent, [sent]: [sent] } };
    exchange.reply(400, JSON.stringify(told), `x-request-id: ${sent}`, `x-echo: ${sent}`);
  }),
  row('401', 'rejected', 'fails', says(401)),
  row('401 as a page', 'rejected', 'fails', asPage(401)),
];

/** A moment as HTTP writes it, so many seconds from now. */
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString();

const throttled = (
  name: string,
  once: Fault['once'],
  holds: number,
  ...headers: readonly (() => string)[]
): Fault =>
  row(
    `429 ${name}`,
    once,
    once === 'resent' ? 'resent' : 'fails',
    (exchange) => {
      exchange.reply(429, errorBody, ...headers.map((header) => header()));
    },
    { holds },
  );
const after = (value: string) => (): string => `retry-after: ${value}`;

/** Refusals that ask for patience; the number is how much of it, in milliseconds. */
const patience: Fault[] = [
  row('425', 'resent', 'resent', says(425)),
  throttled('without Retry-After', 'resent', 0),
  throttled('Retry-After 0', 'resent', 0, after('0')),
  throttled('Retry-After 0.1', 'resent', 100, after('0.1')),
  throttled(
    'Retry-After: a date that is now',
    'resent',
    0,
    () => `retry-after: ${inSeconds(0)}`,
    () => `date: ${inSeconds(0)}`,
  ),
  throttled('Retry-After: a date gone by', 'resent', 0, () => `retry-after: ${inSeconds(-90)}`),
  throttled(
    'Retry-After: a date by a clock that is a day ahead',
    'resent',
    0,
    () => `retry-after: ${inSeconds(86_400)}`,
    () => `date: ${inSeconds(86_400)}`,
  ),
  throttled('Retry-After: -1', 'resent', 0, after('-1')),
  throttled('Retry-After: 1e10', 'resent', 0, after('1e10')),
  throttled('Retry-After: 99999999999', 'resent', 0, after('99999999999')),
  throttled('Retry-After: soon', 'resent', 0, after('soon')),
  throttled('Retry-After: 3600', 'rejected', 60_000, after('3600')),
  throttled(
    'Retry-After: the year 9999',
    'rejected',
    60_000,
    after('Fri, 31 Dec 9999 23:59:59 GMT'),
  ),
  row('429 as a page', 'resent', 'resent', asPage(429)),
];

/** Answers of servers and proxies that may have passed the request on. */
const doubtful: Fault[] = [
  ...[408, 499].flatMap((status) =>
    either(`${status}`, 'unknown', status === 408 ? 'resent' : 'fails', says(status)),
  ),
  ...[500, 502, 503, 504, 520, 522].flatMap((status) =>
    either(`${status}`, 'unknown', 'resent', says(status)),
  ),
  ...[500, 502, 503, 504].flatMap((status) =>
    either(`${status} as a page`, 'unknown', 'resent', asPage(status)),
  ),
  // A proxy may have written it in the place of a success.
  ...[400, 403, 404, 405, 409, 410, 422, 501, 505].flatMap((status) =>
    either(`${status} as a page`, 'unknown', 'fails', asPage(status)),
  ),
  ...either('503 with Retry-After', 'unknown', 'resent', says(503, 'retry-after: 0')),
  ...either('599', 'unknown', 'resent', says(599)),
];

const elsewhere =
  (status: number, other: boolean) =>
  (exchange: Exchange): void => {
    const target = other ? exchange.otherOrigin() : exchange.elsewhere();
    exchange.reply(status, page, html, `location: ${target}`);
  };
const redirects: Fault[] = [
  ...[301, 302, 303, 307, 308].flatMap((status) =>
    either(`${status}`, 'unknown', 'fails', elsewhere(status, false)),
  ),
  ...either('302 to another origin', 'unknown', 'fails', elsewhere(302, true)),
  ...either('307 to another origin', 'unknown', 'fails', elsewhere(307, true)),
];

/** Every fault of the plan that a plain connection on loopback can show. */
export const faults: readonly Fault[] = [
  ...transportFaults,
  ...refused,
  ...patience,
  ...doubtful,
  ...redirects,
];
