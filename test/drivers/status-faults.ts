import { errorBody, page } from './bodies.ts';
import { row, withAndWithoutEffect, transportFaults, type Fault } from './faults.ts';
import type { Exchange } from './server.ts';

const html = 'content-type: text/html';

/** Responds with a status and the JSON body of an API. */
const sendStatus =
  (status: number, ...headers: string[]) =>
  (exchange: Exchange): void => {
    exchange.reply(status, errorBody, ...headers);
  };
/** Responds with a status and the page of a proxy. */
const sendPage =
  (status: number, ...headers: string[]) =>
  (exchange: Exchange): void => {
    exchange.reply(status, page, html, ...headers);
  };

/** Rejections that will not change. */
const rejections: Fault[] = [
  ...[400, 403, 404, 405, 409, 410, 413, 415, 421, 422, 428, 431, 451, 501, 505].map((status) =>
    row(`${status}`, 'rejected', 'fails', sendStatus(status)),
  ),
  row('413 as a page', 'rejected', 'fails', sendPage(413)),
  row('413 before the whole request was read', 'rejected', 'fails', (exchange) => {
    exchange.reply(413, errorBody, 'connection: close');
    exchange.sendFin();
  }),
  row('400 that repeats the credential', 'rejected', 'fails', (exchange) => {
    const sent = exchange.headers.get('authorization') ?? '';
    const echoed = { error: `bad ${sent}`, code: sent.slice(7), details: { sent, [sent]: [sent] } };
    exchange.reply(400, JSON.stringify(echoed), `x-request-id: ${sent}`, `x-echo: ${sent}`);
  }),
  row('401', 'rejected', 'fails', sendStatus(401)),
];

/** A time in the future as an HTTP date. */
const httpDateIn = (seconds: number): string =>
  new Date(Date.now() + seconds * 1_000).toUTCString();

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
const retryAfter = (value: string) => (): string => `retry-after: ${value}`;

/** Rejections that ask the client to wait; the number is the wait in milliseconds. */
const throttles: Fault[] = [
  row('425', 'resent', 'resent', sendStatus(425)),
  throttled('without Retry-After', 'resent', 0),
  throttled('Retry-After 0', 'resent', 0, retryAfter('0')),
  throttled('Retry-After 0.1', 'resent', 100, retryAfter('0.1')),
  throttled(
    'Retry-After: a date that is now',
    'resent',
    0,
    () => `retry-after: ${httpDateIn(0)}`,
    () => `date: ${httpDateIn(0)}`,
  ),
  throttled('Retry-After: a date gone by', 'resent', 0, () => `retry-after: ${httpDateIn(-90)}`),
  throttled(
    'Retry-After: a date by a clock that is a day ahead',
    'resent',
    0,
    () => `retry-after: ${httpDateIn(86_400)}`,
    () => `date: ${httpDateIn(86_400)}`,
  ),
  throttled('Retry-After: -1', 'resent', 0, retryAfter('-1')),
  throttled('Retry-After: 1e10', 'resent', 0, retryAfter('1e10')),
  throttled('Retry-After: 99999999999', 'resent', 0, retryAfter('99999999999')),
  throttled('Retry-After: soon', 'resent', 0, retryAfter('soon')),
  throttled('Retry-After: 3600', 'rejected', 60_000, retryAfter('3600')),
  throttled(
    'Retry-After: the year 9999',
    'rejected',
    60_000,
    retryAfter('Fri, 31 Dec 9999 23:59:59 GMT'),
  ),
  row('429 as a page', 'resent', 'resent', sendPage(429)),
];

/** Responses of servers and proxies that may have forwarded the request. */
const unknownOutcomes: Fault[] = [
  ...[408, 499].flatMap((status) =>
    withAndWithoutEffect(
      `${status}`,
      'unknown',
      status === 408 ? 'resent' : 'fails',
      sendStatus(status),
    ),
  ),
  ...[500, 502, 503, 504, 520, 522].flatMap((status) =>
    withAndWithoutEffect(`${status}`, 'unknown', 'resent', sendStatus(status)),
  ),
  ...[500, 502, 503, 504].flatMap((status) =>
    withAndWithoutEffect(`${status} as a page`, 'unknown', 'resent', sendPage(status)),
  ),
  // A proxy may have sent it instead of a success.
  ...[400, 401, 403, 404, 405, 409, 410, 422, 501, 505].flatMap((status) =>
    withAndWithoutEffect(`${status} as a page`, 'unknown', 'fails', sendPage(status)),
  ),
  ...withAndWithoutEffect(
    '503 with Retry-After',
    'unknown',
    'resent',
    sendStatus(503, 'retry-after: 0'),
  ),
  ...withAndWithoutEffect('599', 'unknown', 'resent', sendStatus(599)),
];

const redirectTo =
  (status: number, isOtherOrigin: boolean) =>
  (exchange: Exchange): void => {
    const target = isOtherOrigin ? exchange.forbiddenUrl() : exchange.forbiddenPath();
    exchange.reply(status, page, html, `location: ${target}`);
  };
const redirects: Fault[] = [
  ...[301, 302, 303, 307, 308].flatMap((status) =>
    withAndWithoutEffect(`${status}`, 'unknown', 'fails', redirectTo(status, false)),
  ),
  ...withAndWithoutEffect('302 to another origin', 'unknown', 'fails', redirectTo(302, true)),
  ...withAndWithoutEffect('307 to another origin', 'unknown', 'fails', redirectTo(307, true)),
];

/** Every fault that a plain connection on loopback can have. */
export const faults: readonly Fault[] = [
  ...transportFaults,
  ...rejections,
  ...throttles,
  ...unknownOutcomes,
  ...redirects,
];
