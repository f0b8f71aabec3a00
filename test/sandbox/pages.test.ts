import * as fc from 'fast-check';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { EntitySchema, pageSchema } from 'payments-platform-sdk/schemas';
import { expect, test } from 'vitest';
import { call, containing } from './calls.ts';

interface Page {
  data: { id: string }[];
  hasMore: boolean;
  nextCursor: string | null;
}

async function page(sandbox: Sandbox, path: string): Promise<Page> {
  const { status, body } = await call(sandbox, 'GET', path);
  expect(status).toBe(200);
  return body as Page;
}

async function rejection(sandbox: Sandbox, path: string): Promise<unknown[]> {
  const { status, body } = await call(sandbox, 'GET', path);
  const { code, error } = body as { code: string; error: string };
  return [status, code, error];
}

function entities(count: number, options?: ConstructorParameters<typeof Sandbox>[0]): Sandbox {
  const sandbox = new Sandbox(options);
  for (let made = 0; made < count; made += 1) sandbox.entities.create({ email: 'a@b.example' });
  return sandbox;
}

const idsOf = ({ data }: Page) => data.map(({ id }) => id);

test('a sandbox list has 50 items a page, oldest first', async () => {
  const sandbox = entities(51);
  const first = await page(sandbox, '/entities');
  expect(pageSchema(EntitySchema).safeParse(first).success).toBe(true);
  expect(first.data).toHaveLength(50);
  expect(first.hasMore).toBe(true);
  const second = await page(sandbox, `/entities?cursor=${first.nextCursor}`);
  expect(second).toMatchObject({ hasMore: false, nextCursor: null });
  expect([...idsOf(first), ...idsOf(second)]).toEqual(sandbox.entities.list().map(({ id }) => id));
});

test('the query parameter `limit` overrides the option pageSize', async () => {
  const sandbox = entities(5, { pageSize: 2 });
  expect((await page(sandbox, '/entities')).data).toHaveLength(2);
  expect((await page(sandbox, '/entities?limit=3')).data).toHaveLength(3);
  expect((await page(sandbox, '/entities?limit=100')).data).toHaveLength(5);
  for (const pageSize of [0, 101, 1.5, Number.NaN]) {
    expect(() => new Sandbox({ pageSize })).toThrow('pageSize of a sandbox must be');
  }
});

test('the error for an unknown option of a sandbox names it', () => {
  const made = (options: object) => () => new Sandbox(options);
  expect(made({ pagesize: 3 })).toThrow(TypeError);
  expect(made({ pagesize: 3 })).toThrow(
    'A sandbox has no option called pagesize; there are clock, pageSize, listOrder, apiKey, jwt, autoAdvance, latency, webhook, webhookHosts.',
  );
  expect(made({ clock: undefined, seed: 'demo' })).toThrow('no option called seed');
});

test.each([
  ['oldest_first', ['ent_000001', 'ent_000002', 'ent_000003', 'ent_000004', 'ent_000005']],
  ['newest_first', ['ent_000005', 'ent_000004', 'ent_000003', 'ent_000002', 'ent_000001']],
  ['shuffled', ['ent_000005', 'ent_000002', 'ent_000004', 'ent_000001', 'ent_000003']],
] as const)(
  'a %s sandbox list neither repeats nor skips records despite creations',
  async (listOrder, ids) => {
    const sandbox = entities(5, { listOrder });
    const seen: string[] = [];
    let query = 'limit=2';
    for (;;) {
      const { data, nextCursor } = await page(sandbox, `/entities?${query}`);
      seen.push(...data.map(({ id }) => id));
      if (nextCursor === null) break;
      // A newer Entity must not move the rows that were already read.
      if (seen.length === 2) sandbox.entities.create({ email: 'new@example.com' });
      query = `limit=2&cursor=${nextCursor}`;
    }
    expect(seen.filter((id) => id !== 'ent_000006')).toEqual(ids);
  },
);

