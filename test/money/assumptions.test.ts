import { PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { invoice as input, fixedTimes } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

// Breaks each assumption of docs/proof.md, so that createOnce pays twice. late-effects.test.ts
// breaks A2.

interface World {
  /** Changes the pages of the platform. */
  readonly changePage?: (page: { data: { description?: unknown }[]; hasMore: boolean }) => object;
  /** How far the journal's clock jumps after the first call, in milliseconds. */
  readonly jump?: number;
  /** The journal loses its entries after the first call. */
  readonly isForgotten?: boolean | 'and searched for';
}

/**
 * Makes a payment whose response is lost, and calls again when the claim has expired. Returns how
 * often the payment was made.
 */
async function payTwice({ changePage = (page) => page, jump = 0, isForgotten }: World) {
  const clock = new VirtualClock();
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const seeded = sandbox.transfers.list().length;
  let lead = 0;
  const createJournal = (): Journal => memoryJournal({ now: () => clock.now() + lead });
  let memory = createJournal();
  const journal: Journal = {
    read: (reference) => memory.read(reference),
    swap: (...change) => memory.swap(...change),
    now: (reference) => memory.now(reference),
    searchFirst: isForgotten === 'and searched for' ? 'always' : 'never',
  };
  const isListing = (request: Request): boolean =>
    request.method === 'GET' && new URL(request.url).pathname.endsWith('/transfers');
  const { transfers } = new PaymentsClient({
    ...sandbox.clientOptions,
    ...fixedTimes,
    clock,
    journal,
    validation: 'report',
    fetch: async (request) => {
      const response = await sandbox.fetch(request);
      if (!isListing(request)) return response;
      return Response.json(changePage((await response.json()) as Parameters<typeof changePage>[0]));
    },
  });
  const pay = () => clock.runTimersDuring(transfers.createOnce(input).catch(() => undefined));
  const fault = { kind: 'reset', when: 'after_commit' } as const;
  sandbox.faults.add({ operation: 'transfers.create', fault });
  await pay();
  lead = jump;
  // Before that, the same client would answer from its first search.
  clock.jump(5_000);
  if (isForgotten !== undefined) memory = createJournal();
  if (jump === 0) clock.jump(fixedTimes.totalTimeout + fixedTimes.gracePeriod);
  await pay();
  return sandbox.transfers.list().length - seeded;
}

test('createOnce pays once if every assumption of docs/proof.md holds', async () => {
  expect(await payTwice({})).toBe(1);
});

test('createOnce pays twice if a lost entry is searched for, and the list shows another description (A1)', async () => {
  const changePage: World['changePage'] = ({ data, ...page }) => ({
    ...page,
    data: data.map((transfer) => ({ ...transfer, description: 'outgoing payment' })),
  });
  expect(await payTwice({ changePage, isForgotten: 'and searched for' })).toBe(2);
  expect(await payTwice({ changePage })).toBe(1);
});

test('createOnce pays twice if the journal loses a claim that the journal has acknowledged (assumption A3 of docs/proof.md)', async () => {
  expect(await payTwice({ isForgotten: true })).toBe(2);
});

test('createOnce pays twice if the clock of the journal jumps before the list shows the payment (assumption A4 of docs/proof.md)', async () => {
  const changePage: World['changePage'] = (page) => ({ ...page, data: [] });
  expect(await payTwice({ changePage, jump: 1_200_000 })).toBe(2);
});

test('createOnce pays twice if the last page of the list comes before the payment (assumption A6 of docs/proof.md)', async () => {
  const changePage: World['changePage'] = ({ data }) => ({
    data: data.filter(({ description }) => description !== input.description),
    hasMore: false,
    nextCursor: null,
  });
  expect(await payTwice({ changePage })).toBe(2);
});
