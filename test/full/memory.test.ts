import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PaymentsClient } from 'payments-platform-sdk';
import type { JournalEntry } from 'payments-platform-sdk/journals';
import { expect, test } from 'vitest';

// A list retains two pages at most. With ITEMS=1000000 this prints the figures of docs/reference.md.

const items = Number(process.env['ITEMS'] ?? 200_000);
const pageSize = 100;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function measureHeap(): Promise<number> {
  // Memory that is finalised in one round is free in the next, after a turn of the event loop.
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await turn();
  }
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** Creates a page on request, because the platform's side must not retain it either. */
function createPage(start: number): Response {
  const data = Array.from({ length: pageSize }, (_, index) => ({
    id: `txfr_${start + index}`,
    sourceAccountId: 'acc_000001',
    destinationAccountId: 'acc_000002',
    amount: '12.50',
    currency: 'USDC',
    type: 'book',
    status: 'completed',
    direction: 'outgoing',
    description: `invoice ${start + index}`,
    createdAt: '2026-01-01T00:00:00.000Z',
  }));
  const next = start + pageSize;
  const hasMore = next < items;
  return Response.json({ data, hasMore, nextCursor: hasMore ? String(next) : null });
}

test('a loop over many transfers needs constant memory', async () => {
  const payments = new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey: 'sk_example',
    async fetch(request) {
      await turn();
      return createPage(Number(new URL(request.url).searchParams.get('cursor') ?? 0));
    },
  });
  let itemCount = 0;
  let early = 0;
  let late = 0;
  let matchCount = 0;
  for await (const transfer of payments.transfers.list({ limit: pageSize })) {
    if (transfer.id === `txfr_${itemCount}`) matchCount += 1;
    itemCount += 1;
    if (itemCount === items / 10) early = await measureHeap();
    if (itemCount === items) late = await measureHeap();
  }
  expect([itemCount, matchCount]).toEqual([items, items]);
  if (process.env['ITEMS'] !== undefined) {
    console.log(
      `${items / 10} items: ${early.toFixed(1)} MB; ${items} items: ${late.toFixed(1)} MB`,
    );
  }
  // The pager retains the cursor of each page to detect a loop. The items would take 40 MB more.
  expect(late - early).toBeLessThan(8);
});

const payouts = Number(process.env['PAYOUTS'] ?? 50_000);

test('createAllOnce retains less than 300 bytes for each payment', async () => {
  const created = {
    status: 'pending',
    type: 'book',
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  /** The journal retains only the entries of open payments. */
  const claims = new Map<string, JournalEntry>();
  let requests = 0;
  const payments = new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey: 'sk_example',
    async fetch() {
      await turn();
      requests += 1;
      return Response.json({ id: `txfr_${requests}`, ...created });
    },
    journal: {
      read: async (reference) => claims.get(reference),
      swap: async (reference, _, after) => {
        if (after?.state === 'sending') claims.set(reference, after);
        else claims.delete(reference);
        return true;
      },
      now: async () => Date.now(),
    },
  });
  async function* createSalaries(count: number) {
    for (let number = 1; number <= count; number += 1) {
      yield {
        sourceAccountId: 'acc_000001',
        destinationAccountId: 'acc_000002',
        amount: '12.50',
        description: `salary ${number}`,
      } as const;
    }
  }
  /** Pays a batch, and returns the memory before its last payment. */
  const pay = async (count: number): Promise<number> => {
    const batch = payments.transfers.createAllOnce(createSalaries(count));
    let heap = 0;
    // There is no assertion for each payment, because Vitest retains assertions.
    for await (const _ of batch) {
      if (batch.counts.paid === count && heap === 0) heap = await measureHeap();
    }
    expect(batch.counts.paid).toBe(count);
    return heap;
  };
  const idle = await pay(1_000);
  const heap = await pay(payouts);
  const bytes = Math.round(((heap - idle) * 2 ** 20) / payouts);
  if (process.env['PAYOUTS'] !== undefined) {
    console.log(
      `${payouts} payments: ${(heap - idle).toFixed(1)} MB above idle, ${bytes} bytes each`,
    );
  }
  expect(requests).toBe(payouts + 1_000);
  // A reference takes about 70 bytes, and the heap varies. An input would take 400 bytes more.
  expect(bytes).toBeLessThan(300);
});