test('a sandbox rejects a listOrder that does not exist', () => {
  const listOrder = 'newest' as 'newest_first';
  expect(() => new Sandbox({ listOrder })).toThrow(
    'The listOrder of a sandbox must be one of oldest_first, newest_first, shuffled.',
  );
});

test('a full last page of the sandbox has no next cursor', async () => {
  const sandbox = entities(4);
  const first = await page(sandbox, '/entities?limit=2');
  expect(first.hasMore).toBe(true);
  const last = await page(sandbox, `/entities?limit=2&cursor=${first.nextCursor}`);
  expect(last).toMatchObject({ hasMore: false, nextCursor: null });
  expect(last.data).toHaveLength(2);
  expect(await page(new Sandbox(), '/entities')).toEqual({
    data: [],
    hasMore: false,
    nextCursor: null,
  });
});

test.each(['0', '101', '-1', '1.5', '1e1', 'ten', '', '%205', '0x10', '1000000000000'])(
  'a list of the sandbox rejects the `limit` %o',
  async (limit) => {
    const [status, code, error] = await rejection(entities(1), `/entities?limit=${limit}`);
    expect([status, code]).toEqual([400, 'invalid_query']);
    expect(error).toContain('limit: expected a whole number from 1 to 100');
  },
);

test('the sandbox rejects unknown, malformed and repeated query parameters', async () => {
  const sandbox = entities(1);
  expect(await rejection(sandbox, '/entities?page=2')).toEqual([
    400,
    'invalid_query',
    'The query parameters are not valid. page: this field is not known.',
  ]);
  expect(await rejection(sandbox, '/transfers?accountId=ent_1')).toEqual([
    400,
    'invalid_query',
    containing('accountId: "ent_1" is the id of an Entity; expected an Account'),
  ]);
  expect(await rejection(sandbox, '/entities?limit=1&limit=1')).toEqual([
    400,
    'invalid_query',
    containing('limit: expected once'),
  ]);
  expect(await rejection(sandbox, '/entities?cursor=')).toEqual([
    400,
    'invalid_query',
    containing('cursor: expected'),
  ]);
  expect(await rejection(sandbox, '/entities/ent_000001?limit=1')).toEqual([
    400,
    'invalid_query',
    containing('limit: this operation takes no query parameters'),
  ]);
  const write = await call(sandbox, 'PATCH', '/platform/settings?dry=1', {});
  expect(write).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
});

test('the sandbox rejects a cursor for another list, filter or `limit`', async () => {
  const sandbox = entities(1);
  const { id: entityId } = sandbox.entities.create({ email: 'a@b.example' });
  for (let made = 0; made < 4; made += 1) {
    sandbox.counterparties.create({ entityId });
    sandbox.accounts.create({ entityId });
  }
  const { nextCursor } = await page(sandbox, `/counterparties?limit=2&entityId=${entityId}`);
  const asking = (path: string) => rejection(sandbox, `${path}cursor=${nextCursor}`);
  const otherScope = [400, 'invalid_cursor', containing('another list')];
  expect(await asking('/accounts?limit=2&')).toEqual(otherScope);
  expect(await asking('/counterparties?limit=2&')).toEqual(otherScope);
  expect(await asking('/counterparties?limit=2&entityId=ent_000001&')).toEqual(otherScope);
  const otherLimit = [400, 'invalid_cursor', containing('of limit 2')];
  expect(await asking(`/counterparties?limit=3&entityId=${entityId}&`)).toEqual(otherLimit);
  const withoutLimit = await page(
    sandbox,
    `/counterparties?entityId=${entityId}&cursor=${nextCursor}`,
  );
  expect(idsOf(withoutLimit)).toEqual(['cpty_000003', 'cpty_000004']);
  const rest = await page(
    sandbox,
    `/counterparties?entityId=${entityId}&cursor=${nextCursor}&limit=2`,
  );
  expect(idsOf(rest)).toEqual(['cpty_000003', 'cpty_000004']);
});

