import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import {
  AbortError,
  PaymentsClient,
  TimeoutError,
  type Hooks,
  type OnceInput,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { transfer, transferCreated } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const totalTimeout = 20_000;
const gracePeriod = 60_000;
const baseUrl = 'https://platform.invalid/v0';
/** What the journal's last write may take beyond the call's end. */
const lastWriteMs = 5_000;

/** Repeatable numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

interface Delays {
  readonly list: number;
  readonly create: number;
  readonly read: number;
  readonly journal: number;
  readonly authorize: number;
}

const input: OnceInput = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '1.00',
  description: 'invoice 4711',
};
/** A list of four pages, none of which is the payment. */
const listed = Array.from({ length: 350 }, (_, at) => ({
  ...transfer,
  ...input,
  id: `txfr_${at + 1}`,
  amount: '2.00',
  description: `rent ${at + 1}`,
}));

const quick: Delays = { list: 0, create: 0, read: 0, journal: 0, authorize: 0 };

/** A client whose platform, journal and `authorize` are slow. */
function setup(delays: Delays, { isRecent = false } = {}) {
  const clock = new VirtualClock();
  const delay = (ms: number) => new Promise<void>((resolve) => clock.setTimeout(resolve, ms));
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    const isList = pathname.endsWith('/transfers');
    const ofGet = isList ? delays.list : delays.read;
    await delay(request.method === 'POST' ? delays.create : ofGet);
    if (request.method === 'POST') return Response.json(transferCreated, { status: 201 });
    if (!isList)
      return Response.json(
        pathname.includes('accounts') ? { id: input.sourceAccountId } : transfer,
      );
    const from = Number(searchParams.get('cursor') ?? 0);
    const to = from + Number(searchParams.get('limit'));
    const hasMore = to < listed.length;
    const nextCursor = hasMore ? String(to) : null;
    return Response.json({ data: listed.slice(from, to), hasMore, nextCursor });
  };
  const memory = memoryJournal({ now: () => clock.now() });
  let journalDelay = 0;
  const slowly =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await delay(journalDelay);
      return await method(...args);
    };
  const journal: Journal = {
    ...memory,
    read: slowly(memory.read),
    swap: slowly(memory.swap),
    now: slowly(memory.now),
    searchFirst: isRecent ? 'always' : 'never',
  };
  /** How long each try of a payment took. */
  const calls: number[] = [];
  const onCall: Hooks['onCall'] = ({ operation, durationMs }) => {
    if (operation === 'transfers.createOnce') calls.push(durationMs);
  };
  const { transfers } = new PaymentsClient({
    baseUrl,
    apiKey: 'sk_test',
    hooks: { onCall },
    fetch,
    clock,
    journal,
    totalTimeout,
    timeout: totalTimeout,
    gracePeriod,
    authorize: async () => {
      await delay(delays.authorize);
      return true;
    },
  });
  /** How long a call takes, whatever its result is. */
  const measure = async (call: () => PromiseLike<unknown>): Promise<number> => {
    const startedAt = clock.elapsed();
    journalDelay = delays.journal;
    await clock.runTimersDuring(Promise.resolve(call()).catch((error: unknown) => error));
    journalDelay = 0;
    return clock.elapsed() - startedAt;
  };
  /** Leaves a claim in doubt, which nobody has sent. */
  const claim = async (): Promise<void> => {
    const at = clock.now();
    await memory.swap(input.description, undefined, {
      state: 'sending',
      claimId: 'claim-1',
      host: 'host',
      claimedAt: at,
      deadline: at + totalTimeout,
      expiresAt: at + totalTimeout + gracePeriod,
      firstClaimedAt: at,
      platform: baseUrl,
      input,
      history: [],
    });
    clock.jump(totalTimeout + gracePeriod);
  };
  return { transfers, measure, claim, calls };
}

