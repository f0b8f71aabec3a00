import { defaultTimeout } from '../../../calls/options.ts';
import { requestIdHeaders } from '../../../errors/failed-response.ts';
import { findProxy } from '../../../transports/proxy.ts';
import type { Evidence } from '../evidence.ts';
import type { Reading } from '../platform.ts';
import type { TlsFacts } from '../tls.ts';
import { reads, transfers, type Check } from './check.ts';
import { confirmed, contradicted, count, finding, formatMs, unknown } from './verdict.ts';

const noAddress = `0x${'0'.repeat(40)}`;
const proxyHeaders = ['server', 'via', 'x-cache', 'x-served-by', 'x-powered-by'];

/** Returns all responses that the probe has received so far, after reading every list once. */
async function allReadings(seen: Evidence): Promise<readonly Reading[]> {
  await seen.lists();
  return seen.platform.readings;
}

const readsRoot = (row: number, question: string, path: string): Check =>
  reads(
    row,
    question,
    ({ platform }) => platform.readRoot(path, { address: noAddress }),
    ({ body, status, problem }) => {
      if (Array.isArray(body))
        return confirmed('Yes.', `${status} and ${count(body.length, 'items')}.`);
      if (status === undefined || status >= 500) return unknown(`No response: ${problem}.`);
      return contradicted(`${status}: ${problem ?? 'no array'}.`);
    },
    'jwt',
  );

export const connectionChecks: readonly Check[] = [
  readsRoot(18, 'Does GET /transactions need an address only, and read its body?', '/transactions'),
  readsRoot(44, 'Is the JWT accepted at the root endpoints?', '/instructions/all'),
  reads(52, 'Which rate limits do responses show?', allReadings, (readings) => {
    const names = readings
      .flatMap(({ headers }) => [...headers.keys()])
      .filter((name) => /rate-?limit/.test(name));
    const distinct = [...new Set(names)].toSorted();
    const limited = readings.filter(({ status }) => status === 429).length;
    const details = `${limited === 0 ? 'No 429' : `${count(limited, 'responses')} with 429`} at 4 requests a second.`;
    if (distinct.length === 0) return finding('No header shows any.', details);
    const last = readings.findLast(({ headers }) => distinct.some((name) => headers.has(name)));
    const values = distinct.map((name) => `${name}: ${last?.headers.get(name) ?? ''}`);
    return finding(`${distinct.join(', ')}.`, `${values.join(', ')}. ${details}`);
  }),
  reads(53, 'Which header has the id of a request?', transfers, ({ readings }) => {
    const names = [...(readings[0]?.headers.keys() ?? [])];
    const requestIdHeader = requestIdHeaders.find((name) => names.includes(name));
    if (requestIdHeader !== undefined) return confirmed(`${requestIdHeader}.`);
    const likely = names.filter((name) =>
      /(request|correlation|trace|transaction)-?id|traceparent/.test(name),
    );
    if (likely.length === 0)
      return finding('No header looks like one.', 'error.requestId is undefined.');
    return contradicted(
      `${likely.join(', ')}.`,
      undefined,
      `error.requestId is undefined: log error.headers['${likely[0]}'].`,
    );
  }),
  reads(58, 'Does the platform respond without redirects?', allReadings, (readings, seen) => {
    const redirect = readings.find(({ status = 0 }) => status >= 300 && status < 400);
    if (redirect === undefined) return confirmed('No redirect came.');
    const { baseUrl } = seen.platform;
    const location = redirect.headers.get('location') ?? '';
    const target = URL.canParse(location, baseUrl) ? new URL(location, baseUrl) : undefined;
    // Leaves out the query of the redirect's target, because the query may contain a token.
    const where = target === undefined ? 'nowhere' : `${target.origin}${target.pathname}`;
    return contradicted(
      `GET ${redirect.path} redirects to ${where}.`,
      `Status ${redirect.status}.`,
      'set baseUrl to where the platform redirects.',
    );
  }),
  reads(66, 'How long do responses take?', allReadings, (readings) => {
    const times = readings
      .filter(({ status }) => status !== undefined)
      .map(({ durationMs }) => durationMs)
      .toSorted((one, other) => one - other);
    const unanswered = readings.length - times.length;
    const slowest = times.at(-1) ?? 0;
    const lost = unanswered === 0 ? '' : ` ${count(unanswered, 'requests')} had no response.`;
    const details = `${formatMs(times[Math.floor(times.length / 2)] ?? 0)} is the median, ${formatMs(slowest)} the maximum.${lost}`;
    if (slowest <= defaultTimeout / 3)
      return finding('Less than a third of the default timeout.', details);
    // Suggests three times the slowest response, rounded up to 10 seconds.
    const value = Math.ceil((slowest * 3) / 10_000) * 10_000;
    const reason = `a response took ${formatMs(slowest)}`;
    return {
      ...finding('More than a third of the default timeout.', details),
      option: { name: 'timeout', value, reason },
    };
  }),
  // Checks Assumption A5 of docs/proof.md, that a response belongs to its request.
  reads(66, 'What is between this machine and the platform?', transfers, async (list, seen) => {
    const { headers = new Headers() } = list.readings[0] ?? {};
    const { baseUrl } = seen.platform;
    const proxy = findProxy(baseUrl);
    const isTls = baseUrl.startsWith('https:');
    // Skips TLS behind a proxy, because a direct connection would fail or show another server.
    const isDirect = isTls && proxy === undefined;
    const tls: TlsFacts = isDirect ? await seen.readTls(baseUrl) : { protocol: 'TLS' };
    const facts = [
      isTls ? tls.protocol : 'no TLS',
      proxy === undefined
        ? 'no proxy of the environment'
        : `the proxy ${proxy.address} of ${proxy.variable}`,
      ...proxyHeaders
        .filter((name) => headers.has(name))
        .map((name) => `${name}: ${headers.get(name)}`),
    ];
    const { certificate } = tls;
    const details = certificate === undefined ? undefined : `${certificate}.`;
    return finding(`${facts.join(', ')}.`, details);
  }),
];
