import { findProxy } from '../../../transports/proxy.ts';
import { describeErrorShape } from '../error-shape.ts';
import type { Evidence } from '../evidence.ts';
import { reads, type Check } from './check.ts';
import {
  confirmed,
  contradicted,
  finding,
  unknown,
  type Suggestion,
  type Verdict,
} from './verdict.ts';

const proxyHeaders = ['server', 'via', 'x-cache', 'x-served-by', 'x-powered-by'];

export const connectionChecks: readonly Check[] = [
  // Checks Assumption A7 of docs/proof.md, that the platform's rejections have an Error body.
  reads(50, 'Do errors have the documented Error body?', checkErrors),
  // Checks Assumption A5 of docs/proof.md, that a response belongs to its request.
  reads(66, 'What is between this machine and the platform?', checkConnection),
];

async function checkErrors(seen: Evidence): Promise<Verdict> {
  // Skips JSON that cannot be parsed, because a truncated body does not show the form of errors.
  const errors = (await seen.errors()).filter(
    ({ status = 0, headers, body }) =>
      status >= 400 &&
      status < 500 &&
      (body !== undefined || !headers.get('content-type')?.includes('json')),
  );
  if (errors.length === 0) return unknown('No request was rejected.');
  const { isDocumented, description, isErrorBody } = describeErrorShape(errors);
  if (isDocumented) return confirmed('Yes.', `${errors.length} errors.`);
  const fact = `No, they have ${description}.`;
  if (isErrorBody === undefined) {
    return contradicted(
      fact,
      'No function can tell them from the page of a proxy.',
      'a rejected payment counts as unknown, and its createOnce stays in doubt until the search has been made.',
    );
  }
  const reason = `errors have ${description}`;
  const option: Suggestion = { name: 'isErrorBody', value: isErrorBody, reason };
  return { ...contradicted(fact, `${errors.length} errors.`), option };
}

async function checkConnection(seen: Evidence): Promise<Verdict> {
  const { headers = new Headers() } = (await seen.transfers()).readings[0] ?? {};
  const { baseUrl } = seen.platform;
  const proxy = findProxy(baseUrl);
  const facts = [
    baseUrl.startsWith('https:') ? 'TLS' : 'no TLS',
    proxy === undefined
      ? 'no proxy of the environment'
      : `the proxy ${proxy.address} of ${proxy.variable}`,
    ...proxyHeaders
      .filter((name) => headers.has(name))
      .map((name) => `${name}: ${headers.get(name)}`),
  ];
  return finding(`${facts.join(', ')}.`);
}
