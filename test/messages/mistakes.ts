import {
  PaymentsClient,
  sumAmounts,
  type ClientOptions,
  type RequestOptions,
  type TransferCreateInput,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { memoryJournal, sqliteJournal } from 'payments-platform-sdk/journals';
import { onTestFinished, vi } from 'vitest';
import { apiKey, clientAt, clientOf, jwt, respond } from '../support/clients.ts';
import { closedPort } from '../support/closed-port.ts';
import { seededSandbox } from '../support/platform.ts';
import { rawServer } from '../support/raw-server.ts';
import { address, html, newInstruction, newTransfer, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** A common mistake: its name, and the code that makes it. */
export type Mistake = readonly [what: string, make: () => unknown];

const baseUrl = 'https://api.example.com/v0';

/** Calls that a compiler would reject. */
const made = (options: object): PaymentsClient => new PaymentsClient(options as ClientOptions);
const sandboxClient = (): PaymentsClient => new PaymentsClient(seededSandbox().clientOptions);
const pay = (change: object, options?: RequestOptions): PromiseLike<unknown> =>
  sandboxClient().transfers.create({ ...newTransfer, ...change } as TransferCreateInput, options);
const get = (id: string): PromiseLike<unknown> => sandboxClient().transfers.get(id as 'txfr_');
const expired = `${btoa('{"alg":"none"}')}.${btoa('{"exp":1760000000}')}.c2ln`;

/** A client that gets an Error body. */
const rejectedClient = (status: number, code: string, error: string): PaymentsClient =>
  clientWithResponse(status, { error, code, details: null });
const clientWithResponse = (status: number, body: unknown, headers?: Record<string, string>) =>
  clientOf(() => respond(status, body, headers), { maxRetries: 0 }).payments;
const page = { 'content-type': 'text/html' };

/** A client that gets no response within the time of one attempt. */
function silent(run: (payments: PaymentsClient) => Promise<unknown>): Promise<unknown> {
  const clock = new VirtualClock();
  const options = { clock, maxRetries: 0, timeout: 30_000 };
  const { payments } = clientOf(() => new Promise(() => undefined), options);
  return clock.runTimersDuring(
    run(payments).catch((error: unknown) => Promise.reject(error as Error)),
  );
}

/** What is printed. */
async function printed(act: () => unknown): Promise<never> {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  await act();
  const texts = warn.mock.calls.map(([text]) => String(text));
  warn.mockRestore();
  throw Object.assign(new Error(texts.join('\n')), { name: 'Printed' });
}

async function sandboxAt(change: (baseUrl: string) => string): Promise<unknown> {
  const server = await listen(new Sandbox());
  onTestFinished(() => server.close());
  const { apiKey, baseUrl } = server.clientOptions;
  return made({ apiKey, baseUrl: change(baseUrl), maxRetries: 0 }).transfers.list();
}

const configuration: readonly Mistake[] = [
  ['nothing is configured', () => made({})],
  ['no base URL', () => made({ apiKey })],
  ['no key', () => made({ baseUrl })],
  ['a whole Authorization header for a key', () => made({ baseUrl, apiKey: `Bearer ${apiKey}` })],
  ['the JWT for the key', () => made({ baseUrl, apiKey: jwt })],
  ['the key for the JWT', () => made({ baseUrl, jwt: apiKey })],
  [
    'a key in the environment that was never filled in',
    () => {
      vi.stubEnv('PAYMENTS_API_KEY', '<your key>');
      return made({ baseUrl });
    },
  ],
  ['a base URL without /v0', () => made({ baseUrl: 'https://api.example.com', apiKey })],
  ['a base URL without https://', () => made({ baseUrl: 'api.example.com/v0', apiKey })],
  ['http to a host', () => made({ baseUrl: 'http://payments.internal:8080/v0', apiKey })],
  ['a misspelt option', () => made({ baseUrl, apikey: apiKey })],
  ['two options that do not fit', () => made({ baseUrl, apiKey, retries: 3, timeout: '30s' })],
  ['seconds for milliseconds', () => printed(() => made({ baseUrl, apiKey, timeout: 45 }))],
  ['a client for options', () => new PaymentsClient(made({ baseUrl, apiKey }) as object)],
  ['no JWT for the root API', () => made({ baseUrl, apiKey }).instructions.list({ address })],
];

const inputs: readonly Mistake[] = [
  ['a number for an amount', () => pay({ amount: 12.5 })],
  ['a comma in an amount', () => pay({ amount: '1,50' })],
  ['an exponent in an amount', () => pay({ amount: '1e3' })],
  ['a negative amount', () => pay({ amount: '-5.00' })],
  ['an amount of zero', () => pay({ amount: '0.00' })],
  ['too many decimals', () => pay({ amount: `0.${'0'.repeat(20)}1` })],
  ['a misspelt field', () => pay({ curency: 'USDC' })],
  ['no destination', () => pay({ destinationAccountId: undefined })],
  ['two destinations', () => pay({ counterpartyId: 'cpty_1' })],
  ["a Transfer's id where an Account's belongs", () => pay({ sourceAccountId: 'txfr_1' })],
  ['a UUID for an id', () => get('3f2504e0-4f89-41d3-9a0c-0305e82c3301')],
  ['an empty id', () => get('')],
  ['an id with a slash', () => get('txfr_1/../2')],
  ['no id', () => get(undefined as never)],
  ['lost digits', () => sandboxClient().instructions.build({ ...newInstruction, salt: 2 ** 60 })],
  ['a date, no time', () => sandboxClient().transactions.list({ address, from: '31.01.2026' })],
  ['a limit above the highest', () => sandboxClient().transfers.list({ limit: 1_000 })],
  [
    'toArray without a bound',
    () =>
      sandboxClient()
        .transfers.list()
        .toArray({} as never),
  ],
  [
    'createOnce without a journal',
    () => sandboxClient().transfers.createOnce({ ...newTransfer, description: 'invoice 1' }),
  ],
  [
    'createOnce without a reference',
    () =>
      sandboxClient()
        .withOptions({ journal: memoryJournal() })
        .transfers.createOnce(newTransfer as never),
  ],
  ['a bare webhook', () => sandboxClient().settings.update({ webhookUrl: 'example.com/hooks' })],
  ['auto-earn without a vault', () => sandboxClient().settings.update({ autoEarnEnabled: true })],
  ['three mistakes', () => pay({ amount: 5, curency: 'USDC', destinationAccountId: undefined })],
];

const responses: readonly Mistake[] = [
  ['a wrong key', () => clientAtSandbox({ apiKey: 'sk_other' }).transfers.list()],
  [
    'a wrong key in the environment',
    () => {
      vi.stubEnv('PAYMENTS_API_KEY', 'sk_other');
      return clientAtSandbox({ apiKey: undefined }).transfers.list();
    },
  ],
  ['an expired JWT', () => clientAtSandbox({ jwt: expired }).instructions.list({ address })],
  ['403', () => rejectedClient(403, 'forbidden', 'Not your Account.').accounts.get('acc_1')],
  ['a Transfer that does not exist', () => get('txfr_999999')],
  ['a wrong base path', () => sandboxAt((url) => url.replace('/v0', '/api/v0'))],
  ['a wrong host with a page', () => clientWithResponse(404, html, page).transfers.get('txfr_1')],
  [
    '409',
    () => rejectedClient(409, 'conflict', 'Changed.').accounts.update('acc_1', { name: 'x' }),
  ],
  [
    'more money than there is',
    () =>
      pay({ sourceAccountId: 'acc_000001', destinationAccountId: 'acc_000002', amount: '5000' }),
  ],
  [
    '429',
    () =>
      clientWithResponse(
        429,
        { error: 'Too many requests.', code: 'rate_limited', details: null },
        { 'retry-after': '7' },
      ).transfers.list(),
  ],
  ['a 405, to a payment', () => clientWithResponse(405, html, page).transfers.create(newTransfer)],
  ['a page with 200', () => clientWithResponse(200, html, page).transfers.list()],
  ['nobody listens', () => clientAt(closedPort, { maxRetries: 0 }).transfers.create(newTransfer)],
  [
    'no such host',
    () =>
      made({ baseUrl: 'https://api.example.invalid/v0', apiKey, maxRetries: 0 }).transfers.list(),
  ],
  ['https to a port without TLS', () => sandboxAt((url) => url.replace('http:', 'https:'))],
  ['no answer to a read', () => silent(({ transfers }) => transfers.get('txfr_1'))],
  ['no answer to a payment', () => silent(({ transfers }) => transfers.create(newTransfer))],
  ['an aborted call', () => sandboxClient().transfers.list({}, { signal: AbortSignal.abort() })],
];

/** A server of the platform that breaks each connection. */
async function breaking(): Promise<PaymentsClient> {
  const server = await rawServer(({ reply }) => {
    reply('');
  });
  return clientAt(server);
}

const never = <T>(): Promise<T> => new Promise(() => undefined);
const stalled = (): Response =>
  new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1)) }));

