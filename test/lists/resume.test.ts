import {
  BadRequestError,
  ConnectionError,
  InvalidResponseError,
  isPaymentsError,
  PaginationError,
  ServerError,
  PaymentsClient,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { errorBody, html, page, transferNumber } from '../support/values.ts';
import type { ResumePoint } from '../../src/errors/errors.ts';

const all = Array.from({ length: 11 }, (_, index) => `txfr_${index}`);

/** A platform of eleven transfers, three a page, with one failed request. */
function troubled(
  at: number,
  trouble: () => Response | Promise<Response>,
): { payments: PaymentsClient; cursors: (string | null)[] } {
  const cursors: (string | null)[] = [];
  let troubles = 1;
  const { payments } = clientOf(
    (request) => {
      const { searchParams } = new URL(request.url);
      const cursor = searchParams.get('cursor');
      cursors.push(cursor);
      const start = Number(cursor?.slice(1) ?? 0);
      if (start === at && troubles > 0) {
        troubles -= 1;
        return trouble();
      }
      const end = start + Number(searchParams.get('limit'));
      const data = all.slice(start, end).map((_, index) => transferNumber(start + index));
      return respond(200, page(data, end < all.length ? `c${end}` : null));
    },
    { maxRetries: 0 },
  );
  return { payments, cursors };
}

/** Reads a list to its end and resumes after an error. */
async function readThrough(
  payments: PaymentsClient,
  how: 'items' | 'pages',
): Promise<{ ids: string[]; resumes: ResumePoint[] }> {
  const resumes: ResumePoint[] = [];
  const ids: string[] = [];
  let query: { limit: number; cursor?: string | undefined } = { limit: 3 };
  for (let turn = 0; turn < 3; turn += 1) {
    try {
      const list = payments.transfers.list(query);
      if (how === 'items') for await (const { id } of list) ids.push(id);
      else for await (const { data } of list.pages()) ids.push(...data.map(({ id }) => id));
      return { ids, resumes };
    } catch (error) {
      if (!isPaymentsError(error) || error.resume === undefined) throw error;
      resumes.push(error.resume);
      expect(error.resume.itemsYielded).toBe(ids.length);
      query = { limit: error.resume.limit ?? 0, cursor: error.resume.cursor };
    }
  }
  throw new Error('The list never ended.');
}

test.each<[string, () => Response | Promise<Response>]>([
  ['a response with status 400', () => respond(400, errorBody)],
  ['a response with status 503', () => respond(503, errorBody)],
  ['a broken connection', () => Promise.reject(new Error('gone'))],
  ['an HTML page', () => respond(200, html)],
])('a list resumed from error.resume after %s loses and repeats nothing', async (_, trouble) => {
  for (const how of ['items', 'pages'] as const) {
    for (const at of [3, 6, 9]) {
      const { payments, cursors } = troubled(at, trouble);
      const { ids, resumes } = await readThrough(payments, how);
      expect(ids).toEqual(all);
      expect(resumes).toEqual([{ cursor: `c${at}`, limit: 3, itemsYielded: at }]);
      // The failed page is requested again.
      expect(cursors.filter((cursor) => cursor === `c${at}`)).toHaveLength(2);
    }
  }
});

test.each([
  ['without a next cursor', null],
  ['with the cursor of a page that the list has already requested', 'c3'],
])('a resumed list requests again the page that arrived %s', async (_, cursor) => {
  for (const how of ['items', 'pages'] as const) {
    for (const at of [3, 6]) {
      const data = [at, at + 1, at + 2].map(transferNumber);
      const { payments } = troubled(at, () => respond(200, page(data, cursor, true)));
      const { ids, resumes } = await readThrough(payments, how);
      expect(resumes).toEqual([{ cursor: `c${at}`, limit: 3, itemsYielded: at + 3 }]);
      // The items of the page were valid, so the resumed list yields them a second time.
      expect(ids).toEqual([...all.slice(0, at + 3), ...all.slice(at)]);
    }
  }
});

test('a list resumes at its first page if that page failed', async () => {
  const { payments } = troubled(0, () => respond(503, errorBody));
  const { ids, resumes } = await readThrough(payments, 'items');
  expect(ids).toEqual(all);
  expect(resumes).toEqual([{ cursor: undefined, limit: 3, itemsYielded: 0 }]);
});

test("error.resume has the list's own cursor if its first page failed", async () => {
  const { payments } = troubled(6, () => respond(400, errorBody));
  const list = payments.transfers.list({ limit: 3, cursor: 'c6' });
  const error = await failureOf(list.toArray({ max: 99 }), BadRequestError);
  expect(error.resume).toEqual({ cursor: 'c6', limit: 3, itemsYielded: 0 });
});

test.each([
  [() => respond(503, errorBody), ServerError],
  [() => Promise.reject(new Error('gone')), ConnectionError],
  [() => respond(200, '{'), InvalidResponseError],
  [() => respond(200, page([], null, true)), PaginationError],
] as const)('the error for a failed page has the field `resume` (%#)', async (trouble, kind) => {
  const { payments } = troubled(3, trouble as () => Response);
  const list = payments.transfers.list({ limit: 3 });
  const error = await failureOf(list.toArray({ max: 99 }), kind as typeof ServerError);
  const resume = { cursor: 'c3', limit: 3, itemsYielded: 3 };
  expect(error.resume).toEqual(resume);
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ resume });
});

test('the error of get() has no field `resume`', async () => {
  const { payments } = clientOf(() => respond(400, errorBody));
  expect(await failureOf(payments.transfers.get('txfr_1'))).not.toHaveProperty('resume');
});

test('a loop over a list retries a temporarily failing page', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const sandbox = new Sandbox();
  const payments = new PaymentsClient(sandbox.clientOptions);
  const entity = await payments.entities.create({ email: 'ada@example.com' });
  for (let number = 0; number < 7; number += 1) {
    await payments.accounts.create({ entityId: entity.id, name: `Account ${number}` });
  }
  // Each fault applies once, and the retry succeeds.
  for (const after of [1, 3]) {
    sandbox.faults.add({
      operation: 'accounts.list',
      after,
      fault: { kind: 'status', status: 503 },
    });
  }
  sandbox.faults.add({
    operation: 'accounts.list',
    after: 5,
    fault: { kind: 'reset', when: 'before_commit' },
  });
  const names: string[] = [];
  for await (const { name } of payments.accounts.list({ limit: 2 })) names.push(name);
  expect(sandbox.log.filter(({ fault }) => fault !== undefined)).toHaveLength(3);
  expect(names.toSorted()).toEqual(Array.from({ length: 7 }, (_, number) => `Account ${number}`));
});