test('no method that pays or searches takes longer than totalTimeout', async () => {
  let longest = 0;
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = createRandom(seed);
    const draw = (limit: number): number => Math.floor(random() * random() * limit);
    const delays: Delays = {
      list: draw(6_000),
      create: draw(30_000),
      read: draw(30_000),
      journal: draw(8_000),
      authorize: draw(30_000),
    };
    const first = setup(delays, { isRecent: seed % 2 === 0 });
    const takeover = setup(delays);
    await takeover.claim();
    const decided = setup(delays);
    await decided.claim();
    // A search of a batch takes as long as its list needs, so this list is quick.
    const batch = setup({ ...delays, list: 0 });
    await batch.measure(() => batch.transfers.createAllOnce([input], { retryTimeout: 1 }));
    expect(batch.calls).not.toEqual([]);
    const durations = [
      ...batch.calls,
      await first.measure(() => first.transfers.createOnce(input)),
      await first.measure(() => first.transfers.createOnce(input)),
      await first.measure(() => first.transfers.reconcile(input)),
      await takeover.measure(() => takeover.transfers.createOnce(input)),
      await decided.measure(() => decided.transfers.decide(input.description, 'not_paid')),
      await decided.measure(() => decided.transfers.decide(input.description, 'txfr_000001')),
    ];
    expect(Math.max(...durations), `seed ${seed}`).toBeLessThanOrEqual(totalTimeout + lastWriteMs);
    longest = Math.max(longest, ...durations);
    if (delays.journal === 0) expect(Math.max(...durations)).toBeLessThanOrEqual(totalTimeout);
  }
  expect(longest).toBeGreaterThan(totalTimeout / 2);
});

test('createOnce reads a recorded payment within totalTimeout, including its journal', async () => {
  const { transfers, measure } = setup({ ...quick, read: 30_000, journal: 4_000 });
  await measure(() => transfers.createOnce(input, { totalTimeout: 2 * totalTimeout }));
  let error: unknown;
  const call = () => transfers.createOnce(input).catch((failure: unknown) => (error = failure));
  expect(await measure(call)).toBe(totalTimeout);
  expect(error).toMatchObject({ outcome: 'unknown', retryable: true });
});

test('createOnce withdraws its claim if too little time is left', async () => {
  const clock = new VirtualClock();
  const memory = memoryJournal({ now: () => clock.now() });
  let isSlow = true;
  const journal: Journal = {
    ...memory,
    swap: (...swap) => {
      if (isSlow) clock.jump(totalTimeout - 1_000);
      isSlow = false;
      return memory.swap(...swap);
    },
  };
  const fetch = vi.fn(() => Promise.resolve(Response.json(transferCreated, { status: 201 })));
  const options = { baseUrl, apiKey: 'sk_test', clock, journal, totalTimeout, fetch };
  const { transfers } = new PaymentsClient(options);
  const error = await failureOf(transfers.createOnce(input), TimeoutError);
  expect(error).toMatchObject({ outcome: 'not_sent', retryable: true });
  expect(fetch).not.toHaveBeenCalled();
  expect(await memory.read(input.description)).toBeUndefined();
});

test('an abort while createOnce checks its first claim leaves no claim', async () => {
  const memory = memoryJournal();
  const controller = new AbortController();
  let isClaimed = false;
  const journal: Journal = {
    ...memory,
    read: (reference) => {
      if (!isClaimed) return memory.read(reference);
      controller.abort();
      return new Promise(() => undefined);
    },
    swap: (...swap) => {
      isClaimed = true;
      return memory.swap(...swap);
    },
  };
  const { transfers } = new PaymentsClient({ baseUrl, apiKey: 'sk_test', journal });
  const { signal } = controller;
  await failureOf(transfers.createOnce(input, { signal }), AbortError);
  expect(await memory.read(input.description)).toBeUndefined();
});

test.each([0, 4_000])(
  'createOnce leaves no claim after hanging TLS handshakes (journal: %i ms)',
  async (journalMs) => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const clock = new VirtualClock();
    const memory = memoryJournal({ now: () => clock.now() });
    let isWritten = false;
    const journal: Journal = {
      ...memory,
      swap: async (...swap) => {
        if (isWritten) await new Promise<void>((resolve) => clock.setTimeout(resolve, journalMs));
        isWritten = true;
        return await memory.swap(...swap);
      },
    };
    const { transfers } = new PaymentsClient({
      baseUrl: `https://127.0.0.1:${port}/v0`,
      apiKey: 'sk_test',
      clock,
      journal,
      totalTimeout,
    });
    const startedAt = clock.elapsed();
    const error = await clock.stepTimersDuring(
      failureOf(transfers.createOnce(input), TimeoutError),
      500,
    );
    expect(error).toMatchObject({ outcome: 'not_sent' });
    expect(await memory.read(input.description)).toBeUndefined();
    expect(clock.elapsed() - startedAt).toBeLessThanOrEqual(totalTimeout + journalMs + 500);
  },
);
