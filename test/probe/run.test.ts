import { describe, expect, test } from 'vitest';
import { checks } from '../../src/commands/probe/checks.ts';
import { PlatformReader, ProbeEnded } from '../../src/commands/probe/platform-reader.ts';
import { formatReport } from '../../src/commands/probe/report.ts';
import { deviatingPlatforms, recognise } from './deviations.ts';
import {
  factsOf,
  isList,
  pathOf,
  setup,
  withJson,
  withRecords,
  type Deviation,
} from './platforms.ts';

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

describe('the requests of payments-probe', () => {
  test('the probe sends no write unless you tell it to pay', async () => {
    const { probe, requests, writes } = setup();
    const { report } = await probe();
    expect(writes()).toEqual([]);
    expect(report.requests).toBe(requests.length);
    expect(requests.length).toBeGreaterThan(8);
    const gaps = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(250);
  });

  test('the probe pays once, or twice with one Idempotency-Key', async () => {
    const keys: unknown[] = [];
    const deviation: Deviation = (request, next) => {
      if (request.method === 'POST') keys.push(request.headers.get('idempotency-key'));
      return next();
    };
    for (const twice of [false, true]) {
      const { probe, writes, sandbox } = setup({ deviation });
      const before = sandbox.transfers.list().length;
      await probe({ twice });
      expect(new Set(writes().map(({ url }) => url.pathname))).toEqual(new Set(['/v0/transfers']));
      expect(sandbox.transfers.list().length - before).toBe(twice ? 2 : 1);
    }
    expect(keys).toEqual([null, expect.stringMatching(/^probe-\w{8}$/), keys[1]]);
  });

  test('the probe sends an honoured Idempotency-Key again with another amount', async () => {
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

  test('the probe makes at most three transfers despite misleading ids', async () => {
    const respond = recognise(({ key }) => key, undefined, true);
    // Four transfers a page, so that the first match and the second are on different pages.
    const { probe, sandbox } = setup({ deviation: withPagesOf(4, respond), transfers: 20 });
    const { report } = await probe({ twice: true });
    const made = sandbox.transfers.list().slice(20);
    expect(made.length).toBe(3);
    expect(report.options.platform).toEqual({});
    expect(report.rows.find(({ row }) => row === 51)?.seen).toBe(
      `Not honoured: the list has a transfer that no response named. Made: ${made
        .map(({ id, amount }) => `${id} of ${amount}`)
        .join(', ')}.`,
    );
  });

  test.each([
    ['longer than eight pages', 1, {}],
    ['without descriptions', 100, { description: null }],
  ])('the probe suggests no idempotencyHeader if the list is %s', async (_, size, change) => {
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
    expect(probed.report.options.platform['idempotencyHeader']).toBeUndefined();
    expect(writes().length).toBe(3);
  });

  test('the probe ends on endless lists and still watches its payment', async () => {
    let cursor = 0;
    const { probe, requests } = setup({
      deviation: async (request, next) => {
        if (!isList(request) || requests.length > 101) return next();
        cursor += 1;
        const url = new URL(request.url);
        url.searchParams.delete('cursor');
        return withJson(await next(new Request(url, request)), ({ data }) => ({
          data: (data as unknown[]).slice(0, 20),
          hasMore: true,
          nextCursor: `page-${cursor}`,
        }));
      },
    });
    const probed = await probe({});
    expect(probed.report.requests).toBeGreaterThan(100);
    expect(factsOf(probed)['60 Does a description come back unchanged?']).toBe('confirmed: Yes.');
  });

  test('the probe sends 100 reads, and 80 more for a payment', async () => {
    const { payments, probeClock, requests } = setup({ transfers: 1 });
    const platform = new PlatformReader(payments, probeClock);
    const readAll = async () => {
      while ((await platform.read('/transfers', { limit: 1 })).problem === undefined);
    };
    await readAll();
    expect([requests.length, platform.requests]).toEqual([100, 100]);
    await expect(platform.write(() => Promise.resolve())).rejects.toThrow('the limit of requests');
    platform.allowPayment();
    await readAll();
    expect(requests.length).toBe(180);
  });
});

describe('the order of transfers in payments-probe', () => {
  test.each([
    ['oldest_first', 'found: Oldest first.', {}],
    ['newest_first', 'found: Newest first.', { transfersNewestFirst: true }],
    ['shuffled', 'found: No order by createdAt.', {}],
  ] as const)('the probe reports the list order %s', async (listOrder, fact, options) => {
    const probed = await setup({ listOrder }).probe();
    expect(factsOf(probed)[order]).toBe(fact);
    expect(probed.report.options.platform).toEqual(options);
  });

  test('the probe reads 1,000 transfers to find the list order', async () => {
    const probed = await setup({
      listOrder: 'newest_first',
      transfers: 1_150,
      gapMs: 20_000,
    }).probe();
    const row = probed.report.rows.find((each) => each.row === 54);
    expect(row?.seen).toBe('Newest first. 1,000 transfers on 10 pages, not all.');
    expect(probed.report.options.platform).toEqual({ transfersNewestFirst: true });
  });

  test('the probe suggests transfersNewestFirst only after 100 transfers with different times', async () => {
    const few = await setup({ listOrder: 'newest_first', transfers: 60 }).probe();
    expect([factsOf(few)[order], few.report.options.platform]).toEqual([
      'found: Newest first.',
      {},
    ]);
    const atOnce = await setup({ listOrder: 'newest_first', gapMs: 0 }).probe();
    expect(factsOf(atOnce)[order]).toMatch(/^unknown: Too few transfers with different times; 100/);
  });

  test('the probe suggests no transfersNewestFirst if one account’s list differs', async () => {
    const deviation: Deviation = async (request, next) => {
      const response = await next();
      if (!new URL(request.url).searchParams.has('accountId')) return response;
      return withJson(response, (body) => ({
        ...body,
        data: (body['data'] as unknown[]).toReversed(),
      }));
    };
    const probed = await setup({ deviation, listOrder: 'newest_first' }).probe();
    expect([factsOf(probed)[order], probed.report.options.platform]).toEqual([
      'found: Newest first.',
      {},
    ]);
  });

  test('the probe notices wrong order among transfers of a few seconds', async () => {
    const probed = await setup({ listOrder: 'shuffled', gapMs: 100 }).probe();
    expect(factsOf(probed)[order]).toBe('found: No order by createdAt.');
  });

  test('the probe withdraws transfersNewestFirst if its payment has an old time', async () => {
    const behind = deviatingPlatforms.find(({ name }) => name.includes('local time behind UTC'));
    const platform = { deviation: behind?.respond, listOrder: 'newest_first' } as const;
    const { report: before } = await setup(platform).probe();
    expect(before.options.platform).toEqual({ transfersNewestFirst: true });
    expect((await setup(platform).probe({})).report.options.platform).toEqual({});
  });
});

describe('the pages of the transfer list in payments-probe', () => {
  const whole = '59 Does the list of transfers show each one, and end?';
  const many = { transfers: 400, gapMs: 20_000 };

  test('the probe notices a transfer that only pages of 100 omit', async () => {
    const deviation: Deviation = async (request, next) => {
      const response = await next();
      if (new URL(request.url).searchParams.get('limit') !== '100') return response;
      return withJson(response, (body) =>
        body['hasMore'] === true
          ? { ...body, data: (body['data'] as unknown[]).slice(0, -1) }
          : body,
      );
    };
    expect(factsOf(await setup({ ...many, deviation }).probe())[whole]).toBe(
      'contradicted: No: pages of another size show 1 other transfer.',
    );
  });

  test('the probe ignores a transfer made between two readings', async () => {
    let requests = 0;
    const platform = setup({
      ...many,
      listOrder: 'newest_first',
      deviation: (_, next) => {
        requests += 1;
        platform.sandbox.transfers.create({
          sourceAccountId: 'acc_000001',
          destinationAccountId: 'acc_000004',
          amount: '0.50',
          description: `meanwhile ${requests}`,
        });
        return next();
      },
    });
    const { report } = await platform.probe();
    expect(report.rows.find(({ row }) => row === 59)?.seen).toMatch(
      /^Yes\. \d+ transfers, by 100 and by 97 a page\.$/,
    );
  });

  test.each([
    [0, 'unknown: The check needs two transfers from one account.'],
    [4, 'confirmed: Yes.'],
  ])(
    'the probe judges pages only if one account has two transfers: %i',
    async (transfers, fact) => {
      expect(factsOf(await setup({ transfers }).probe())[whole]).toBe(fact);
    },
  );
});

describe('payments-probe on a platform in trouble', () => {
  const baseline = setup().probe().then(factsOf);

  test.each([
    { kind: 'status', status: 503 },
    { kind: 'status', status: 429, retryAfter: 1 },
    { kind: 'html', status: 502 },
    { kind: 'reset', when: 'before_commit' },
    { kind: 'truncated_body' },
  ] as const)('the probe reports the same if each read fails once with $kind', async (fault) => {
    const { probe, sandbox } = setup();
    for (const operation of ['transfers.list', 'transfers.get', 'accounts.get'] as const) {
      sandbox.faults.add({ operation, fault });
    }
    expect(factsOf(await probe())).toEqual(await baseline);
  });

  test('the probe waits as long as Retry-After says', async () => {
    const { probe, requests, sandbox } = setup();
    const fault = { kind: 'status', status: 429, retryAfter: 20 } as const;
    sandbox.faults.add({ operation: 'transfers.list', fault });
    await probe();
    const [first, second] = requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(20_000);
  });

  const reject = (status: number, headers?: Record<string, string>) =>
    Response.json({ error: 'No.', code: 'no' }, { status, headers: { ...headers } });
  const html = { 'content-type': 'text/html' };

  test.each<[what: string, respond: Deviation, message: string, requests: number]>([
    ['asks for an hour', () => reject(429, { 'retry-after': '3600' }), 'a wait of 60 minutes', 1],
    ['rejects the key', () => reject(401), 'rejected PAYMENTS_API_KEY (401 at GET /transfers)', 1],
    ['is silent', () => Promise.reject(new Error('gone')), 'not respond: ConnectionError', 3],
    [
      'is a page of HTML',
      () => new Response('<html>', { status: 404, headers: html }),
      'The list of transfers cannot be read: GET /transfers is 404 (text/html)',
      1,
    ],
  ])('the probe ends by itself if the platform %s', async (_, deviation, message, count) => {
    const { probe, requests } = setup({ deviation });
    expect(await endOf(probe())).toContain(message);
    expect(requests.length).toBe(count);
  });

  test('the probe ends with an error if the platform dies', async () => {
    let count = 0;
    const { probe, requests } = setup({
      deviation: (_, next) => {
        count += 1;
        return count > 3 ? new Response('', { status: 502 }) : next();
      },
    });
    expect(await endOf(probe())).toContain('does not respond');
    expect(requests.length).toBe(3 + 9);
  });

  test.each([403, 404])(
    'the probe pays nothing if reading the account of --to gives %i',
    async (status) => {
      const { probe, writes } = setup({
        deviation: (request, next) =>
          pathOf(request) === '/v0/accounts/acc_000002' ? reject(status) : next(),
      });
      expect(await endOf(probe({}))).toBe(
        `--to acc_000002 is no account that this key can read: ${status} no\nNothing was paid.`,
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

  test.each([422, 429])('is not sent again if the platform rejects it with %i', async (status) => {
    const { probe, writes, sandbox } = setup();
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status } });
    const probed = await probe({ twice: true });
    expect(new Set(pay(factsOf(probed)))).toEqual(new Set(['unknown: The transfer was not made.']));
    expect(writes().length).toBe(1);
    expect(factsOf(probed)['51 Is Idempotency-Key honoured?']).toMatch(/^unknown/);
  });

  test('is found, and not sent again, if its response is lost', async () => {
    const { probe, writes, sandbox } = setup({ listOrder: 'newest_first' });
    const fault = { kind: 'reset', when: 'after_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    const facts = factsOf(await probe({ twice: true }));
    expect(facts['60 Does a description come back unchanged?']).toBe('confirmed: Yes.');
    expect(facts['61 How soon is a new transfer listed?']).toBe('found: Within 10 seconds.');
    expect(writes().length).toBe(1);
  });

  test.each([201, 401, 403, 405, 502])(
    'is described in the report even if the response is HTML (%i)',
    async (status) => {
      const { probe, writes, sandbox } = setup({
        deviation: async (request, next) => {
          const response = await next();
          if (request.method !== 'POST') return response;
          return new Response('<html>', { status, headers: { 'content-type': 'text/html' } });
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

  test('is reported as unknown if neither response nor list shows it', async () => {
    const { probe, sandbox } = setup();
    const fault = { kind: 'reset', when: 'before_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    expect(new Set(pay(factsOf(await probe({}))))).toEqual(
      new Set(['unknown: It is unknown whether the transfer was made.']),
    );
  });

  test('is in the report even if the platform stops responding', async () => {
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
  test('the report has one row and one question for each check', async () => {
    const { report } = await setup().probe();
    expect(Object.keys(report)).toEqual(['platform', 'startedAt', 'requests', 'rows', 'options']);
    expect(report.platform).toBe('https://api.example.com/v0');
    expect(new Date(report.startedAt).toISOString()).toBe(report.startedAt);
    expect(report.rows.map(({ row, question }) => [row, question])).toEqual(
      checks.map(({ row, question }) => [row, question]),
    );
    const numbers = report.rows.map(({ row }) => row);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    expect(report.options).toEqual({ platform: {} });
    for (const each of report.rows) {
      expect(Object.keys(each)).toEqual(['row', 'question', 'result', 'seen']);
      expect(each.seen).toMatch(/^[A-Z0-9{].*\.$|^\w.*\.$/s);
    }
  });

  test('the report shows unmet expectations in red', async () => {
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
    expect(text).toMatch(/^platform: \{\n(  \/\/ .*\n)+  transfersNewestFirst: true,\n\},$/m);
    expect(formatReport(probed, false)).not.toContain('\u001B');
  });

  test('the report contains no control character of the platform', async () => {
    const deviation: Deviation = async (_, next) =>
      withRecords(await next(), (record) => ({
        ...record,
        description: 'red\u001B[31m\u2028process.exit()',
      }));
    const text = formatReport(await setup({ deviation }).probe({}), false);
    expect(text).toContain('red?[31m?process.exit()');
    for (const control of ['\u001B', '\u2028']) expect(text).not.toContain(control);
  });
});
