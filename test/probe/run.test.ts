import { describe, expect, test } from 'vitest';
import { checks } from '../../src/commands/probe/checks.ts';
import { nouns } from '../../src/commands/probe/lists.ts';
import { Platform, ProbeEnded } from '../../src/commands/probe/platform.ts';
import { compareReports, formatChanges, formatReport } from '../../src/commands/probe/report.ts';
import { endpoints } from '../support/interface.ts';
import { recognise } from './deviations.ts';
import {
  factsOf,
  isList,
  pathOf,
  setup,
  withJson,
  withRecords,
  type Deviation,
} from './platforms.ts';

const codes = '46 Which codes do errors have?';
const order = '54 In which order are transfers listed?';

/** A platform that puts so many records on a page at most. */
const withPagesOf =
  (size: number, deviation: Deviation): Deviation =>
  (request, next, clock) => {
    if (!isList(request)) return deviation(request, next, clock);
    const url = new URL(request.url);
    url.searchParams.set('limit', String(Math.min(size, Number(url.searchParams.get('limit')))));
    return deviation(
      new Request(url, request),
      (changedRequest = new Request(url, request)) => next(changedRequest),
      clock,
    );
  };

/** The message that ends a probe. */
async function endOf(probe: Promise<unknown>): Promise<string> {
  const error: unknown = await probe.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProbeEnded);
  return (error as Error).message;
}

test('payments-probe reads every list of the platform that has a cursor, and checks every filter of these lists', () => {
  const lists = endpoints.filter(
    ({ operation, base }) => base === 'versioned' && operation.endsWith('.list'),
  );
  expect(nouns.map(({ path }) => path)).toEqual(lists.map(({ path }) => path));
  const filters = lists.flatMap(({ path, query }) =>
    query
      .filter((parameter) => parameter !== 'cursor' && parameter !== 'limit')
      .map((parameter) => `Does GET ${path} filter by ${parameter}?`),
  );
  expect(checks.map(({ question }) => question)).toEqual(expect.arrayContaining(filters));
});