/** Pays with a client that waits, on a clock that runs. */
function payOnClock(response: () => Response | Promise<Response>, options: ClientOptions) {
  const clock = new VirtualClock();
  const { payments } = clientOf(response, { clock, timeout: 30_000, ...options });
  return clock.runTimersDuring(
    payments.transfers
      .create(newTransfer)
      .catch((error: unknown) => Promise.reject(error as Error)),
  );
}

const create = (payments: PaymentsClient) => payments.transfers.create(newTransfer);
const refused = { error: 'No.', code: 'refused', details: null };
const aborted = (reason: unknown) =>
  sandboxClient().transfers.list({}, { signal: AbortSignal.abort(reason) });
const listPages = (nextCursor: string | null) =>
  clientWithResponse(200, { data: [transfer], hasMore: true, nextCursor })
    .transfers.list()
    .toArray({ max: 5 });

/** Failures that are no mistake of the program. */
const failures: readonly Mistake[] = [
  [
    'a credential function that fails',
    () => create(made({ baseUrl, apiKey: () => Promise.reject(new Error('vault')) })),
  ],
  ['a credential function that never returns', () => payOnClock(stalled, { apiKey: never })],
  ['a redirect of a payment', () => create(clientWithResponse(302, undefined))],
  ['400', () => create(clientWithResponse(400, refused, { 'x-request-id': 'req_1' }))],
  ['a page with 401, to a payment', () => create(clientWithResponse(401, html, page))],
  ['a page with 403', () => clientWithResponse(403, html, page).transfers.get('txfr_1')],
  ['404 to a deletion', () => clientWithResponse(404, refused).counterparties.delete('cpty_1')],
  [
    '429 for an hour',
    () => create(clientOf(() => respond(429, refused, { 'retry-after': '3600' })).payments),
  ],
  ['429 without Retry-After', () => create(clientWithResponse(429, refused))],
  ['502 to a payment', () => create(clientWithResponse(502, html, page))],
  [
    '503 to three attempts of a read',
    () => {
      const clock = new VirtualClock();
      const { payments } = clientOf(() => respond(503, undefined), { clock });
      return clock.runTimersDuring(
        payments.transfers.get('txfr_1').catch((error: unknown) => Promise.reject(error as Error)),
      );
    },
  ],
  ['a broken connection', async () => (await breaking()).counterparties.delete('cpty_1')],
  ['a response that stalls', () => payOnClock(stalled, { maxRetries: 0 })],
  ['no answer within totalTimeout', () => payOnClock(never, { totalTimeout: 10_000 })],
  [
    'an abort of a change',
    async () => {
      const { payments, requests } = clientOf(never);
      const controller = new AbortController();
      const { signal } = controller;
      const call = payments.settings.update({ defaultChain: 'base' }, { signal });
      await vi.waitFor(() => {
        if (requests.length === 0) throw new Error('nothing was sent');
      });
      controller.abort();
      return call;
    },
  ],
  ['a signal that timed out', () => aborted(new DOMException('sk_live_1', 'TimeoutError'))],
  ['a signal with a secret reason', () => aborted(new Error('sk_live_1'))],
  ['a page with 201, to a payment', () => create(clientWithResponse(201, html))],
  [
    'a number for an amount, in a response',
    () => clientWithResponse(200, { ...transfer, amount: 5 }).transfers.get('txfr_1'),
  ],
  [
    'an object for a list',
    () => clientWithResponse(200, { instructions: [] }).instructions.list({ address }),
  ],
  ['a page without the next cursor', () => listPages(null)],
  ['a cursor that comes again', () => listPages('c1')],
  [
    'a transfer that failed',
    () => clientWithResponse(200, { ...transfer, status: 'failed' }).transfers.waitFor('txfr_1'),
  ],
];

const use: readonly Mistake[] = [
  ['a journal of another kind', () => made({ baseUrl, apiKey, journal: new Map() })],
  [
    'a reference with an umlaut',
    () =>
      made({ baseUrl, apiKey, journal: memoryJournal() }).transfers.createOnce({
        ...newTransfer,
        description: 'Müller Rechnung 7',
      }),
  ],
  ['an idempotency key', () => pay({}, { idempotencyKey: 'k' } as RequestOptions)],
  ['a page number', () => sandboxClient().transfers.list({ page: 2 } as object)],
  ['a filter by time', () => sandboxClient().transfers.list({ createdAfter: '2026' } as object)],
  ['a variable id', () => sandboxClient().accounts.get('3f2504e0-4f89-41d3-9a0c-0305e82c3301')],
  ['a missing folder', () => sqliteJournal('/var/nowhere/payments.db')],
  ['a sum of numbers', () => sumAmounts(['1.10', 2.2 as unknown as string])],
];

function clientAtSandbox(options: ClientOptions): PaymentsClient {
  return new PaymentsClient({ ...seededSandbox().clientOptions, ...options });
}

export const mistakes: readonly Mistake[] = [
  ...configuration,
  ...inputs,
  ...responses,
  ...failures,
  ...use,
];
