import { PaymentsClient, type ClientOptions } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';
import { page, transfer } from '../support/values.ts';
import { invoice as input } from '../support/values.ts';

/** A platform that filters by `account`, and whose list is empty when the query has `accountId`. */
function setup(options: ClientOptions) {
  const sandbox = seedDemo(new Sandbox());
  const queries: string[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const account = url.searchParams.get('account');
    const hides = url.searchParams.has('accountId');
    if (request.method === 'GET') queries.push(url.search.slice(1));
    if (account !== null) {
      url.searchParams.delete('account');
      url.searchParams.set('accountId', account);
    }
    const response = await sandbox.fetch(
      request.method === 'GET' ? new Request(url, request) : request,
    );
    if (!hides || !url.pathname.endsWith('/transfers')) return response;
    return Response.json({ data: [], hasMore: false, nextCursor: null }, response);
  };
  const journal = { ...memoryJournal(), searchFirst: 'always' as const };
  const { clientOptions } = sandbox;
  const payments = new PaymentsClient({ ...clientOptions, fetch, journal, ...options });
  const made = () =>
    sandbox.transfers.list().filter(({ description }) => description === input.description);
  const lose = async () =>
    journal.swap(input.description, await journal.read(input.description), undefined);
  return { payments, queries, made, lose };
}

test.each([
  ['without a filter (transfersFilter: false)', false, 'limit=100'],
  ['with another filter (transfersFilter: account)', 'account', 'limit=100&account=acc_000001'],
] as const)('a search %s finds the payment without the filter accountId', async (...row) => {
  const [, transfersFilter, query] = row;
  const { payments, queries, made, lose } = setup({ platform: { transfersFilter } });
  const { id } = await payments.transfers.createOnce(input);
  await lose();
  expect(await payments.transfers.createOnce(input)).toMatchObject({
    id,
    description: 'invoice 4711',
  });
  expect(await payments.transfers.reconcile(input)).toMatchObject({ result: 'found' });
  const { totals } = await payments.transfers.reconcileAll([input], { unexpected: true });
  expect(totals).toMatchObject({ pending: { count: 1 }, missing: { count: 0 } });
  expect(made()).toHaveLength(1);
  expect(new Set(queries)).toContain(query);
  expect(queries.some((each) => each.includes('accountId'))).toBe(false);
});

test('transfers.list sends accountId under the name that transfersFilter sets', async () => {
  const { payments, queries } = setup({ platform: { transfersFilter: 'account' } });
  const page = await payments.transfers.list({ accountId: 'acc_000001', limit: 5 });
  expect(page.data.length).toBeGreaterThan(0);
  expect(queries).toEqual(['limit=5&account=acc_000001']);
});

test('reconcileAll with `transfersFilter: false` reports no unexpected transfers of other accounts', async () => {
  const sandbox = seedDemo(new Sandbox());
  const payments = new PaymentsClient(sandbox.clientOptions);
  sandbox.transfers.create({
    ...input,
    sourceAccountId: 'acc_000002',
    description: 'of another account',
  });
  const { id } = sandbox.transfers.create({ ...input, description: 'in no books' });
  const whole = payments.withOptions({ platform: { transfersFilter: false } });
  for (const client of [payments, whole]) {
    const { open } = await client.transfers.reconcileAll([input], { unexpected: true });
    const sources = open
      .filter(({ result }) => result === 'unexpected')
      .map(({ transfer }) => transfer?.sourceAccountId);
    expect(new Set(sources)).toEqual(new Set(['acc_000001']));
    expect(open.map(({ transfer }) => transfer?.id)).toContain(id);
  }
});

test('the client warns once if a list ignores the filter', async () => {
  vi.resetModules();
  const sdk = await import('payments-platform-sdk');
  const print = vi.spyOn(console, 'warn').mockReturnValue();
  const others = { sourceAccountId: 'acc_8', destinationAccountId: 'acc_9' };
  const payments = new sdk.PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey: 'sk_1',
    jwt: null,
    fetch: () => Promise.resolve(Response.json(page([{ ...transfer, ...others }]))),
  });
  for (let time = 1; time <= 2; time += 1) {
    expect((await payments.transfers.reconcile(input)).result).toBe('not_found');
  }
  expect(print.mock.calls.flat().map(String)).toEqual([expect.stringContaining('transfersFilter')]);
});
