import { TimeoutError, type ClientOptions } from 'payments-platform-sdk';
import type { Journal } from 'payments-platform-sdk/journals';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { transfer } from '../support/values.ts';
import { inDoubtErrorOf, input, minute, setup, totalTimeout } from './doubtful-platform.ts';

/** A payment whose request had no effect, and whose list was searched without a result. */
async function leaveUnfound(options: ClientOptions = {}, journalOptions: Partial<Journal> = {}) {
  const context = setup({ journalOptions }, options);
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  context.sandbox.faults.add({ operation: 'transfers.create', fault });
  const error = await inDoubtErrorOf(context.pay());
  expect(context.counts.lists).toBe(1);
  return { ...context, error };
}

test('repeated createOnce calls read one list per retryAfterMs', async () => {
  const { pay, counts, clock, error } = await leaveUnfound();
  const { retryAfterMs = 0 } = error;
  for (let call = 1; call <= 50; call += 1) {
    const again = await inDoubtErrorOf(pay());
    expect(again).toMatchObject({ reason: 'in_doubt', retryable: true });
    expect(again.retryAfterMs).toBeLessThanOrEqual(retryAfterMs);
    expect(again.cause).toBe(error.cause);
  }
  expect(counts.lists).toBe(1);
  clock.jump(retryAfterMs);
  await inDoubtErrorOf(pay());
  expect(counts.lists).toBe(2);
});

test('a call before retryAfterMs sees what another process has recorded', async () => {
  const { pay, sandbox, payments, run, counts } = await leaveUnfound();
  const { id } = sandbox.transfers.create(input);
  const other = payments.withOptions({});
  await run(other.transfers.createOnce(input));
  expect(counts.lists).toBe(2);
  expect(await pay()).toMatchObject({ id, result: 'recorded' });
});

test.each([
  ['since', { since: new Date(Date.UTC(2026, 10, 27)) }],
  ['headers', { headers: { 'x-tenant': 'b' } }],
])(
  'a call before retryAfterMs searches if its option `%s` is different',
  async (_name, options) => {
    const { payments, run, counts } = await leaveUnfound();
    await inDoubtErrorOf(run(payments.transfers.createOnce(input, options)));
    expect(counts.lists).toBe(2);
  },
);

test('a call searches again if the earlier search has failed', async () => {
  const { leaveInDoubt, pay, made, counts } = setup();
  await leaveInDoubt();
  expect(counts.lists).toBe(0);
  expect(await pay()).toMatchObject({ result: 'found' });
  expect(made()).toHaveLength(1);
});

test('an expired claim is taken over, whatever an earlier search said', async () => {
  const { pay, clock, made } = await leaveUnfound();
  clock.jump(10 * minute);
  await inDoubtErrorOf(pay());
  clock.jump(totalTimeout + 5 * minute);
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(made()).toHaveLength(1);
});

test('a rejected takeover is not sent again before its retryAfterMs', async () => {
  const { pay, clock, sandbox, made } = await leaveUnfound();
  clock.jump(totalTimeout + 15 * minute);
  const fault = { kind: 'status', status: 422 } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  const error = await inDoubtErrorOf(pay());
  expect(error).toMatchObject({ reason: 'in_doubt', retryAfterMs: minute });
  const sent = () => sandbox.log.filter(({ operation }) => operation === 'transfers.create').length;
  const before = sent();
  for (let call = 1; call <= 20; call += 1) await inDoubtErrorOf(pay());
  expect(sent()).toBe(before);
  clock.jump(minute);
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(made()).toHaveLength(1);
});

/** A list without an end, each of whose pages takes ten seconds. */
function setupEndless(searchFirst: 'always' | 'never') {
  const fetch = async (request: Request): Promise<Response> => {
    const { sandbox, clock } = context;
    if (request.method === 'POST') return await sandbox.fetch(request);
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 10_000));
    const at = Number(new URL(request.url).searchParams.get('cursor') ?? 0);
    const row = { ...transfer, id: `txfr_${at + 100}`, description: `rent ${at}` };
    return Response.json({ data: [row], hasMore: true, nextCursor: String(at + 1) });
  };
  const context = setup({ journalOptions: { searchFirst } }, { fetch, timeout: totalTimeout });
  return context;
}

