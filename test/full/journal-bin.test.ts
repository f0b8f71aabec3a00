import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { Pool } from 'pg';
import { PaymentsClient, version, type OnceInput } from 'payments-platform-sdk';
import {
  postgresJournal,
  postgresJournalTable,
  redisJournal,
  sqliteJournal,
  type FullJournal,
  type JournalEntry,
} from 'payments-platform-sdk/journals';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createClaim, createPaid, createPlatform, newInput } from '../stores/scenarios.ts';
import {
  missing,
  startPostgres,
  startRedis,
  startRedisCluster,
  type Server,
} from '../stores/servers.ts';
import { commandIn, fileOfCommand } from '../support/commands.ts';
import { installTarball } from '../support/tarball.ts';

// Runs the command payments-journal as a child process against real stores.

const bin = fileOfCommand('journals');
const folder = mkdtempSync(join(tmpdir(), 'payments-journal-bin-'));
/** Databases start slowly on a busy machine. */
const startTimeoutMs = 60_000;
const minute = 60_000;
const day = 1_440 * minute;

const { start, run, runOnTerminal } = commandIn(folder, bin, onTestFinished);

interface Store {
  readonly flags: readonly string[];
  readonly journal: FullJournal;
}

const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  rmSync(folder, { recursive: true, force: true });
});

function openSqlite(): Store {
  const path = join(folder, `${crypto.randomUUID()}.db`);
  const journal = sqliteJournal(path);
  closers.push(() => {
    journal.close();
  });
  return { flags: ['--sqlite', path], journal };
}

/** A claim that was made some minutes ago, or in the future. */
const claimAt = async (journal: FullJournal, minutes: number, fields: object = {}) => {
  const input: OnceInput = newInput();
  const now = await journal.now(input.description);
  const claimedAt = now - minutes * minute;
  const entry = createClaim(input, { claimedAt, expiresAt: claimedAt + 7 * minute, ...fields });
  await journal.swap(input.description, undefined, entry);
  return { input, reference: input.description, entry };
};

test('PostgreSQL and Redis are installed for the tests of payments-journal', () => {
  expect(missing, `apt-get install ${missing.join(' ')}`).toEqual([]);
});

const password = 'hunter2';