describe('the requests of payments-probe, the command that tries how a platform behaves', () => {
  test('the probe sends no write unless you tell the probe to pay, and waits at least 250 ms between requests', async () => {
    const { probe, requests, writes } = setup();
    const { report } = await probe();
    expect(writes()).toEqual([]);
    expect(report.requests).toBe(requests.length);
    expect(requests.length).toBeGreaterThan(20);
    const gaps = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(250);
  });

  test.each([
    [false, 1],
    [true, 2],
  ])(
    'the probe makes two payments if the option twice is true, and otherwise one payment: %s',
    async (twice, payments) => {
      const { probe, writes, sandbox } = setup();
      const before = sandbox.exportState().transfers.length;
      await probe({ twice });
      expect(writes().map(({ method, url }) => `${method} ${url.pathname}`)).toEqual(
        Array.from({ length: payments }, () => 'POST /v0/transfers'),
      );
      expect(sandbox.exportState().transfers.length - before).toBe(payments);
    },
  );

  test('the probe sends the same Idempotency-Key with both of two payments, and no key with a single payment', async () => {
    const keys: unknown[] = [];
    const deviation: Deviation = (request, next) => {
      if (request.method === 'POST') keys.push(request.headers.get('idempotency-key'));
      return next();
    };
    await setup({ deviation }).probe({ twice: true });
    expect(keys).toEqual([expect.stringMatching(/^probe-\w{8}$/), keys[0]]);
    await setup({ deviation }).probe({});
    expect(keys.at(-1)).toBeNull();
  });

  test('if a platform honours the Idempotency-Key, the probe sends the same key with another amount, and at the end a new key', async () => {
    const sent: [key: string | null, amount: string][] = [];
    const deviation: Deviation = async (request, next, clock) => {
      if (request.method === 'POST') {
        const { amount } = (await request.clone().json()) as { amount: string };
        sent.push([request.headers.get('idempotency-key'), amount]);
      }
      return recognise(({ key }) => key)(request, next, clock);
    };
    const { probe, sandbox } = setup({ deviation, transfers: 20 });
    const { report } = await probe({ twice: true });
    const [key] = sent[0] ?? [];
    expect(sent).toEqual([
      [key, '0.01'],
      [key, '0.02'],
      [key, '0.01'],
      [expect.not.stringMatching(`^${key}$`), '0.02'],
    ]);
    const [first, control] = sandbox.transfers.list().slice(20);
    expect(report.rows.find(({ row }) => row === 51)?.seen).toBe(
      `Honoured. Made: ${first?.id} of 0.01, ${control?.id} of 0.02.`,
    );
    expect(sandbox.transfers.list().length).toBe(22);
  });

  test('the probe makes at most three transfers on a platform that returns the first id for the same Idempotency-Key but pays again', async () => {
    const respond = recognise(({ key }) => key, undefined, true);
    // Four transfers a page, so that the first match and the second are on different pages.
    const { probe, sandbox } = setup({ deviation: withPagesOf(4, respond), transfers: 20 });
    const { report } = await probe({ twice: true });
    const made = sandbox.transfers.list().slice(20);
    expect(made.length).toBe(3);
    expect(report.options).toEqual({});
    expect(report.rows.find(({ row }) => row === 51)?.seen).toBe(
      `Not honoured: the list has a transfer that no response named. Made: ${made
        .map(({ id, amount }) => `${id} of ${amount}`)
        .join(', ')}.`,
    );
  });

  test.each([
    ['longer than eight pages', 1, {}],
    ['without descriptions', 100, { description: null }],
  ])(
    'the probe does not suggest the client option idempotencyHeader if the list of transfers is %s',
    async (_, size, change) => {
      const deviation: Deviation = async (request, next, clock) => {
        const response = await recognise(({ key }) => key)(request, next, clock);
        return withRecords(response, (record) => ({ ...record, ...change }));
      };
      const { probe, writes } = setup({
        deviation: withPagesOf(size, deviation),
        transfers: 40,
        listOrder: 'newest_first',
      });
      const probed = await probe({ twice: true });
      expect(factsOf(probed)['51 Is Idempotency-Key honoured?']).toBe(
        'unknown: Unclear: the list could not be read to its end, or lacks a transfer.',
      );
      expect(probed.report.options['idempotencyHeader']).toBeUndefined();
      expect(writes().length).toBe(3);
    },
  );

  test('the probe sends at most 200 requests to a platform with endless lists', async () => {
    const { probe, requests } = setup({
      deviation: async (request, next, clock) => {
        if (!isList(request)) return next();
        const cursor = `at-${clock.now()}`;
        const url = new URL(request.url);
        url.searchParams.delete('cursor');
        if (url.searchParams.get('limit') === '100') url.searchParams.set('limit', '20');
        return withJson(await next(new Request(url, request)), (body) => ({
          ...body,
          hasMore: true,
          nextCursor: cursor,
        }));
      },
    });
    const { report } = await probe({ twice: true });
    expect(requests.length).toBe(report.requests);
    expect(report.requests).toBeLessThanOrEqual(200);
  });

  test('the probe sends no 201st request, neither a read nor a payment', async () => {
    const { payments, probeClock, requests } = setup({ transfers: 1 });
    const platform = new Platform(payments, probeClock);
    for (let count = 0; count < 205; count += 1) await platform.read('/transfers', { limit: 1 });
    expect([requests.length, platform.requests]).toEqual([200, 200]);
    expect((await platform.read('/accounts')).problem).toContain('the limit of 200 requests');
    await expect(platform.write(() => Promise.resolve())).rejects.toThrow('the limit of 200');
    expect(platform.writes).toBe(0);
  });

  test('the probe makes no payment if fewer than 80 of its 200 requests are left to watch the payment', async () => {
    const tries = new Map<string, number>();
    const { probe, writes } = setup({
      transfers: 20,
      deviation: async (request, next) => {
        const count = (tries.get(request.url) ?? 0) + 1;
        tries.set(request.url, count);
        if (count < 3) return Response.json({ error: 'Later.', code: 'busy' }, { status: 503 });
        const url = new URL(request.url);
        const page = Number(url.searchParams.get('cursor') ?? 0);
        url.searchParams.delete('cursor');
        const response = await next(new Request(url, request));
        const hasMore = isList(request) && page < 20;
        return withJson(response, (body) =>
          hasMore ? { ...body, hasMore, nextCursor: String(page + 1) } : body,
        );
      },
    });
    const { report } = await probe({});
    expect(report.requests).toBeGreaterThan(120);
    expect(writes()).toEqual([]);
    expect(report.rows.find(({ row }) => row === 60)?.seen).toBe(
      'Not tried: too few of 200 requests were left.',
    );
  });
});

