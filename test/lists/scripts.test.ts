import fc from 'fast-check';
import { PaginationError, PaymentsClient, PaymentsError } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { clientAt, clientOf, respond } from '../support/clients.ts';
import { responseBytes } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { errorBody, page, transferNumber } from '../support/values.ts';

/** One page of a random platform: its number of items and its next cursor. */
interface Scripted {
  readonly size: number;
  readonly cursor: unknown;
  readonly hasMore: boolean;
  readonly status: number;
}

const cursors = ['a', 'b', 'c', 'd', 'e', 'f'];
const anyPage: fc.Arbitrary<Scripted> = fc.record({
  size: fc.integer({ min: 0, max: 4 }),
  cursor: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...cursors) },
    { weight: 1, arbitrary: fc.constantFrom(null, '', 7, undefined) },
  ),
  hasMore: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.boolean()),
  status: fc.oneof({ weight: 9, arbitrary: fc.constant(200) }, fc.constantFrom(400, 503)),
});

/** The ids of a page, which no other page has. */
const idsAt = (place: string, { size }: Scripted): string[] =>
  Array.from({ length: size }, (_, index) => `txfr_${place.charCodeAt(0) * 10 + index}`);

/** The expected items and end of a list over this platform. */
function truthOf(platform: Readonly<Record<string, Scripted>>): { ids: string[]; ends: string } {
  const ids: string[] = [];
  const been = new Set<unknown>();
  for (let place = '0'; ;) {
    const current = platform[place];
    if (current === undefined) throw new Error('There is no such page.');
    if (current.status !== 200) return { ids, ends: `status ${current.status}` };
    been.add(place);
    ids.push(...idsAt(place, current));
    if (!current.hasMore) return { ids, ends: 'done' };
    if (typeof current.cursor !== 'string' || current.cursor === '') {
      return { ids, ends: 'missing_cursor' };
    }
    if (been.has(current.cursor)) return { ids, ends: 'cursor_loop' };
    place = current.cursor;
  }
}

type Platform = Readonly<Record<string, Scripted>>;
interface Scene {
  readonly payments: PaymentsClient;
  readonly requests: readonly unknown[];
}

/** The response of a platform to a request for a URL. */
function responseOf(platform: Platform, url: string): readonly [status: number, body: unknown] {
  const place = new URL(url, 'http://x').searchParams.get('cursor') ?? '0';
  const current = platform[place];
  if (current?.status !== 200) return [current?.status ?? 500, errorBody];
  const data = idsAt(place, current).map((id) => transferNumber(Number(id.slice(5))));
  return [200, page(data, current.cursor, current.hasMore)];
}

/** A client of such a platform over a custom fetch. */
const overFetch = (platform: Platform): Scene =>
  clientOf((request) => respond(...responseOf(platform, request.url)), { maxRetries: 0 });

/** A client of such a platform over the connections of Node, with prefetching. */
async function overSockets(): Promise<(platform: Platform) => Scene> {
  const scenes: { readonly platform: Platform; readonly requests: string[] }[] = [];
  const server = await rawServer(({ target, write }) => {
    // A cancelled request may still arrive during the next list.
    const { platform, requests } = scenes[Number.parseInt(target.slice(1), 10)] ?? {};
    requests?.push(target);
    const [status, body] = responseOf(platform ?? {}, target);
    write(responseBytes(status, Buffer.from(JSON.stringify(body)), { connection: 'keep-alive' }));
  });
  return (platform) => {
    const requests: string[] = [];
    const baseUrl = `${server.origin}/${scenes.push({ platform, requests }) - 1}/v0`;
    return { payments: clientAt({ baseUrl }, { maxRetries: 0 }), requests };
  };
}

const endOf = (error: unknown): string => {
  expect(error).toBeInstanceOf(PaymentsError);
  if (error instanceof PaginationError) return error.reason;
  return `status ${String(Reflect.get(error as object, 'status'))}`;
};

test.each([
  { way: 'the option fetch', open: () => Promise.resolve(overFetch) },
  { way: 'node:http', open: overSockets },
])('loops over random lists ($way) yield exactly what the platform sent', async ({ open }) => {
  const sceneOf = await open();
  const platforms = fc
    .array(anyPage, { minLength: 7, maxLength: 7 })
    .map((pages) => Object.fromEntries(pages.map((each, at) => [['0', ...cursors][at], each])));
  await fc.assert(
    fc.asyncProperty(platforms, fc.integer({ min: 1, max: 30 }), async (platform, max) => {
      const truth = truthOf(platform);
      const { payments, requests } = sceneOf(platform);
      const list = payments.transfers.list();
      const seen: string[] = [];
      let ends = 'done';
      try {
        for await (const { id } of list) seen.push(id);
      } catch (error) {
        ends = endOf(error);
      }
      expect({ ids: seen, ends }).toEqual(truth);
      expect(requests.length).toBeLessThanOrEqual(7);

      const some = await list.toArray({ max }).catch(endOf);
      const isError = typeof some === 'string';
      expect(isError ? some : some.map(({ id }) => id)).toEqual(
        isError ? truth.ends : truth.ids.slice(0, max),
      );
    }),
    { numRuns: 300 },
  );
});

test('accounts.list yields the same items whatever its `limit` and empty pages', async () => {
  const sandbox = new Sandbox();
  const payments = new PaymentsClient(sandbox.clientOptions);
  const { id: entityId } = await payments.entities.create({ email: 'ada@example.com' });
  for (let number = 0; number < 23; number += 1) {
    await payments.accounts.create({ entityId, name: `Account ${number}` });
  }
  const whole = (await payments.accounts.list({ limit: 100 })).data.map(({ id }) => id);
  expect(new Set(whole).size).toBe(23);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.nat({ max: 30 }), { maxLength: 3 }),
      async (limit, empties) => {
        for (const after of empties) {
          sandbox.faults.add({ operation: 'accounts.list', after, fault: { kind: 'empty_page' } });
        }
        const items = await payments.accounts.list({ limit }).toArray({ max: 1_000 });
        expect(items.map(({ id }) => id)).toEqual(whole);
        sandbox.faults.clear();
      },
    ),
    { numRuns: 30 },
  );
});
