import { expect, test } from 'vitest';
import {
  NotFoundError,
  ValidationError,
  type PaymentsClient,
  type RequestOptions,
} from 'payments-platform-sdk';
import { clientOf, failureOf } from '../support/clients.ts';
import { address, newInstruction, newTransfer } from '../support/values.ts';
import { apiKey, jwt, leaksOf } from './scan.ts';

const both = `${apiKey} ${jwt}`;
const since = '2026-01-01T00:00:00Z';

/**
 * Arguments with a value from the wrong variable, which the types would reject. Each call is a
 * ValidationError, and nothing is sent.
 */
const wrong: readonly (readonly [string, (payments: PaymentsClient) => PromiseLike<unknown>])[] = [
  ['an id', ({ transfers }) => transfers.get(both as 'txfr_')],
  ['the end of an id', ({ accounts }) => accounts.get(`acc_${both}`)],
  ['an id that is an array', ({ ibans }) => ibans.delete([apiKey] as never)],
  ['an amount', ({ transfers }) => transfers.create({ ...newTransfer, amount: apiKey })],
  ['a sourceAccountId', ({ transfers }) => transfers.create({ ...newTransfer, ...wrongAccount })],
  ['an unknown field', ({ transfers }) => transfers.create(named(apiKey) as never)],
  ['an unknown field named after the JWT', ({ entities }) => entities.create(named(jwt) as never)],
  ['an input that is a string', ({ entities }) => entities.create(apiKey as never)],
  ['an unknown setting', ({ settings }) => settings.update({ [apiKey]: true } as never)],
  ['the setting autoEarnVault', ({ settings }) => settings.update({ autoEarnVault: apiKey })],
  ['metadata that JSON would lose', ({ accounts }) => accounts.update('acc_1', lost(apiKey))],
  ['nested metadata', ({ accounts }) => accounts.update('acc_1', lost('a', { [jwt]: Number.NaN }))],
  ['a cursor', ({ transfers }) => transfers.list({ cursor: [apiKey] as never })],
  ['a filter', ({ transfers }) => transfers.list({ accountId: apiKey as 'acc_' })],
  ['an unknown filter', ({ transfers }) => transfers.list({ [apiKey]: jwt } as object)],
  ['an address', ({ instructions }) => instructions.list({ address: apiKey as '0x' })],
  ['a field of a GET', ({ transactions }) => transactions.list({ address, ...named(apiKey) })],
  ['from of transactions.list', ({ transactions }) => transactions.list({ address, from: apiKey })],
  [
    'an action',
    ({ instructions }) =>
      instructions.build({
        ...newInstruction,
        actionArguments: { refuelERC20: { [apiKey]: jwt } as never },
      }),
  ],
  [
    'an action that JSON would lose',
    ({ instructions }) =>
      instructions.build({
        ...newInstruction,
        actionArguments: { a: { [apiKey]: () => jwt } },
      }),
  ],
  ['max of toArray', ({ transfers }) => transfers.list().toArray({ max: apiKey as never })],
  ['a reconciled field', ({ transfers }) => transfers.reconcile(named(apiKey) as never, { since })],
  ['since of reconcile', ({ transfers }) => transfers.reconcile(newTransfer, { since: apiKey })],
  [
    'the option clockSkew of reconcile',
    ({ transfers }) => transfers.reconcile(newTransfer, { since, clockSkew: apiKey as never }),
  ],
  ['waitFor timeout', ({ transfers }) => transfers.waitFor('txfr_1', { timeout: apiKey as never })],
  ['an unknown option of waitFor', ({ transfers }) => transfers.waitFor('txfr_1', named(apiKey))],
  ['a path without a slash', (payments) => ask(payments, { path: apiKey })],
  ['a path with a space', (payments) => ask(payments, { path: `/${both}` })],
  ['a path with a query', (payments) => ask(payments, { path: `/echo?key=${apiKey}` })],
  ['the field method of payments.request', (payments) => ask(payments, { method: apiKey })],
  ['the field api of payments.request', (payments) => ask(payments, { api: apiKey })],
  ['an unknown field of payments.request', (payments) => ask(payments, { [apiKey]: jwt })],
  ['the query of payments.request', (payments) => ask(payments, { query: apiKey })],
  ['the query of payments.request', (payments) => ask(payments, { query: { [apiKey]: [[jwt]] } })],
  ['the body of payments.request', (payments) => ask(payments, { body: { [apiKey]: () => jwt } })],
  ['the schema of payments.request', (payments) => ask(payments, { schema: apiKey })],
  ['the only argument of payments.request', (payments) => payments.request(apiKey as never)],
  ['an unknown option', optioned({ [apiKey]: jwt })],
  ['options that are a string', optioned(apiKey)],
  ['a header authorization', optioned({ headers: { authorization: `Bearer ${apiKey}` } })],
  ['the name of a header', optioned({ headers: { [apiKey]: 'x' } })],
  ['a whole header as its name', optioned({ headers: { [`x: Bearer ${both}`]: 'x' } })],
  ['a header with a line break', optioned({ headers: { 'x-key': `${apiKey}\n` } })],
  ['a parameter in the option query', optioned({ query: { [apiKey]: { jwt } } })],
  ['a field of body', optioned({ body: { [apiKey]: Number.NaN, deep: { [jwt]: Symbol(jwt) } } })],
  ['the options timeout and totalTimeout', optioned({ timeout: apiKey, totalTimeout: jwt })],
  ['the option signal', optioned({ signal: apiKey })],
];