describe('the order of the list of transfers that payments-probe reports', () => {
  test.each([
    ['oldest_first', 'found: Oldest first.', {}],
    ['newest_first', 'found: Newest first.', { transfersNewestFirst: true }],
    ['shuffled', 'found: No order by createdAt.', {}],
  ] as const)(
    'the probe reports that the platform lists transfers in the order %s',
    async (listOrder, fact, options) => {
      const probed = await setup({ listOrder }).probe();
      expect(factsOf(probed)[order]).toBe(fact);
      expect(probed.report.options).toEqual(options);
    },
  );

  test('the probe reads only 1,000 transfers of a longer list to find the order of the list', async () => {
    const probed = await setup({
      listOrder: 'newest_first',
      transfers: 1_150,
      gapMs: 20_000,
    }).probe();
    const row = probed.report.rows.find((each) => each.row === 54);
    expect(row?.seen).toBe('Newest first. 1,000 transfers on 10 pages, not all.');
    expect(probed.report.options).toEqual({ transfersNewestFirst: true });
  });

  test('the probe suggests transfersNewestFirst only if it saw at least 100 transfers, and reports an order only if they have at least ten different createdAt', async () => {
    const few = await setup({ listOrder: 'newest_first', transfers: 60 }).probe();
    expect([factsOf(few)[order], few.report.options]).toEqual(['found: Newest first.', {}]);
    const atOnce = await setup({ listOrder: 'newest_first', gapMs: 0 }).probe();
    expect(factsOf(atOnce)[order]).toMatch(/^unknown: Too few transfers with different times; 100/);
  });

  test('the probe does not suggest transfersNewestFirst if the list of one account has another order', async () => {
    const deviation: Deviation = async (request, next) => {
      const response = await next();
      if (!new URL(request.url).searchParams.has('accountId')) return response;
      return withJson(response, (body) => ({
        ...body,
        data: (body['data'] as unknown[]).toReversed(),
      }));
    };
    const probed = await setup({ deviation, listOrder: 'newest_first' }).probe();
    expect([factsOf(probed)[order], probed.report.options]).toEqual(['found: Newest first.', {}]);
  });

  test('the probe reports that a list has no order even if the disordered transfers were created within a few seconds', async () => {
    const probed = await setup({ listOrder: 'shuffled', gapMs: 100 }).probe();
    expect(factsOf(probed)[order]).toBe('found: No order by createdAt.');
  });

  test('the probe does not suggest transfersNewestFirst if createdAt of its own payment is hours in the past', async () => {
    const hours = 3_600_000;
    const deviation: Deviation = async (request, next) =>
      withJson(await next(), (body) => {
        const shift = (each: Record<string, unknown>) => ({
          ...each,
          createdAt: new Date(Date.parse(String(each['createdAt'])) - 5 * hours).toISOString(),
        });
        if (!pathOf(request).startsWith('/v0/transfers') || 'error' in body) return body;
        const { data } = body;
        return Array.isArray(data) ? { ...body, data: data.map(shift) } : shift(body);
      });
    const platform = { deviation, listOrder: 'newest_first' } as const;
    expect((await setup(platform).probe()).report.options).toEqual({ transfersNewestFirst: true });
    expect((await setup(platform).probe({})).report.options).toEqual({});
  });
});