test('the sandbox rejects a cursor with any changed character', async () => {
  const sandbox = entities(3);
  const { nextCursor } = await page(sandbox, '/entities?limit=2');
  const cursor = String(nextCursor);
  expect(cursor).toMatch(/^[\w-]{16,}$/);
  expect(cursor).not.toMatch(/^\d+$/);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ minLength: 1, maxLength: 60 }),
        fc.base64String({ minLength: 4, maxLength: 60 }),
        fc
          .tuple(fc.nat({ max: cursor.length - 1 }), fc.constantFrom(...'Aa0z_-'))
          .map(([at, letter]) => cursor.slice(0, at) + letter + cursor.slice(at + 1)),
        fc.nat({ max: cursor.length - 1 }).map((at) => cursor.slice(0, at) || 'x'),
        fc.constantFrom(`${cursor}A`, `${cursor}=`, ` ${cursor}`, `${cursor}${cursor}`),
      ),
      async (altered) => {
        fc.pre(altered !== cursor);
        const path = `/entities?limit=2&cursor=${encodeURIComponent(altered)}`;
        expect((await rejection(sandbox, path)).slice(0, 2)).toEqual([400, 'invalid_cursor']);
      },
    ),
    { numRuns: 200 },
  );
});

test('the sandbox rejects a cursor whose last character decodes to equal bytes', async () => {
  const sandbox = entities(3);
  const cursor = String((await page(sandbox, '/entities?limit=2')).nextCursor);
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const spellings = [...letters].map((letter) => cursor.slice(0, -1) + letter);
  const accepted: string[] = [];
  for (const spelling of spellings) {
    const { status } = await call(sandbox, 'GET', `/entities?limit=2&cursor=${spelling}`);
    if (status === 200) accepted.push(spelling);
  }
  expect(accepted).toEqual([cursor]);
});

test('a sandbox list returns each remaining item once during creations and deletions', async () => {
  const step = fc.record({
    added: fc.nat({ max: 3 }),
    removed: fc.array(fc.nat({ max: 1000 }), { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 15 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { minLength: 30, maxLength: 30 }),
      fc.boolean(),
      async (count, limit, steps, filtered) => {
        const sandbox = entities(2);
        const add = (entityId: `ent_${string}`) => sandbox.counterparties.create({ entityId });
        for (let made = 0; made < count; made += 1) {
          add(made % 3 === 0 ? 'ent_000001' : 'ent_000002');
        }
        const concerns = ({ entityId }: { entityId: string }) =>
          !filtered || entityId === 'ent_000002';
        const initial = sandbox.counterparties.list().filter(concerns);
        const query = `/counterparties?limit=${limit}${filtered ? '&entityId=ent_000002' : ''}`;
        const seen: string[] = [];
        let cursor: string | null = '';
        for (let turn = 0; cursor !== null; turn += 1) {
          const response: Page = await page(sandbox, query + (cursor && `&cursor=${cursor}`));
          expect(response.data.length).toBeLessThanOrEqual(limit);
          expect(response.nextCursor !== null).toBe(response.hasMore);
          seen.push(...idsOf(response));
          cursor = response.nextCursor;
          const { added, removed } = steps[turn] ?? { added: 0, removed: [] };
          for (let made = 0; made < added; made += 1) add('ent_000002');
          for (const at of removed) {
            const rows = sandbox.counterparties.list();
            const victim = rows[at % Math.max(1, rows.length)];
            if (victim !== undefined) sandbox.counterparties.delete(victim.id);
          }
        }
        expect(seen).toEqual([...new Set(seen)].toSorted());
        const left = new Set(sandbox.counterparties.list().map(({ id }) => id));
        const stayed = initial.map(({ id }) => id).filter((id) => left.has(id));
        expect(seen).toEqual(expect.arrayContaining(stayed));
      },
    ),
    { numRuns: 60 },
  );
});