describe.skipIf(missing.length > 0)('payments-journal on a real store', () => {
  const stores = new Map<string, () => Store>([['SQLite', openSqlite]]);
  beforeAll(async () => {
    const postgres = await startPostgres();
    closers.push(() => postgres.close());
    const redisServer = await startRedis('--requirepass', password);
    closers.push(() => redisServer.close());
    const nodes = await startRedisCluster();
    closers.push(() => Promise.all(nodes.map((node) => node.close())));

    const pool = new Pool({ host: '127.0.0.1', port: postgres.port, user: 'postgres' });
    pool.on('error', () => {});
    closers.push(() => pool.end());
    await pool.query(postgresJournalTable);
    const postgresUrl = `postgres://postgres:${password}@127.0.0.1:${postgres.port}/postgres`;
    stores.set('PostgreSQL', () => ({
      flags: ['--postgres', postgresUrl],
      journal: postgresJournal((text, values) => pool.query(text, values)),
    }));

    const redis = new Redis({ port: redisServer.port, password });
    closers.push(() => {
      redis.disconnect();
    });
    stores.set('Redis', () => ({
      flags: ['--redis', `redis://:${password}@127.0.0.1:${redisServer.port}`],
      journal: redisJournal((name, ...args) => redis.call(name, ...args)),
    }));

    const cluster = new Cluster(nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    closers.push(() => {
      cluster.disconnect();
    });
    stores.set('a Redis Cluster', () => ({
      flags: ['--redis', `redis://127.0.0.1:${(nodes[1] as Server).port}`],
      journal: redisJournal((name, ...args) => cluster.call(name, ...args)),
    }));
  }, startTimeoutMs);

  const openStore = (name: string) => {
    const store = (stores.get(name) as () => Store)();
    const [flag = '', url = ''] = store.flags;
    return { ...store, flag, url };
  };
  /** A journal in a table of this name, in a schema that is created for it. */
  const openTable = async (table: string, sql = postgresJournalTable) => {
    const { flag, url } = openStore('PostgreSQL');
    const pool = new Pool({ connectionString: url });
    onTestFinished(() => pool.end());
    await pool.query(`CREATE SCHEMA ${table.split('.')[0]}`);
    await pool.query(sql.replaceAll(' payments_journal ', ` ${table} `));
    const journal = postgresJournal((text, values) => pool.query(text, values), { table });
    return { flag, url, pool, journal };
  };
  /** A client of the database with this number in the Redis of these tests. */
  const openRedis = (db: number, keyPrefix = '') => {
    const { flag, url } = openStore('Redis');
    const redis = new Redis(url, { db, keyPrefix });
    onTestFinished(() => redis.disconnect());
    return { redis, flags: [flag, `${url}/${db}`] };
  };

  describe.each(['SQLite', 'PostgreSQL', 'Redis', 'a Redis Cluster'])('with %s', (name) => {
    const open = () => openStore(name);

    test('`list` shows the open payments and exits with status 3', async () => {
      const { flags, journal } = open();
      expect(await run(['list', ...flags])).toEqual({
        status: 0,
        out: expect.stringMatching(/^No payment is open\. [^]* check --/),
        err: expect.stringMatching(/^The store has no entry at all\./),
      });
      const paid = newInput();
      await journal.swap(paid.description, undefined, createPaid(paid, 3));
      const young = await claimAt(journal, 1);
      const ambiguous = { state: 'ambiguous', candidates: ['txfr_1', 'txfr_2'] };
      const old = await claimAt(journal, 135, { host: 'worker-2\u001b[31m', ...ambiguous });
      const { status, out, err } = await run(['list', ...flags]);
      expect({ status, err }).toEqual({ status: 3, err: '' });
      expect(out.split('\n  npx')[0]).toBe(
        [
          'REFERENCE      STATE        AGE    HOST           AMOUNT      FROM        TO',
          `${old.reference}  ambiguous    2 h    worker-2?[31m  12.50 USDC  acc_000001  acc_000002`,
          `${young.reference}  in_progress  1 min  worker-1       12.50 USDC  acc_000001  acc_000002`,
          '',
          '2 payments are open, 25 USDC in all, the oldest for 2 h.',
          "Next, search the platform's list. This sends nothing:",
        ].join('\n'),
      );

      const json = await run(['list', '--json', ...flags]);
      expect(json).toMatchObject({ status: 3, err: '' });
      const client = new PaymentsClient({ ...createPlatform().clientOptions, journal });
      const listed: unknown[] = [];
      for await (const each of client.transfers.listUndecided()) listed.push(each);
      expect(JSON.parse(json.out)).toEqual(listed);

      const aged = await run(['list', '--json', '--older-than', '2h', ...flags]);
      expect(aged.status).toBe(3);
      expect(JSON.parse(aged.out)).toMatchObject([{ reference: old.reference }]);
      const none = await run(['list', '--json', '--older-than', '1d', ...flags]);
      expect(none).toEqual({ status: 0, out: '[]\n', err: '' });
      for (const { reference, entry } of [young, old]) {
        await journal.swap(reference, entry, undefined);
      }
    });

    test('`show` prints an entry, or exits with status 1', async () => {
      const { flags, journal } = open();
      const { reference, entry } = await claimAt(journal, 12 * 1_440);
      const result = await run(['show', reference, ...flags]);
      expect(result).toMatchObject({ status: 0, err: '' });
      expect(result.out).toMatch(new RegExp(`^${reference} is in doubt: `));
      expect(result.out).toMatch(/^ +first tried +\d{4}-\d\d-\d\d \S+ UTC \(12 days ago\)$/m);
      expect(result.out).toMatch(/^ +payment +12\.50 USDC from acc_000001 to acc_000002$/m);
      const json = await run(['show', reference, '--json', ...flags]);
      const { claimedAt, input } = entry as JournalEntry & { claimedAt: number };
      expect(JSON.parse(json.out)).toMatchObject({
        reference,
        claimedAt: new Date(claimedAt).toISOString(),
        firstClaimedAt: new Date(claimedAt).toISOString(),
        input,
      });
      const capitals = await run(['show', reference.toUpperCase(), '--json', ...flags]);
      expect(JSON.parse(capitals.out)).toMatchObject({ state: 'sending', input });
      expect(await run(['show', 'no such', ...flags])).toEqual({
        status: 1,
        out: '',
        err: 'The journal has no entry for "no such". Check its spelling and the journal.\n',
      });
      await journal.swap(reference, entry, undefined);
    });

    test('`show` prints the history of an entry with an endless claim', async () => {
      const { flags, journal } = open();
      const claimed = { at: 0, state: 'sending', host: 'h-1', claimId: 'c-1' } as const;
      const at = '2026-01-31T12:00:00.002Z';
      const history = [claimed, { at: Date.parse(at), state: 'ambiguous', by: 'ada' } as const];
      // 0.4.0 wrote 0 for a time that it did not know.
      const times = { expiresAt: null, firstClaimedAt: 0, deadline: Date.parse(at) };
      const { reference, entry } = await claimAt(journal, 10, { history, ...times });
      const { out } = await run(['show', reference, ...flags]);
      expect(out).toContain('Its request may take effect at any time');
      expect(out).toMatch(/^ +history +unknown {2}sending {2}on h-1\n/m);
      expect(out).toMatch(/^ +2026-01-31 12:00 UTC {2}ambiguous {2}by ada\n/m);
      expect(out).toMatch(/^ +first tried +\S+ \S+ UTC \(10 min ago\)$/m);
      expect(out).not.toContain('1970');
      expect((await run(['list', ...flags])).out).toMatch(
        new RegExp(`^${reference} {2}in_doubt {2}10 min `, 'm'),
      );
      const json = await run(['list', '--json', ...flags]);
      const shown = [
        { ...claimed, at: 'unknown' },
        { at, state: 'ambiguous', by: 'ada' },
      ];
      expect(JSON.parse(json.out)).toMatchObject([
        { reference, expiresAt: null, history: [{ host: 'h-1' }, shown[1]] },
      ]);
      const one = await run(['show', reference, '--json', ...flags]);
      expect(JSON.parse(one.out)).toMatchObject({ reference, history: shown });
      await journal.swap(reference, entry, undefined);
    });

    test('`prune` deletes entries that were paid before a date', async () => {
      const { flags, journal } = open();
      await journal.prune({ paidBefore: new Date() });
      const inputs = [newInput(), newInput(), newInput()];
      const times = ['2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00Z', '2026-02-01T01:00:00Z'];
      for (const [index, input] of inputs.entries()) {
        const paid = createPaid(input, Date.parse(times[index] ?? ''));
        await journal.swap(input.description, undefined, paid);
      }
      expect(await run(['prune', '--paid-before', '2026-02-01', ...flags])).toEqual({
        status: 0,
        out: '1 paid entry was removed.\n',
        err: '',
      });
      const at = '2026-02-01T01:00:00+00:30';
      const json = await run(['prune', '--paid-before', at, '--json', ...flags]);
      expect(JSON.parse(json.out)).toEqual({ pruned: 1 });
      const left = await Promise.all(inputs.map(({ description }) => journal.read(description)));
      expect(left.map((entry) => entry?.state)).toEqual([undefined, undefined, 'paid']);
    });

    test('`decide` records the decision of an operator', async () => {
      const { flags, journal } = open();
      const { env, sandbox, payments, baseUrl } = await startPlatform();
      const { reference, input } = await claimAt(journal, 10, { platform: baseUrl });
      const { id } = await payments.transfers.create(input);
      const args = ['decide', reference, id, '--by', 'ada', '--yes', ...flags];
      expect(await run(args, env)).toEqual({
        status: 0,
        out: `${reference} is recorded as paid by ${id}.\n`,
        err: '',
      });
      expect(await journal.read(reference)).toMatchObject({
        state: 'paid',
        transferId: id,
        resolvedBy: 'ada',
      });
      expect(await payments.transfers.createOnce(input, { journal })).toMatchObject({ id });
      expect(sandbox.transfers.list()).toHaveLength(1);
    });
  });

  test('`list` measures the age of a claim by the store’s clock', async () => {
    const { flags, journal } = openStore('Redis');
    const { reference, entry } = await claimAt(journal, 135);
    const shift = 'const { now } = Date; Date.now = () => now() + 864e5;';
    const behind = `--import=data:text/javascript,${encodeURIComponent(shift)}`;
    const { out } = await run(['list', ...flags], { NODE_OPTIONS: behind });
    expect(out).toMatch(new RegExp(`^${reference} +in_doubt +2 h `, 'm'));
    await journal.swap(reference, entry, undefined);
  });

  test('`list`, `show` and `prune` use the table that --table names', async () => {
    const table = '"Tenant-1".payments_journal';
    const { flag, url, journal } = await openTable(table);
    const named = [flag, url, '--table', table];
    const empty = await run(['list', ...named]);
    expect(empty.err).toContain('The store has no entry at all');
    const fields = { state: 'ambiguous', candidates: ['txfr_000001'] };
    const { reference } = await claimAt(journal, 10, fields);
    const paid = newInput();
    await journal.swap(paid.description, undefined, createPaid(paid, 3));
    const { status, out } = await run(['list', '--json', ...named]);
    expect([status, JSON.parse(out)]).toMatchObject([3, [{ reference }]]);
    const report = await run(['show', reference, ...named]);
    expect(report.out).toContain(` --table '${table}'\n`);
    expect((await run(['show', reference, flag, url])).status).toBe(1);
    const pruned = await run(['prune', '--paid-before', '2026-01-01', '--json', ...named]);
    expect(JSON.parse(pruned.out)).toEqual({ pruned: 1 });
  });

  test('`list` and `show` use the schema that a Prisma URL names', async () => {
    const { flag, url, journal } = await openTable('"App-1".payments_journal');
    const { reference } = await claimAt(journal, 10);
    const prismaUrl = `${url}?connection_limit=5&schema=App-1`;
    const { status, out, err } = await run(['list', '--json', flag, prismaUrl]);
    expect({ status, err }).toEqual({ status: 3, err: '' });
    expect(JSON.parse(out)).toMatchObject([{ reference }]);
    expect((await run(['show', reference, flag, prismaUrl])).status).toBe(0);
    const other = ['--table', 'public.payments_journal'];
    expect((await run(['show', reference, flag, prismaUrl, ...other])).status).toBe(1);
    expect((await run(['show', reference, flag, `${url}?schema=`])).status).toBe(1);
    const odd = await run(['list', flag, `${url}?schema=a%22b`]);
    expect(odd).toMatchObject({ status: 1, err: expect.stringContaining('table is') });
  });

  test('`list` warns if the column reference lacks the collation C', async () => {
    const sql = postgresJournalTable.replace(' COLLATE "C"', '');
    const { flag, url, pool } = await openTable('old.payments_journal', sql);
    const args = ['list', '--json', flag, `${url}?schema=old`];
    const warned = await run(args);
    expect(warned).toMatchObject({ status: 0, out: '[]\n' });
    expect(warned.err).toMatch(
      /^Warning, collation of the column reference: it is "default" instead of "C"\./,
    );
    const [alter = ''] = /ALTER TABLE .*(?=\n)/.exec(warned.err) ?? [];
    await pool.query(alter);
    expect((await run(args)).err).not.toContain('collation');
  });

  test('`show` warns if the maxmemory-policy lets Redis evict entries', async () => {
    const server = await startRedis('--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru');
    onTestFinished(() => server.close());
    const redis = new Redis({ port: server.port });
    onTestFinished(() => redis.disconnect());
    const journal = redisJournal((name, ...args) => redis.call(name, ...args));
    const { reference } = await claimAt(journal, 10);
    const args = ['show', reference, '--redis', `redis://127.0.0.1:${server.port}`];
    const { status, err } = await run(args);
    expect(status).toBe(0);
    expect(err).toMatch(
      /^Warning, maxmemory-policy: it is allkeys-lru, so Redis may remove an entry/,
    );
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    expect(await run(args)).toMatchObject({ status: 0, err: '' });
  });

  test('`list` needs --prefix to find Redis keys with a keyPrefix', async () => {
    const { redis, flags } = openRedis(2, 'app:');
    const journal = redisJournal((name, ...args) => redis.call(name, ...args));
    const { reference } = await claimAt(journal, 10);
    const other = await run(['list', ...flags]);
    expect(other).toMatchObject({ status: 0, out: expect.stringContaining('No payment is open.') });
    expect(other.err).toMatch(/^The store has no entry at all\./);
    const listed = await run(['list', '--json', ...flags, '--prefix', 'app:']);
    expect(listed).toMatchObject({ status: 3, err: '' });
    expect(JSON.parse(listed.out)).toMatchObject([{ reference }]);
  });

  test('the commands that `show` suggests contain no password', async () => {
    const { flags, journal } = openStore('Redis');
    const ambiguous = { state: 'ambiguous', candidates: ['txfr_1'] };
    const { reference, entry } = await claimAt(journal, 10, ambiguous);
    const other = { REDIS_URL: 'redis://user@staging:6379', DATABASE_URL: 'redis://user@backup' };
    const { status, out } = await run(['show', reference, ...flags], other);
    expect(status).toBe(0);
    expect(out).toContain(`decide ${reference} txfr_1 --redis "<url>"\n`);
    expect(out).not.toContain(password);
    const named = await run(['show', reference, ...flags], { JOURNAL_URL: flags[1] });
    expect(named.out).toContain(`decide ${reference} not_paid --force --redis "$JOURNAL_URL"\n`);
    await journal.swap(reference, entry, undefined);
  });

  test.each(['no JSON', '{"state":"ambiguous"}', '7'])(
    '`show` exits with status 1 if the stored entry is %s',
    async (stored) => {
      const { redis, flags } = openRedis(4);
      await redis.set('payments:journal:r-1', stored);
      const { status, out, err } = await run(['show', 'r-1', ...flags]);
      expect({ status, out }).toEqual({ status: 1, out: '' });
      expect(err).toMatch(/^The entry of "r-1" cannot be read\./);
    },
  );

  test('`migrate` lists keys that were copied from another Redis', async () => {
    const { redis, flags } = openRedis(3);
    expect((await run(['list', ...flags])).status).toBe(0);
    const input = newInput();
    await redis.set(`payments:journal:${input.description}`, JSON.stringify(createClaim(input)));
    expect(await run(['list', '--json', ...flags])).toEqual({ status: 0, out: '[]\n', err: '' });
    expect((await run(['migrate', ...flags])).status).toBe(0);
    const { status, out } = await run(['list', '--json', ...flags]);
    expect(status).toBe(3);
    expect(JSON.parse(out)).toMatchObject([{ reference: input.description }]);
  });

  test('`list` rebuilds a deleted index of open payments in Redis', async () => {
    const { flags, journal } = openStore('Redis');
    const { reference, entry } = await claimAt(journal, 10);
    await openRedis(0).redis.del('payments:journal:Open');
    const { out } = await run(['list', '--json', ...flags]);
    expect(JSON.parse(out)).toMatchObject([{ reference }]);
    await journal.swap(reference, entry, undefined);
  });

  test.each([
    ['PostgreSQL', 'without the table', /postgres$/, 'template1', /payments_journal/],
    ['Redis', 'with a wrong password', `:${password}@`, ':secret@', /WRONGPASS/],
    ['Redis', 'without the database', /$/, '/99', /^Redis has no database 99\./],
  ])(
    '`list` exits with status 1 on %s %s, and prints no password',
    async (name, _, find, put, report) => {
      const { flag, url } = openStore(name);
      const { status, out, err } = await run(['list', flag, url.replace(find, put)]);
      expect({ status, out }).toEqual({ status: 1, out: '' });
      expect(err).toMatch(report);
      expect(err).not.toMatch(/secret|hunter2/);
    },
  );
});

/** A platform over HTTP, and the variables of its client. */
async function startPlatform() {
  const sandbox = createPlatform();
  const server = await listen(sandbox, { port: 0 });
  onTestFinished(() => server.close());
  const { baseUrl, clientOptions } = server;
  const env = { PAYMENTS_BASE_URL: baseUrl, PAYMENTS_API_KEY: clientOptions.apiKey };
  return { sandbox, env, payments: new PaymentsClient(clientOptions), baseUrl };
}

describe('payments-journal decide', () => {
  const setup = async (minutes = 20) => {
    const platform = await startPlatform();
    const store = openSqlite();
    const { baseUrl } = platform;
    const claim = await claimAt(store.journal, minutes, {
      platform: baseUrl,
      // The request has ended, but may still take effect.
      deadline: 1,
    });
    const decide = (verdict: string, ...flags: string[]) =>
      run(['decide', claim.reference, verdict, ...store.flags, ...flags], platform.env);
    const decideOnTerminal = (line: string) =>
      runOnTerminal(line, ['decide', claim.reference, 'not_paid', ...store.flags], platform.env);
    return { ...platform, ...store, ...claim, decide, decideOnTerminal };
  };

  test.each(['y\n', 'yes\n', ' Y \n'])('records the decision after the answer %j', async (line) => {
    const { journal, reference, decideOnTerminal } = await setup();
    const { status, out } = await decideOnTerminal(line);
    expect(out).toMatch(/^ +first tried +\S+ \S+ UTC \(20 min ago\)\r$/m);
    expect(out).toContain(`Record ${reference} as not paid; only a next job pays it? [y/N]`);
    expect(out).toContain(`${reference} is recorded as not paid; only a next job pays it.`);
    expect(status).toBe(0);
    expect(await journal.read(reference)).toMatchObject({ state: 'not_paid' });
  });

  test.each(['n\n', '\n', 'yo\n', '\u0004', '\u0003'])(
    'records nothing after the answer %j',
    async (line) => {
      const { journal, reference, entry, decideOnTerminal, sandbox } = await setup();
      const { status, out } = await decideOnTerminal(line);
      expect(out).toContain('Nothing was recorded.');
      expect(status).toBe(1);
      expect(await journal.read(reference)).toEqual(entry);
      expect(sandbox.log).toEqual([]);
    },
  );

  test('searches the platform before it records not_paid with --yes', async () => {
    const { journal, reference, decide, sandbox } = await setup();
    expect(await decide('not_paid', '--yes')).toMatchObject({ status: 0, err: '' });
    expect(await journal.read(reference)).toMatchObject({ state: 'not_paid' });
    const operations = sandbox.log.map(({ operation }) => operation);
    expect(operations).toEqual(['accounts.get', 'transfers.list', 'transfers.list']);
  });

  test.each([
    ['false', undefined],
    ['sourceAccountId', 'acc_000001'],
  ])('searches with the filter %s if --transfers-filter names it', async (filter, account) => {
    const { decide, sandbox } = await setup();
    await decide('not_paid', '--yes', '--transfers-filter', filter);
    const [query] = sandbox.log.flatMap((each) =>
      each.operation === 'transfers.list' ? [each.query] : [],
    );
    expect(query?.['accountId']).toBeUndefined();
    expect(query?.[filter]).toBe(account);
  });

  test('is a command that `show` suggests beside each candidate transfer', async () => {
    const { baseUrl, env, flags, journal, payments, decideOnTerminal } = await setup();
    const input: OnceInput = newInput();
    const reference = input.description;
    const description = `${reference.toUpperCase()} salary of november`;
    const { id } = await payments.transfers.create({ ...input, description, amount: '12.05' });
    const fields: object = { state: 'ambiguous', candidates: [id, 'txfr_9'] };
    await journal.swap(reference, undefined, createClaim(input, { platform: baseUrl, ...fields }));
    const { status, out } = await run(['show', reference, ...flags], env);
    expect(status).toBe(0);
    expect(out).toMatch(new RegExp(`^ +your client +${baseUrl}, key sha256:[0-9a-f]{12}$`, 'm'));
    expect(out).toMatch(/^amount +12\.50 +\* 12\.05$/m);
    expect(out).toMatch(/^sourceAccountId +acc_000001 +acc_000001$/m);
    expect(out).toMatch(/^currency +USDC +USDC$/m);
    expect(out).toContain('txfr_9 could not be read: ');
    expect(out).toContain(`  npx payments-journal decide ${reference} ${id} ${flags.join(' ')}\n`);
    expect(out).toContain(`decide ${reference} not_paid --force ${flags.join(' ')}\n`);
    expect(out).not.toContain(env.PAYMENTS_API_KEY);
    const alone = await run(['show', reference, ...flags]);
    expect(alone.status).toBe(0);
    expect(alone.out).toContain('Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.');
    expect((await decideOnTerminal('n\n')).out).toMatch(/key sha256:[0-9a-f]{12}/);
  });

  test('exits with status 2 without a terminal and without --yes', async () => {
    const { journal, reference, entry, decide } = await setup();
    const { status, out, err } = await decide('not_paid');
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(
      /^decide asks for confirmation on a terminal\. Without a terminal, pass --yes\.\n/,
    );
    expect(await journal.read(reference)).toEqual(entry);
  });

  test('records nothing before the claim has expired, except with --force', async () => {
    const { journal, reference, entry, decide } = await setup(1);
    const { status, err } = await decide('not_paid', '--yes');
    expect(status).toBe(1);
    expect(err).toMatch(
      /^Too early: a request may still take effect until [^.]+ UTC \(in \d+ min\)\./,
    );
    expect(await journal.read(reference)).toEqual(entry);
    expect(await decide('not_paid', '--yes', '--force')).toMatchObject({ status: 0 });
  });

  test('rejects not_paid if the platform lists the payment, except with --force', async () => {
    const { input, payments, decide } = await setup();
    const { id } = await payments.transfers.create(input);
    const { status, err } = await decide('not_paid', '--yes');
    expect(status).toBe(1);
    expect(err).toContain(`The list shows what may be the payment (${id})`);
    expect(await decide('not_paid', '--yes', '--force')).toMatchObject({ status: 0 });
  });

  test('rejects the id of another payment’s transfer, even with --force', async () => {
    const { input, payments, decide } = await setup();
    const other = { ...input, description: 'another one', amount: '1' };
    const { id } = await payments.transfers.create(other);
    const { status, err } = await decide(id, '--yes', '--force');
    expect(status).toBe(1);
    expect(err).toContain(`${id} is another payment`);
  });

  test('rejects a reference without an entry, even with --force', async () => {
    const { flags, env } = await setup();
    const { status, err } = await run(
      ['decide', 'no such', 'not_paid', '--force', '--yes', ...flags],
      env,
    );
    expect(status).toBe(1);
    expect(err).toMatch(/^The journal has no entry for "no such"/);
  });

  test('exits with status 2 and names the missing environment variable', async () => {
    const { flags, reference } = await setup();
    const { status, err } = await run(['decide', reference, 'not_paid', '--yes', ...flags], {
      PAYMENTS_BASE_URL: 'https://api.example.com/v0',
    });
    expect(status).toBe(2);
    expect(err).toContain('PAYMENTS_API_KEY');
  });

  test('exits with status 1 if the platform cannot be reached', async () => {
    const { flags, reference } = await setup();
    const { status, err } = await run(['decide', reference, 'txfr_1', '--yes', ...flags], {
      PAYMENTS_BASE_URL: 'http://127.0.0.1:9/v0',
      PAYMENTS_API_KEY: 'sk_hunter2',
    });
    expect(status).toBe(1);
    expect(err).not.toContain('hunter2');
  });
});

const date = '2026-02-30';
test.each<[string, string[], RegExp]>([
  [
    'no command',
    [],
    /^A command is missing\. The commands are list, show, finish, decide, check, stats, prune, /,
  ],
  ['an unknown command', ['ls'], /^There is no command "ls"\. The commands are list, /],
  ['a misspelt command', ['lsit'], /^There is no command "lsit"; did you mean list\?\n/],
  ['a command like "toString"', ['toString'], /^There is no command "toString"\./],
  ['no store', ['list'], /^Exactly one of --sqlite, --postgres and --redis .* but got none\./],
  ['two stores', ['list', '--sqlite', 'a', '--redis', 'redis://b'], /, but got 2\./],
  ['an empty file name', ['list', '--sqlite='], /^--sqlite is empty\. Check the variable/],
  [
    'an unknown option',
    ['list', '--sqllite', 'a'],
    /^Unknown option --sqllite; did you mean --sqlite\?\n/,
  ],
  [
    'a misspelt --older-than',
    ['list', '--older-then', '2h'],
    /^Unknown option --older-then; .* --older-than\?\n/,
  ],
  ['an option like no other', ['list', '--colour'], /^Unknown option --colour\.\n/],
  ['an option like "toString"', ['list', '--toString'], /^Unknown option --toString\.\n/],
  ['an option without its value', ['list', '--sqlite'], /^--sqlite needs a value\.\n/],
  ['a dash value', ['list', '--table', '-x'], /^--table needs a value\. If .*--table=<value>\.\n/],
  ['an option of another command', ['list', '--yes'], /^list has no option --yes\./],
  ['two forms of numbers', ['stats', '--json', '--prometheus'], /^--json and --prometheus excl/],
  ['a filter beside --client', ['finish', '--client', 'a', '--transfers-filter', 'x'], /^--client/],
  ['--dry-run with list', ['list', '--dry-run'], /^list has no option --dry-run\./],
  ['--table with a file', ['list', '--table', 'a'], /^--table needs --postgres\./],
  ['--prefix with a file', ['list', '--prefix', 'a'], /^--prefix needs --redis\./],
  ['too many arguments', ['list', 'x'], /^list takes no arguments \(list\), but got 1\.\n/],
  ['no reference', ['show'], /^show takes one argument \(show <reference>\), but got none\.\n/],
  [
    'a missing verdict',
    ['decide', 'x'],
    /^decide takes 2 arguments \(decide <reference> <id or.*got 1\.\n/,
  ],
  ['an unknown verdict', ['decide', 'x', 'paid'], /txfr_…, or not_paid, and not "paid"\./],
  ['an age without a unit', ['list', '--older-than', '15'], /^--older-than takes .*"15"\./],
  ['an age of zero', ['list', '--older-than', '0m'], /^--older-than takes a number above 0/],
  ['prune without a date', ['prune'], /^prune needs --paid-before <date>\./],
  ['a date in words', ['prune', '--paid-before', 'May 1'], /^--paid-before takes a date/],
  ['an impossible date', ['prune', '--paid-before', date.replace('30', '32')], /takes a date/],
  ['a date in the future', ['prune', '--paid-before', '2999-01-01'], /is in the future\./],
])('payments-journal exits with status 2 for the mistake: %s', async (_, args, message) => {
  const needsStore = args.length > 0 && !message.source.includes('Exactly');
  const store = needsStore && !args.some((each) => each.startsWith('--s')) ? ['--sqlite', 'a'] : [];
  const { status, out, err } = await run([...args, ...store]);
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toMatch(message);
  expect(err).toContain('payments-journal --help prints the usage.\n');
});

test.each([
  [
    2,
    `--postgress=postgres://u:${password}@h/db`,
    /^Unknown option --postgress; did you mean --postgres\?\n/,
  ],
  [2, '--postgres=postgres:5432', /^--postgres takes a URL, such as /],
  [2, `--postgres=mysql://u:${password}@h`, /^--postgres takes a URL, such as /],
  [2, `--redis=http://u:${password}@h`, /^--redis takes a URL, such as /],
  [1, `--postgres=postgres://u:${password}@127.0.0.1:9/db`, /ECONNREFUSED/],
  [1, `--postgres=postgres://localhost:9/db?user=u&password=${password}`, /ECONNREFUSED/],
  [1, `--redis=redis://u:${password}@127.0.0.1:9`, /ECONNREFUSED/],
])(
  'payments-journal list exits with status %i and prints no password: %s',
  async (status, flag, report) => {
    const ended = await run(['list', flag]);
    expect(ended).toMatchObject({ status, out: '' });
    expect(ended.err).toMatch(report);
    expect(ended.err).not.toContain(password);
  },
);

test('payments-journal list does not create a missing SQLite file', async () => {
  const first = await run(['list', '--sqlite', 'none.db']);
  expect(first).toEqual({ status: 1, out: '', err: `There is no file at ${folder}/none.db.\n` });
  expect(await run(['list', '--sqlite', 'none.db'])).toEqual(first);
});

test('payments-journal list exits with status 1 without the journal table', async () => {
  writeFileSync(join(folder, 'empty.db'), '');
  const { status, err } = await run(['list', '--sqlite', 'empty.db']);
  expect(status).toBe(1);
  expect(err).toContain('no such table');
});

test('payments-journal list marks an entry that it cannot read', async () => {
  const { flags, journal } = openSqlite();
  const { reference } = await claimAt(journal, 1);
  await journal.swap('zz foreign', undefined, { state: 'paused' } as never);
  const { status, out, err } = await run(['list', ...flags]);
  expect({ status, err }).toEqual({ status: 3, err: '' });
  expect(out).toMatch(new RegExp(`\\n${reference}  in_progress[^]*\\nzz foreign +unreadable\\n`));
  const json = await run(['list', '--json', ...flags]);
  expect(JSON.parse(json.out)).toMatchObject([
    { reference },
    { reference: 'zz foreign', state: 'unreadable' },
  ]);
  const unread = await run(['show', 'zz foreign', ...flags]);
  expect(unread.status).toBe(1);
  expect(unread.err).toMatch(/zz foreign.*cannot be read/);
});

test('payments-journal --help prints the usage, --version the version', async () => {
  const { status, out } = await run(['--help']);
  expect(status).toBe(0);
  expect(out).toMatch(/^Usage: payments-journal <command> <store>/);
  expect(await run(['list', '--version'])).toEqual({ status: 0, out: `${version}\n`, err: '' });
});

test('payments-journal list exits with status 3 even if its pipe closes', async () => {
  const { flags, journal } = openSqlite();
  await claimAt(journal, 1);
  const { child, ended } = start(process.execPath, [bin, 'list', ...flags], {});
  child.stdout.destroy();
  expect((await ended).status).toBe(3);
});

describe('payments-journal in a project without database drivers', () => {
  const project = join(folder, 'project');
  beforeAll(() => installTarball(project), startTimeoutMs);
  const runInstalled = (...args: string[]) => {
    const installed = join(project, 'node_modules/payments-platform-sdk/dist/journals/bin.js');
    return start(process.execPath, [installed, ...args], {}, project).ended;
  };

  test('`list` reads a SQLite file', async () => {
    const { flags, journal } = openSqlite();
    const { reference } = await claimAt(journal, 2 * (day / minute));
    const { status, out, err } = await runInstalled('list', ...flags);
    expect({ status, err }).toEqual({ status: 3, err: '' });
    expect(out).toContain(`\n${reference}  in_doubt  2 days  `);
  });

  test.each([
    ['--postgres', `postgres://u:${password}@h/db`, 'pg'],
    ['--redis', `redis://:${password}@h`, 'ioredis'],
  ])('`list` names the package that %s needs', async (flag, url, name) => {
    const { status, out, err } = await runInstalled('list', flag, url);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(
      new RegExp(
        `^${flag} needs the package ${name}, which is not installed here\\. .*npm install ${name}\\.\n`,
      ),
    );
  });
});