describe('payments-probe on a platform in trouble', () => {
  const baseline = setup().probe().then(factsOf);

  test.each([
    { kind: 'status', status: 503 },
    { kind: 'status', status: 429, retryAfter: 1 },
    { kind: 'html', status: 502 },
    { kind: 'reset', when: 'before_commit' },
    { kind: 'truncated_body' },
  ] as const)(
    'the probe reports the same results even if reads of transfers and accounts fail once with the fault $kind',
    async (fault) => {
      // An error that was cut is no evidence, and a rejected read is not sent again.
      const isCut = fault.kind === 'truncated_body';
      const { [codes]: allCodes = '', ...others } = await baseline;
      const expectedCodes = isCut ? allCodes.replace('account_not_found, ', '') : allCodes;
      const { probe, sandbox } = setup();
      for (const operation of ['transfers.list', 'accounts.list', 'accounts.get'] as const) {
        sandbox.faults.add({ operation, fault });
      }
      expect(factsOf(await probe())).toEqual({ ...others, [codes]: expectedCodes });
    },
  );

  test('the probe waits after a 429 for as long as Retry-After says', async () => {
    const { probe, requests, sandbox } = setup();
    const fault = { kind: 'status', status: 429, retryAfter: 20 } as const;
    sandbox.faults.add({ operation: 'accounts.list', fault });
    await probe(undefined, false);
    const [first, second] = requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(20_000);
  });

  test('the probe ends with an error if Retry-After asks for a wait of more than five minutes', async () => {
    const { probe, requests, sandbox } = setup();
    const fault = { kind: 'status', status: 429, retryAfter: 3_600 } as const;
    sandbox.faults.add({ operation: 'accounts.list', fault });
    expect(await endOf(probe(undefined, false))).toContain('a wait of 60 minutes');
    expect(requests.length).toBe(1);
  });

  test.each([
    ['PAYMENTS_API_KEY', '/accounts', (path: string) => path.startsWith('/v0/')],
    ['PAYMENTS_JWT', '/transactions', (path: string) => !path.startsWith('/v0/')],
  ])(
    'the probe ends at the first 401, and names the environment variable with the rejected credential: %s',
    async (variable, path, isRejected) => {
      let rejections = 0;
      const { probe } = setup({
        deviation: (request, next) => {
          if (!isRejected(pathOf(request))) return next();
          rejections += 1;
          return Response.json({ error: 'No.', code: 'unauthorized' }, { status: 401 });
        },
      });
      const message = await endOf(probe());
      expect(message).toContain(`rejected ${variable} (401 at GET ${path})`);
      expect(rejections).toBe(1);
    },
  );

  test('the probe ends after three requests without a response', async () => {
    const { probe, requests } = setup({ deviation: () => Promise.reject(new Error('gone')) });
    expect(await endOf(probe({}, false))).toMatch(
      /^The platform does not respond: ConnectionError/,
    );
    expect(requests.length).toBe(3);
  });

  test('the probe ends with an error if the platform stops responding after some requests', async () => {
    let count = 0;
    const { probe, requests } = setup({
      deviation: (_, next) => {
        count += 1;
        return count > 12 ? new Response('', { status: 502 }) : next();
      },
    });
    expect(await endOf(probe())).toContain('does not respond');
    expect(requests.length).toBe(12 + 9);
  });

  test('the probe ends with an error if the URL responds with HTML pages instead of lists', async () => {
    const { probe, writes } = setup({
      deviation: () =>
        new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } }),
    });
    const message = await endOf(probe(undefined, false));
    expect(message).toContain(
      'No list of the platform can be read: GET /accounts is 404 (text/html)',
    );
    expect(writes()).toEqual([]);
  });

  test.each([403, 404])(
    'the probe pays nothing if the platform responds to a read of the account of --to with %i',
    async (status) => {
      const { probe, writes } = setup({
        deviation: (request, next) =>
          pathOf(request) === '/v0/accounts/acc_000002'
            ? Response.json({ error: 'No.', code: 'nothing_here' }, { status })
            : next(),
      });
      expect(await endOf(probe({}))).toBe(
        `--to acc_000002 is no account that this key can read: ${status} nothing_here\nNothing was paid.`,
      );
      expect(writes()).toEqual([]);
    },
  );
});

describe('a payment of payments-probe', () => {
  const pay = (rows: Record<string, string>) =>
    Object.values(checks)
      .filter(({ needs }) => needs === 'pay')
      .map(({ row, question }) => rows[`${row} ${question}`]);

  test.each([422, 429])(
    'is not sent again if the platform rejects the payment with %i',
    async (status) => {
      const { probe, writes, sandbox } = setup();
      sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status } });
      const probed = await probe({ twice: true });
      expect(new Set(pay(factsOf(probed)))).toEqual(
        new Set(['unknown: The transfer was not made.']),
      );
      expect(writes().length).toBe(1);
      expect(factsOf(probed)['51 Is Idempotency-Key honoured?']).toMatch(/^unknown/);
    },
  );

  test('is found in the list, and not sent again, if its response is lost', async () => {
    const { probe, writes, sandbox } = setup({ listOrder: 'newest_first' });
    const fault = { kind: 'reset', when: 'after_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    const facts = factsOf(await probe({ twice: true }));
    expect(facts['60 Does a description come back unchanged?']).toBe('confirmed: Yes.');
    expect(facts['37 Which statuses does a transfer go through?']).toBe(
      'found: It ends as completed.',
    );
    expect(facts['61 How soon is a new transfer listed?']).toBe('found: Within 10 seconds.');
    expect(writes().length).toBe(1);
  });

  test.each([201, 401, 403, 405, 502])(
    'appears in the report with its description and how to look for it, if its response is an HTML page with %i',
    async (status) => {
      const { probe, writes, sandbox } = setup({
        deviation: async (request, next) => {
          const response = await next();
          if (request.method !== 'POST') return response;
          const headers = { 'content-type': 'text/html' };
          return new Response('<html>nginx</html>', { status, headers });
        },
      });
      const probed = await probe({ twice: true });
      const { description } = sandbox.transfers.list().at(-1) ?? {};
      const seen = probed.report.rows.find(({ row }) => row === 28)?.seen;
      expect(seen).toContain(`"${description}"`);
      expect(seen).toMatch(
        /Look for "Probe \w{8}" in all pages of GET \/transfers\?accountId=acc_/,
      );
      expect(factsOf(probed)['60 Does a description come back unchanged?']).toBe('confirmed: Yes.');
      expect(writes().length).toBe(1);
    },
  );

  test('is reported as unknown if the connection breaks and the list does not show the payment', async () => {
    const { probe, sandbox } = setup();
    const fault = { kind: 'reset', when: 'before_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    expect(new Set(pay(factsOf(await probe({}))))).toEqual(
      new Set(['unknown: It is unknown whether the transfer was made.']),
    );
  });

  test('appears in the report even if the platform stops responding after the payment', async () => {
    let isGone = false;
    const { probe, writes } = setup({
      deviation: async (request, next) => {
        if (isGone) return new Response('', { status: 502 });
        isGone = request.method === 'POST';
        return next();
      },
    });
    const facts = factsOf(await probe({}));
    expect(facts['28 Which status does a creation have?']).toBe('found: 201.');
    expect(facts['61 How soon is a new transfer listed?']).toMatch(/^unknown/);
    expect(writes().length).toBe(1);
  });
});

