import { PaymentInDoubtError, PaymentsClient, PaymentsError } from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { defaultGracePeriod, defaultTotalTimeout } from '../../src/calls/options.ts';
import type { SendingEntry } from '../../src/journals/journal.ts';
import { bookInvoice as input } from '../support/values.ts';
import { createAccounts } from '../support/platform.ts';

const [totalTimeout, gracePeriod] = [defaultTotalTimeout, defaultGracePeriod];
/** A platform with two accounts. `headers` are the extra headers of each list response. */
function setup(headers: readonly Record<string, string>[] = [], forgets = false) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const sandbox = new Sandbox({ clock: () => clock.now() });
  createAccounts(sandbox);
  const journal: Journal = {
    ...memoryJournal({ now: () => clock.now() }),
    searchFirst: forgets ? 'always' : 'never',
  };
  const limits: string[] = [];
  const requests: Request[] = [];
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    clock,
    journal,
    maxRetries: 0,
    fetch: async (request) => {
      requests.push(request.clone());
      const response = await sandbox.fetch(request);
      const url = new URL(request.url);
      if (request.method !== 'GET' || !url.pathname.endsWith('/transfers')) return response;
      const more = headers[limits.length] ?? {};
      limits.push(url.searchParams.get('limit') ?? '');
      return new Response(response.body, {
        headers: { ...Object.fromEntries(response.headers), ...more },
      });
    },
  });
  /** The claim of a dead process, which has expired. */
  const claim = async (): Promise<void> => {
    const claimedAt = clock.now();
    const entry: SendingEntry = {
      state: 'sending',
      claimId: 'the dead',
      host: 'h-1',
      claimedAt,
      expiresAt: claimedAt + totalTimeout + gracePeriod,
      firstClaimedAt: claimedAt,
      platform: sandbox.clientOptions.baseUrl,
      input,
    };
    expect(await journal.swap(input.description, undefined, entry)).toBe(true);
    clock.jump(totalTimeout + gracePeriod);
  };
  return { sandbox, payments, requests, limits, claim };
}

test('every GET, but no write, sends the header cache-control: no-cache', async () => {
  const { payments, requests } = setup();
  await payments.accounts.get('acc_000001');
  await payments.transfers.list();
  await payments.transfers.createOnce(input);
  const sent = requests.map(({ method, headers }) => [method, headers.get('cache-control')]);
  expect(sent).toEqual([
    ['GET', 'no-cache'],
    ['GET', 'no-cache'],
    ['POST', null],
  ]);
});

test.each([0, 1])(
  'createOnce sends nothing if page %i (from 0) comes from a cache',
  async (list) => {
    const headers = Array.from({ length: 2 }, (_, at) => (at === list ? { age: '1' } : {}));
    const { payments, claim, sandbox } = setup(headers);
    await claim();
    const error = await failureOf(payments.transfers.createOnce(input), PaymentInDoubtError);
    expect(error).toMatchObject({ reason: 'in_doubt', retryable: true });
    expect(sandbox.transfers.list()).toEqual([]);
    await payments.transfers.createOnce(input);
    expect(sandbox.transfers.list()).toHaveLength(1);
  },
);

test.each(['0', '', 'none'])(
  'a page with the header Age: %j does not count as cached',
  async (age) => {
    const { payments, claim, sandbox } = setup([{ age }, { age }]);
    await claim();
    await payments.transfers.createOnce(input);
    expect(sandbox.transfers.list()).toHaveLength(1);
  },
);

test('reconcile rejects as unknown if a page comes from a cache', async () => {
  const { payments } = setup([{ age: '600' }]);
  const error = await failureOf(payments.transfers.reconcile(input), PaymentsError);
  expect(error).toMatchObject({ outcome: 'unknown' });
});

test('the two scans of a takeover use pages of 100 and 97', async () => {
  const single = setup();
  await single.claim();
  await single.payments.transfers.createOnce(input);
  const batch = setup();
  await batch.claim();
  for await (const { error } of batch.payments.transfers.createAllOnce([input])) {
    expect(error).toBeUndefined();
  }
  for (const { limits } of [single, batch]) expect(limits).toEqual(['100', '97']);
});

test('a search before the first claim uses pages of 100', async () => {
  const { payments, limits } = setup([], true);
  await payments.transfers.createOnce(input);
  const other = { ...input, description: 'invoice 4712' };
  for await (const { error } of payments.transfers.createAllOnce([other])) {
    expect(error).toBeUndefined();
  }
  expect(limits).toEqual(['100', '100']);
});
