import { PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { invoice as input, fixedTimes } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

// Breaks each assumption of docs/proof.md, so that createOnce pays twice. late-effects.test.ts
// breaks A2, and full/surplus.test.ts A5.

interface World {
  /** Changes the pages of the platform. */
  readonly changePage?: (page: { data: { description?: unknown }[]; hasMore: boolean }) => object;
  /** How far the journal's clock jumps after the first call, in milliseconds. */
  readonly jump?: number;
  /** The journal loses its entries after the first call. */
  readonly isForgotten?: boolean | 'and searched for';
}

const isListing = ({ method, url }: Request): boolean =>
  method === 'GET' && new URL(url).pathname.endsWith('/transfers');
const isCreation = ({ method }: Request): boolean => method === 'POST';

/** A platform whose transfers of the payment can be counted, and options of its clients. */
function setup() {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const options = { ...sandbox.clientOptions, ...fixedTimes, clock, maxRetries: 0 };
  const count = (): number =>
    sandbox.transfers.list().filter(({ description }) => description === input.description).length;
  const run = (call: PromiseLike<unknown>) =>
    clock.runTimersDuring(Promise.resolve(call).catch((error: unknown) => error));
  return { clock, sandbox, options, count, run };
}

/**
 * Makes a payment whose response is lost, and calls again when the claim has expired. Returns how
 * often the payment was made.
 */
async function payTwice({ changePage = (page) => page, jump = 0, isForgotten }: World) {
  const { clock, sandbox, options, count, run } = setup();
  let lead = 0;
  const createJournal = (): Journal => memoryJournal({ now: () => clock.now() + lead });
  let memory = createJournal();
  const journal: Journal = {
    read: (reference) => memory.read(reference),
    swap: (...change) => memory.swap(...change),
    now: (reference) => memory.now(reference),
    searchFirst: isForgotten === 'and searched for' ? 'always' : 'never',
  };
  const { transfers } = new PaymentsClient({
    ...options,
    journal,
    validation: 'report',
    fetch: async (request) => {
      const response = await sandbox.fetch(request);
      if (!isListing(request)) return response;
      return Response.json(changePage((await response.json()) as Parameters<typeof changePage>[0]));
    },
  });
  const fault = { kind: 'reset', when: 'after_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  await run(transfers.createOnce(input));
  lead = jump;
  // Before that, the same client would answer from its first search.
  clock.jump(5_000);
  if (isForgotten !== undefined) memory = createJournal();
  if (jump === 0) clock.jump(fixedTimes.totalTimeout + fixedTimes.gracePeriod);
  await run(transfers.createOnce(input));
  return count();
}

test('createOnce pays once if every assumption of docs/proof.md holds', async () => {
  expect(await payTwice({})).toBe(1);
});

test('createOnce pays twice after a lost entry and rewritten description (A1)', async () => {
  const changePage: World['changePage'] = ({ data, ...page }) => ({
    ...page,
    data: data.map((transfer) => ({ ...transfer, description: 'outgoing payment' })),
  });
  expect(await payTwice({ changePage, isForgotten: 'and searched for' })).toBe(2);
  expect(await payTwice({ changePage })).toBe(1);
});

test('createOnce pays twice if the journal loses an acknowledged claim (A3)', async () => {
  expect(await payTwice({ isForgotten: true })).toBe(2);
});

test('createOnce pays twice if its store is lost during its search (A3)', async () => {
  const { options, count, run } = setup();
  let memory = memoryJournal();
  const journal: Journal = {
    read: (reference) => memory.read(reference),
    swap: (...change) => memory.swap(...change),
    now: (reference) => memory.now(reference),
    searchFirst: 'always',
  };
  const other = new PaymentsClient({ ...options, journal });
  const swap: Journal['swap'] = async (...change) => {
    // The call has searched the list, and another call pays before it writes its claim.
    if (count() === 0) {
      await other.transfers.createOnce(input);
      memory = memoryJournal();
    }
    return journal.swap(...change);
  };
  const { transfers } = new PaymentsClient({ ...options, journal: { ...journal, swap } });
  await run(transfers.createOnce(input));
  expect(count()).toBe(2);
});

test("createOnce pays twice if the journal's clock outruns the list (A4)", async () => {
  const changePage: World['changePage'] = (page) => ({ ...page, data: [] });
  expect(await payTwice({ changePage, jump: 1_200_000 })).toBe(2);
});

test('createOnce pays twice if clocks stop between claim and request (A4)', async () => {
  const { clock, sandbox, options, count, run } = setup();
  const journal = memoryJournal({ now: () => clock.now() });
  const paused = new VirtualClock(clock.now());
  const other = new PaymentsClient({ ...options, journal });
  const { transfers } = new PaymentsClient({
    ...options,
    journal,
    clock: paused,
    fetch: async (request) => {
      if (isCreation(request)) {
        clock.jump(fixedTimes.totalTimeout + fixedTimes.gracePeriod);
        await other.transfers.createOnce(input);
      }
      return sandbox.fetch(request);
    },
  });
  await run(transfers.createOnce(input));
  expect(count()).toBe(2);
});

test('createOnce pays twice if the last page predates the payment (A6)', async () => {
  const changePage: World['changePage'] = ({ data }) => ({
    data: data.filter(({ description }) => description !== input.description),
    hasMore: false,
    nextCursor: null,
  });
  expect(await payTwice({ changePage })).toBe(2);
});

test('createOnce pays twice if a made payment receives an Error body (A7)', async () => {
  const { clock, sandbox, options, count, run } = setup();
  let rejects = true;
  const { transfers } = new PaymentsClient({
    ...options,
    journal: memoryJournal({ now: () => clock.now() }),
    fetch: async (request) => {
      const response = await sandbox.fetch(request);
      if (!isCreation(request) || !rejects) return response;
      rejects = false;
      return Response.json({ error: 'Unprocessable', code: 'limit' }, { status: 422 });
    },
  });
  expect(await run(transfers.createOnce(input))).toMatchObject({ outcome: 'rejected' });
  await run(transfers.createOnce(input));
  expect(count()).toBe(2);
});

test('createOnce pays twice if something in between repeats the request (A8)', async () => {
  const { clock, sandbox, options, count, run } = setup();
  const { transfers } = new PaymentsClient({
    ...options,
    journal: memoryJournal({ now: () => clock.now() }),
    fetch: async (request) => {
      if (isCreation(request)) await sandbox.fetch(request.clone());
      return sandbox.fetch(request);
    },
  });
  await run(transfers.createOnce(input));
  expect(count()).toBe(2);
});

test('createOnce pays twice with two journals, or after pruning (A9)', async () => {
  const { clock, options, count, run } = setup();
  const pay = (journal: Journal) =>
    run(new PaymentsClient({ ...options, journal }).transfers.createOnce(input));
  const [first, second] = [memoryJournal(), memoryJournal({ now: () => clock.now() })];
  await pay(first);
  await pay(second);
  expect(count()).toBe(2);
  clock.jump(1_000);
  await second.prune({ paidBefore: new Date(clock.now()) });
  await pay(second);
  expect(count()).toBe(3);
});