describe('the report of payments-probe', () => {
  test('the report has one row for each check, with the question of the check', async () => {
    const { report } = await setup().probe();
    expect(Object.keys(report)).toEqual(['platform', 'startedAt', 'requests', 'rows', 'options']);
    expect(report.platform).toBe('https://api.example.com/v0');
    expect(new Date(report.startedAt).toISOString()).toBe(report.startedAt);
    expect(report.rows.map(({ row, question }) => [row, question])).toEqual(
      checks.map(({ row, question }) => [row, question]),
    );
    for (const each of report.rows) {
      expect(Object.keys(each)).toEqual(['row', 'question', 'result', 'seen']);
      expect(each.seen).toMatch(/^[A-Z0-9{].*\.$|^\w.*\.$/s);
    }
  });

  test('the checks of the probe are in the order of the rows of docs/gaps.md', () => {
    const rows = checks.map(({ row }) => row);
    expect(rows).toEqual(rows.toSorted((one, other) => one - other));
  });

  test('the report groups its rows by result, and shows in red the expectations that the platform does not meet', async () => {
    const deviation: Deviation = async (_, next) => {
      const response = await next();
      response.headers.set('age', '9');
      return response;
    };
    const probed = await setup({ deviation, listOrder: 'newest_first' }).probe();
    const text = formatReport(probed, true);
    const titles = [...text.matchAll(/^(?:\S+31m)?(\w[\w ]+) \((\d+)\)$/gm)].map(
      ([, title]) => title,
    );
    expect(titles).toEqual(['Holds', 'Does not hold', 'Found', 'Unknown']);
    expect(text).toMatch(/\[31mDoes not hold[^]*A cache has responded[^]*\[39m/);
    expect(text).toContain('new PaymentsClient({\n  platform: {\n    // Row 54: ');
    expect(formatReport(probed, false)).not.toContain('\u001B');
  });

  test('the text of the report contains no control character that the platform has sent', async () => {
    const deviation: Deviation = async (_, next) =>
      withJson(await next(), (body) =>
        'code' in body ? { ...body, code: 'red\u001B[31m' } : { ...body, 'x\u001B[2J': 1 },
      );
    expect(formatReport(await setup({ deviation }).probe(), false)).not.toContain('\u001B');
  });

  test('the comparison of two reports lists the results that have changed, but not figures such as the number of transfers', async () => {
    const { report: before } = await setup().probe();
    const { report: same } = await setup({ transfers: 180, latency: 0 }).probe();
    expect(compareReports(before, same)).toEqual([]);
    expect(formatChanges([], before.startedAt)).toBe(
      `Nothing has changed since ${before.startedAt}.\n`,
    );
    const { report: after } = await setup({ listOrder: 'newest_first' }).probe();
    const changes = compareReports(before, after);
    expect(changes).toEqual([
      {
        row: 54,
        question: 'In which order are transfers listed?',
        before: 'found: Oldest first.',
        after: 'found: Newest first.',
      },
    ]);
    expect(formatChanges(changes, 'yesterday')).toContain('before  found: Oldest first.');
  });
});