test('a search that exceeds totalTimeout is retryable only the first time', async () => {
  const { pay, clock, sandbox } = setupEndless('never');
  const fault = { kind: 'reset', when: 'before_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  const first = await inDoubtErrorOf(pay());
  expect(first).toMatchObject({ reason: 'in_doubt', retryable: true });
  expect(first.message).toMatch(
    /did not end within 120000 ms \(totalTimeout\); it read 1[12] pages/,
  );
  clock.jump(2 * minute);
  const second = await inDoubtErrorOf(pay());
  expect(second).toMatchObject({ reason: 'in_doubt', retryable: false });
  expect(second.message).toContain('createAllOnce');
});

test('createOnce sends and records nothing if its first search exceeds totalTimeout', async () => {
  const { pay, sandbox, journal, clock } = setupEndless('always');
  const startedAt = clock.elapsed();
  const error = await failureOf(pay(), TimeoutError);
  expect(error).toMatchObject({ outcome: 'not_sent', phase: 'total', retryable: true });
  expect(error.message).toContain("searchFirst: 'never'");
  expect(error.message).toContain('the journal has no claim of it');
  expect(clock.elapsed() - startedAt).toBe(totalTimeout);
  expect(await failureOf(pay(), TimeoutError)).toMatchObject({ retryable: false });
  expect(await journal.read(input.description)).toBeUndefined();
  expect(sandbox.transfers.list()).toEqual([]);
});

test('a call out of time is not_sent unless another call has claimed', async () => {
  const { payments, pay, clock, run, made, counts } = setup(
    {
      show: (data) => {
        if (counts.lists === 1) clock.jump(1.5 * minute);
        return { data };
      },
      journalOptions: { searchFirst: 'always' },
    },
    { timeout: totalTimeout },
  );
  expect(await failureOf(pay(), TimeoutError)).toMatchObject({ outcome: 'not_sent' });
  expect(made()).toHaveLength(0);
  const authorize = async (): Promise<boolean> => {
    await payments.transfers.createOnce(input);
    clock.jump(1.5 * minute);
    return true;
  };
  const slow = payments.withOptions({ authorize });
  const error = await inDoubtErrorOf(run(slow.transfers.createOnce(input)));
  expect(error).toMatchObject({ reason: 'in_progress', outcome: 'unknown' });
  expect(made()).toHaveLength(1);
});

test('a takeover without time left for its request keeps the earlier claim', async () => {
  let taken = 0;
  const { pay, clock, journal } = await leaveUnfound({
    timeout: totalTimeout,
    authorize: () => {
      if (taken > 0) clock.jump(taken);
      return true;
    },
  });
  taken = 1.5 * minute;
  const claim = await journal.read(input.description);
  clock.jump(totalTimeout + 15 * minute);
  const error = await inDoubtErrorOf(pay());
  expect(error.message).toContain('only 30000 of 120000 ms (totalTimeout)');
  expect(await journal.read(input.description)).toEqual(claim);
});

test("a claim expires by the journal's clock, not the client's", async () => {
  const startedAt = Date.UTC(2026, 10, 28, 2);
  let ahead = 0;
  const { pay, made } = await leaveUnfound({}, { now: () => Promise.resolve(startedAt + ahead) });
  ahead = totalTimeout + 15 * minute;
  expect(await pay()).toMatchObject({ result: 'created' });
  expect(made()).toHaveLength(1);
});

test('a call before retryAfterMs searches if another process has claimed again', async () => {
  const { pay, journal, counts } = await leaveUnfound();
  const claim = await journal.read(input.description);
  if (claim?.state !== 'sending') throw new Error('the payment has no claim');
  await journal.swap(input.description, claim, { ...claim, claimId: 'another' });
  await inDoubtErrorOf(pay());
  expect(counts.lists).toBe(2);
});