test.for(wrong)(
  'a ValidationError shows no secret that the caller gave as %s',
  async ([, call]) => {
    const { payments, requests } = clientOf(() => Response.json({}), { apiKey, jwt });
    const error = await failureOf(
      attempted(() => call(payments)),
      ValidationError,
    );
    expect(requests).toEqual([]);
    expect(leaksOf(error)).toEqual([]);
  },
);

test.for([
  ['the API key as it is', encodeURI(apiKey), '/echo/[redacted]/end'],
  ['the encoded API key', encodeURIComponent(apiKey), '[redacted]'],
  [
    'the API key encoded in lower case',
    encodeURIComponent(apiKey).replaceAll(/%../g, (hex) => hex.toLowerCase()),
    '[redacted]',
  ],
  ['the JWT', jwt, '/echo/[redacted]/end'],
])('the error of payments.request redacts a secret in the path: %s', async ([, segment, path]) => {
  const { payments } = clientOf(() => Response.json({ error: 'No.' }, { status: 404 }), {
    apiKey,
    jwt,
  });
  for (const api of ['versioned', 'root'] as const) {
    const call = payments.request({ method: 'GET', path: `/echo/${segment}/end`, api });
    const error = await failureOf(call, NotFoundError);
    expect(error.path).toBe(path);
    expect(leaksOf(error)).toEqual([]);
  }
});

const wrongAccount = { sourceAccountId: apiKey as 'acc_' };

function named(field: string): object {
  return { ...newTransfer, email: 'ada@example.com', timeout: 'soon', [field]: 1 };
}

function lost(field: string, value: unknown = () => apiKey): { metadata: Record<string, unknown> } {
  return { metadata: { [field]: value } };
}

function ask(payments: PaymentsClient, fields: object): PromiseLike<unknown> {
  return payments.request({ method: 'GET', path: '/echo', api: 'versioned', ...fields } as never);
}

function optioned(options: unknown): (payments: PaymentsClient) => PromiseLike<unknown> {
  return (payments) => payments.accounts.update('acc_1', { name: 'x' }, options as RequestOptions);
}

/** An error that a method throws counts as much as a rejection. */
async function attempted(call: () => PromiseLike<unknown>): Promise<unknown> {
  return await call();
}
