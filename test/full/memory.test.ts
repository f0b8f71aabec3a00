import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PaymentsClient } from 'payments-platform-sdk';
import { expect, test } from 'vitest';

// A list holds two pages at most, however long it is. With ITEMS=1000000 this prints the figures that
// docs/paging.md quotes.

const items = Number(process.env['ITEMS'] ?? 200_000);
const pageSize = 100;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function heap(): Promise<number> {
  // What is finalised in one round is free in the next, but only after a turn of the event loop.
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await turn();
  }
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** A page of the list, made as it is asked for: the platform's side must not hold it either. */
function page(start: number): Response {
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

test('a long list takes no more memory than a short one', async () => {
  const payments = new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey: 'sk_example',
    async fetch(request) {
      await turn();
      return page(Number(new URL(request.url).searchParams.get('cursor') ?? 0));
    },
  });
  let seen = 0;
  let early = 0;
  let late = 0;
  let right = 0;
  for await (const transfer of payments.transfers.list({ limit: pageSize })) {
    if (transfer.id === `txfr_${seen}`) right += 1;
    seen += 1;
    if (seen === items / 10) early = await heap();
    if (seen === items) late = await heap();
  }
  expect([seen, right]).toEqual([items, items]);
  if (process.env['ITEMS'] !== undefined) {
    console.log(
      `${items / 10} items: ${early.toFixed(1)} MB; ${items} items: ${late.toFixed(1)} MB`,
    );
  }
  // What is kept of each page is its cursor, so that a circle is noticed. Keeping the items would
  // take 40 MB more here.
  expect(late - early).toBeLessThan(8);
}, 240_000);
