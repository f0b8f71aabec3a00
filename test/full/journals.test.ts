import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { Pool } from 'pg';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import {
  postgresJournal,
  postgresJournalTable,
  redisJournal,
  sqliteJournal,
  testJournal,
  type FullJournal,
  type OpenPayment,
} from 'payments-platform-sdk/journals';
import type { Sandbox } from 'payments-platform-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  collectOpen,
  createClaim,
  createPaid,
  createPlatform,
  newInput,
  scenarios,
} from '../stores/scenarios.ts';
import type { JournalEntry, PaidEntry, SendingEntry } from '../../src/journals/journal.ts';
import {
  missing,
  startPostgres,
  startRedis,
  startRedisCluster,
  type Server,
} from '../stores/servers.ts';

const poolOf = ({ port }: Server): Pool => {
  const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres' });
  // An idle connection reports that its server has ended.
  pool.on('error', () => {});
  return pool;
};

/** Databases start slowly on a busy machine. */
const startTimeoutMs = 60_000;

const closeAll = (servers: readonly Server[]) =>
  Promise.all(servers.map((server) => server.close()));

/** A journal as a user may write one. PostgreSQL returns the fields of jsonb in an order of its own. */
function createJsonbJournal(pool: Pool): FullJournal {
  const run = async (sql: string, ...values: unknown[]) => {
    try {
      return (await pool.query<{ reference: string; entry: JournalEntry }>(sql, values)).rows;
    } catch (error) {
      // The transfer is the payment of another reference.
      if ((error as { code?: unknown }).code === '23505') return [];
      throw error;
    }
  };
  const decided = `entry->>'state' IN ('paid', 'not_paid')`;
  return {
    searchFirst: 'never',
    firstClaimAt: () => Promise.resolve(0),
    read: async (reference) =>
      (await run('SELECT entry FROM own WHERE reference = $1', reference))[0]?.entry,
    swap: async (reference, before, after) => {
      if (before === undefined) {
        if (after === undefined)
          return (await run('SELECT FROM own WHERE reference = $1', reference)).length === 0;
        const sql = 'INSERT INTO own VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1';
        return (await run(sql, reference, after)).length === 1;
      }
      const where = 'WHERE reference = $1 AND entry = $2 RETURNING 1';
      const rows =
        after === undefined
          ? await run(`DELETE FROM own ${where}`, reference, before)
          : await run(`UPDATE own SET entry = $3 ${where}`, reference, before, after);
      return rows.length === 1;
    },
    now: () => Promise.resolve(Date.now()),
    open: async function* () {
      yield* (await run(
        `SELECT reference, entry FROM own WHERE (${decided}) IS NOT TRUE`,
      )) as OpenPayment[];
    },
    prune: async ({ paidBefore, keepReferences }) => {
      if (Number.isNaN(paidBefore.getTime())) throw new Error('paidBefore is not a valid date');
      const where = `WHERE entry->>'state' = 'paid' AND (entry->>'paidAt')::float8 < $1`;
      const input = `jsonb_build_object('description', entry#>'{input,description}')`;
      const sql = keepReferences
        ? `UPDATE own SET entry = jsonb_set(entry, '{input}', ${input}) ${where} AND entry->'input' <> ${input} RETURNING 1`
        : `DELETE FROM own ${where} RETURNING 1`;
      return (await run(sql, paidBefore.getTime())).length;
    },
    find: async (platform, id) => {
      const sql = `SELECT reference FROM own WHERE entry @> $1`;
      const [row] = await run(sql, { state: 'paid', platform, transferId: id });
      return row?.reference;
    },
  };
}

test('PostgreSQL and Redis are installed for these tests', () => {
  expect(missing, `apt-get install ${missing.join(' ')}`).toEqual([]);
});

describe.skipIf(missing.length > 0)('the journals on real servers', () => {
  let servers: Server[] = [];
  let pool: Pool;
  let redis: Redis;
  beforeAll(async () => {
    const [postgres, redisServer] = await Promise.all([startPostgres(), startRedis()]);
    servers = [postgres, redisServer];
    pool = poolOf(postgres);
    redis = new Redis(redisServer.port);
    await pool.query(postgresJournalTable);
    await pool.query(postgresJournalTable);
    await pool.query('CREATE TABLE own (reference text PRIMARY KEY, entry jsonb NOT NULL)');
    await pool.query(
      "CREATE UNIQUE INDEX ON own ((entry->>'platform'), (entry->>'transferId')) WHERE entry->>'state' = 'paid'",
    );
  }, startTimeoutMs);
  afterAll(async () => {
    await pool.end();
    redis.disconnect();
    await closeAll(servers);
  });

  const openRedis = () => redisJournal((name, ...args) => redis.call(name, ...args));
  scenarios('PostgreSQL', () => ({
    open: () => postgresJournal((text, values) => pool.query(text, values)),
  }));
  scenarios('Redis', () => ({ open: openRedis }));
  scenarios('a jsonb column, as of a user', () => ({ open: () => createJsonbJournal(pool) }));

  test('createAllOnce pays with a journal in a jsonb column', async () => {
    const sandbox = createPlatform();
    const payments = new PaymentsClient({
      ...sandbox.clientOptions,
      journal: createJsonbJournal(pool),
    });
    const inputs = Array.from({ length: 20 }, () => newInput());
    const { counts } = await payments.transfers.createAllOnce(inputs);
    expect(counts).toMatchObject({ created: 20, paid: 20 });
    expect(sandbox.transfers.list()).toHaveLength(20);
  });

  test('open() of postgresJournal works without an index', async () => {
    const journal = postgresJournal((text, values) => pool.query(text, values));
    const paid = newInput();
    const entry = createClaim(paid);
    await pool.query('DROP INDEX payments_journal_open');
    await journal.swap(paid.description, undefined, entry);
    const listed = [{ reference: paid.description, entry }];
    expect(await collectOpen(journal, paid.description)).toEqual(listed);
    // Adds the index to an older table, as docs/pay.md says.
    await pool.query(postgresJournalTable);
    expect(await collectOpen(journal, paid.description)).toEqual(listed);
  });

  test('open() of postgresJournal uses the index payments_journal_open', async () => {
    const statements: string[] = [];
    const journal = postgresJournal((text, values) => {
      statements.push(text);
      return pool.query(text, values);
    });
    await collectOpen(journal, '');
    const client = await pool.connect();
    await client.query('SET enable_seqscan = off');
    const [sql = ''] = statements;
    const explained = await client.query(`EXPLAIN ${sql.replace('$1', "''")}`);
    client.release(true);
    expect(JSON.stringify(explained.rows)).toContain('payments_journal_open');
  });

  test('similar() of postgresJournal uses an index', async () => {
    const statements: string[] = [];
    const journal = postgresJournal((text, values) => {
      statements.push(text);
      return pool.query(text, values);
    });
    const input = newInput();
    await journal.similar?.({ platform: 'https://api.example.com/v0', input }, 0);
    const client = await pool.connect();
    await client.query('SET enable_seqscan = off');
    await client.query('SET enable_bitmapscan = off');
    const [sql = ''] = statements;
    const text = sql.replace('$1', "'terms'").replace('$2', "'0'");
    const plan = JSON.stringify((await client.query(`EXPLAIN ${text}`)).rows);
    client.release(true);
    expect(plan).toContain('Index Scan Backward using payments_journal_terms');
    expect(plan).toMatch(/Index Cond: \(\(terms = 'terms'::text\) AND \(claimed_at >=/);
    expect(plan).not.toContain('Sort');
  });

  test('swap() of postgresJournal replaces an entry in a jsonb column', async () => {
    const journal = postgresJournal((text, values) => pool.query(text, values));
    const input = newInput();
    await journal.swap(input.description, undefined, createClaim(input));
    await pool.query('UPDATE payments_journal SET entry = entry::jsonb::text');
    const entry = await journal.read(input.description);
    expect(await journal.swap(input.description, entry, createPaid(input, 1))).toBe(true);
    expect(await journal.read(input.description)).toMatchObject({ state: 'paid' });
  });

  test('swap() of redisJournal replaces an entry with different white space', async () => {
    const journal = redisJournal((name, ...args) => redis.call(name, ...args));
    const input = newInput();
    await journal.swap(input.description, undefined, createClaim(input));
    const key = `payments:journal:${input.description}`;
    const stored = JSON.parse((await redis.get(key)) ?? '') as object;
    await redis.set(key, JSON.stringify(stored, null, 2));
    const entry = await journal.read(input.description);
    expect(await journal.swap(input.description, entry, createPaid(input, 1))).toBe(true);
    expect(await journal.read(input.description)).toMatchObject({ state: 'paid' });
  });

  describe('prune with keepReferences', () => {
    const [other, options] = [newInput(), { paidBefore: new Date(4), keepReferences: true }];
    /** Makes another call change the entry right before a command that prune sends. */
    const changeBefore = async (isWrite: (sent: string) => boolean, open: typeof openWith) => {
      const input = newInput();
      const entry = createPaid(input, 3) as PaidEntry;
      const changed = { ...entry, transferId: `${entry.transferId}-2` };
      const journal = open(async (sent) => {
        const isOfInput = isWrite(sent) && sent.includes(input.description);
        if (isOfInput) await open().swap(input.description, entry, changed);
      });
      await journal.swap(input.description, undefined, entry);
      await journal.swap(other.description, undefined, createPaid(other, 3));
      return { journal, changed, input };
    };
    const openWith = (before?: (sent: string) => Promise<void>): FullJournal =>
      postgresJournal(async (text, values) => {
        await before?.([text, ...values].join(' '));
        return pool.query(text, values);
      });

    test.each([
      ['postgresJournal', openWith, (sent: string) => sent.includes('json_to_recordset')],
      [
        'redisJournal',
        (before?: (sent: string) => Promise<void>) =>
          redisJournal(async (name, ...args) => {
            await before?.(args.join(' '));
            return redis.call(name, ...args);
          }),
        (sent: string) => sent.includes('PTTL'),
      ],
    ])('of %s keeps an entry that another call changes meanwhile', async (_, open, isWrite) => {
      const { journal, changed, input } = await changeBefore(isWrite, open);
      await journal.prune(options);
      expect(await journal.read(input.description)).toEqual(changed);
      expect((await journal.read(other.description))?.input).toEqual({
        description: other.description,
      });
      expect(await journal.prune(options)).toBe(1);
    });

    test('of redisJournal keeps the time at which Redis removes the entry', async () => {
      const command = (name: string, ...args: string[]) => redis.call(name, ...args);
      const journal = redisJournal(command, { keepPaidFor: 100_000 });
      const { description } = newInput();
      await journal.swap(description, undefined, createPaid({ ...newInput(), description }, 3));
      await redis.pexpire(`payments:journal:${description}`, 50_000);
      expect(await journal.prune(options)).toBe(1);
      const left = await redis.pttl(`payments:journal:${description}`);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(50_000);
    });
  });

  describe('the index of open payments in Redis', () => {
    const indexKey = 'payments:journal:Open';
    const members = () => redis.zrange(indexKey, '0', '-1');
    const claimPayment = async () => {
      const input = newInput();
      const entry = createClaim(input);
      await openRedis().swap(input.description, undefined, entry);
      return { input, entry, listed: [{ reference: input.description, entry }] };
    };

    test('contains each open reference and a mark that it is complete', async () => {
      const { input, entry } = await claimPayment();
      await collectOpen(openRedis(), '');
      expect(await members()).toEqual(expect.arrayContaining(['', input.description]));
      await openRedis().swap(input.description, entry, createPaid(input, 3));
      expect(await members()).not.toContain(input.description);
    });

    test('is rebuilt by the next claim or open() if it is deleted', async () => {
      const { input, listed } = await claimPayment();
      await redis.del(indexKey);
      const other = await claimPayment();
      expect(await collectOpen(openRedis(), input.description)).toEqual(listed);
      expect(await members()).toEqual(
        expect.arrayContaining(['', input.description, other.input.description]),
      );
    });

    test('is built by the first open(), without a later SCAN', async () => {
      await redis.del(indexKey);
      await collectOpen(openRedis(), '');
      await redis.config('RESETSTAT');
      await collectOpen(openRedis(), '');
      expect(await redis.info('commandstats')).not.toContain('cmdstat_scan');
    });

    test('includes entries that an older version wrote without an index', async () => {
      await redis.del(indexKey);
      const input = newInput();
      const entry = createClaim(input);
      await redis.set(`payments:journal:${input.description}`, JSON.stringify(entry));
      const listed = [{ reference: input.description, entry }];
      expect(await collectOpen(openRedis(), input.description)).toEqual(listed);
    });

    test('makes open() omit paid and missing entries', async () => {
      const input = newInput();
      await openRedis().swap(input.description, undefined, createPaid(input, 3));
      await redis.zadd(indexKey, 0, input.description, 0, `${input.description} removed`);
      expect(await collectOpen(openRedis(), input.description)).toEqual([]);
    });

    test('is complete after the first claim in an empty database', async () => {
      await redis.select(1);
      onTestFinished(() => void redis.select(0));
      await claimPayment();
      await redis.config('RESETSTAT');
      expect(await collectOpen(openRedis(), '')).toHaveLength(1);
      expect(await redis.info('commandstats')).not.toContain('cmdstat_scan');
    });

    // ioredis adds such a prefix if its option keyPrefix is set.
    test('has the keyPrefix of ioredis in its key', async () => {
      const prefixed = redis.duplicate({ keyPrefix: 'app[1]*:' });
      onTestFinished(() => {
        prefixed.disconnect();
      });
      const journal = redisJournal((name, ...args) => prefixed.call(name, ...args));
      const input = newInput();
      const entry = createClaim(input);
      await journal.swap(input.description, undefined, entry);
      expect(await redis.zrange(`app[1]*:${indexKey}`, '0', '-1')).toEqual(['', input.description]);
      await redis.del(`app[1]*:${indexKey}`);
      expect(await collectOpen(journal, '')).toEqual([{ reference: input.description, entry }]);
      expect(await redis.zrange(`app[1]*:${indexKey}`, '0', '-1')).toEqual(['', input.description]);
      await journal.swap(input.description, entry, createPaid(input, 3));
      expect(await journal.prune({ paidBefore: new Date(4) })).toBe(1);
    });
  });

  describe('redisJournal with an ACL', () => {
    const openAs = async (name: string, ...rules: string[]) => {
      await redis.call('ACL', 'SETUSER', name, 'on', '>secret', '+@all', ...rules);
      const limited = redis.duplicate({ username: name, password: 'secret' });
      onTestFinished(() => {
        limited.disconnect();
      });
      return redisJournal((command, ...args) => limited.call(command, ...args));
    };

    test('needs only the key pattern payments:journal:*', async () => {
      const journal = await openAs('pay', '~payments:journal:*');
      await testJournal(() => journal);
      const { description } = newInput();
      await journal.swap(description, undefined, createClaim({ ...newInput(), description }));
      expect(await collectOpen(openRedis(), description)).toHaveLength(1);
    });

    test.each([
      ['the index', ['~payments:journal:scenario*', '~payments:journal:FirstClaimAt']],
      ['any other key than those of entries', ['~payments:journal:scenario*']],
      ['to change the index', ['%R~payments:journal:*', '%W~payments:journal:scenario*']],
      ['ZADD', ['~payments:journal:*', '-zadd']],
    ])('createOnce sends and writes nothing if the ACL forbids %s', async (_, rules) => {
      const journal = await openAs(`user-${rules.length}${rules.join('').length}`, ...rules);
      const input = newInput();
      const sandbox = createPlatform();
      const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
      await expect(transfers.createOnce(input)).rejects.toMatchObject({
        reason: 'journal',
        message: expect.stringMatching(/NOPERM|can't run this command/),
      });
      expect(await openRedis().read(input.description)).toBeUndefined();
      expect(sandbox.transfers.list()).toEqual([]);
    });
  });

  test('redisJournal writes the first claim’s time again after a FLUSHALL', async () => {
    await redis.select(5);
    onTestFinished(() => void redis.select(0));
    const journal = openRedis();
    const claim = async (from: typeof journal) => {
      const input = newInput();
      expect(await from.swap(input.description, undefined, createClaim(input))).toBe(true);
    };
    expect(await journal.firstClaimAt()).toBeUndefined();
    await claim(journal);
    const first = Number(await journal.firstClaimAt());
    await redis.flushdb();
    await claim(journal);
    expect(Number(await openRedis().firstClaimAt())).toBeGreaterThan(first);
    await claim(openRedis());
    expect(await collectOpen(openRedis(), '')).toHaveLength(2);
  });

  test('redisJournal with keepPaidFor expires only entries of paid payments', async () => {
    const keepPaidFor = 400;
    const journal = redisJournal((name, ...args) => redis.call(name, ...args), { keepPaidFor });
    const [input, open] = [newInput(), newInput()];
    const claim = createClaim(input);
    for (const each of [input, open]) {
      await journal.swap(each.description, undefined, each === input ? claim : createClaim(each));
    }
    const timeLeft = (reference: string) => redis.pttl(`payments:journal:${reference}`);
    expect(await timeLeft(input.description)).toBe(-1);
    await journal.swap(input.description, claim, createPaid(input, 3));
    expect(await timeLeft(input.description)).toBeGreaterThan(0);
    await expect.poll(() => journal.read(input.description)).toBeUndefined();
    expect(await journal.read(open.description)).toBeDefined();
    expect(await timeLeft(open.description)).toBe(-1);
  });

  test('swap() of postgresJournal lets one of two concurrent callers win', async () => {
    const clients = await Promise.all([pool.connect(), pool.connect()]);
    const [level] = (await pool.query('SHOW default_transaction_isolation')).rows as object[];
    expect(level).toEqual({ default_transaction_isolation: 'read committed' });
    const paid = newInput();
    const old = createClaim(paid);
    const [one, other] = clients.map((client) =>
      postgresJournal((text, values) => client.query(text, values)),
    );
    await one?.swap(paid.description, undefined, old);
    for (let turn = 0; turn < 50; turn += 1) {
      const before = (await one?.read(paid.description)) ?? old;
      const won = await Promise.all([
        one?.swap(paid.description, before, createClaim(paid)),
        other?.swap(paid.description, before, createClaim(paid)),
      ]);
      expect(won.toSorted()).toEqual([false, true]);
    }
    for (const client of clients) client.release();
  });

  describe('if redisJournal has an ambiguous payment', () => {
    const payAmbiguously = async () => {
      const sandbox = createPlatform();
      const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal: openRedis() });
      const input = newInput();
      const similar = { ...input, description: `${input.description}-b` };
      const { id } = await transfers.create(similar);
      await expect(transfers.createOnce(input)).rejects.toMatchObject({
        reason: 'ambiguous',
        candidates: [id],
      });
      return { sandbox, transfers, input, id };
    };

    test('createOnce pays after an operator has decided not_paid', async () => {
      const { sandbox, transfers, input, id } = await payAmbiguously();
      await transfers.decide(input.description, 'not_paid', { force: true });
      expect((await transfers.createOnce(input)).id).not.toBe(id);
      expect(sandbox.transfers.list()).toHaveLength(2);
    });

    test('createOnce resolves to the transfer that an operator has named', async () => {
      const { sandbox, transfers, input, id } = await payAmbiguously();
      await transfers.decide(input.description, id, { force: true });
      expect(await transfers.createOnce(input)).toMatchObject({ id });
      expect(sandbox.transfers.list()).toHaveLength(1);
    });
  });
});

describe.skipIf(missing.length > 0)('redisJournal with a Redis Cluster', () => {
  let servers: readonly Server[] = [];
  let cluster: Cluster;
  beforeAll(async () => {
    servers = await startRedisCluster();
    cluster = new Cluster(servers.map(({ port }) => ({ host: '127.0.0.1', port })));
  }, startTimeoutMs);
  afterAll(async () => {
    cluster.disconnect();
    await closeAll(servers);
  });

  test('accepts 2,100 first claims at once', async () => {
    const journal = openCluster();
    const inputs = Array.from({ length: 2_100 }, () => newInput());
    const claim = (input: OnceInput) =>
      journal.swap(input.description, undefined, createClaim(input));
    expect(await Promise.all(inputs.map(claim))).not.toContain(false);
  });

  const openCluster = () => redisJournal((name, ...args) => cluster.call(name, ...args));
  scenarios('a Redis Cluster', () => ({ open: openCluster }));

  test('lists and prunes the entries of every node', async () => {
    const journal = openCluster();
    const inputs = Array.from({ length: 30 }, () => newInput('-nodes'));
    for (const [index, input] of inputs.entries()) {
      const entry = index < 20 ? createClaim(input) : createPaid(input, 3);
      await journal.swap(input.description, undefined, entry);
    }
    const counts = await Promise.all(
      cluster.nodes('master').map(async (node) => (await node.keys('*-nodes')).length),
    );
    expect(counts.every((count) => count > 0)).toBe(true);
    const listed = (await collectOpen(journal, '')).map(({ reference }) => reference);
    const open = inputs.slice(0, 20).map(({ description }) => description);
    expect(listed.filter((reference) => reference.endsWith('-nodes')).toSorted()).toEqual(open);
    const paidBefore = new Date(4);
    expect(await journal.prune({ paidBefore, keepReferences: true })).toBeGreaterThanOrEqual(10);
    expect(await journal.prune({ paidBefore, keepReferences: true })).toBe(0);
    expect(await journal.prune({ paidBefore })).toBeGreaterThanOrEqual(10);
    expect(await journal.prune({ paidBefore: new Date(4) })).toBe(0);
  });

  test('records a transfer although its key names another payment', async () => {
    const journal = openCluster();
    const [input, other] = [newInput(), newInput()];
    const paid = createPaid(input, 3);
    const { platform, transferId } = paid as PaidEntry;
    await cluster.set(`payments:journal:Transfer:${platform} ${transferId}`, other.description);
    expect(await journal.find(platform, transferId)).toBeUndefined();
    // An open payment may be about to record the transfer, and any other entry is not.
    const claim = createClaim(other);
    await journal.swap(other.description, undefined, claim);
    expect(await journal.swap(input.description, undefined, paid)).toBe(false);
    await journal.swap(other.description, claim, createPaid(other, 3));
    expect(await journal.swap(input.description, undefined, paid)).toBe(true);
    expect(await journal.find(platform, transferId)).toBe(input.description);
  });

  test('a removal from the index that arrives late hides no later claim', async () => {
    const journal = openCluster();
    const input = newInput();
    const first = createClaim(input) as SendingEntry;
    const second = createClaim(input);
    await journal.swap(input.description, undefined, first);
    await journal.swap(input.description, first, undefined);
    await journal.swap(input.description, undefined, second);
    // This command of the first claim may arrive when a connection is open again.
    await cluster.zrem('payments:journal:Open', `${input.description}\n${first.claimId}`);
    const listed = [{ reference: input.description, entry: second }];
    expect(await collectOpen(journal, input.description)).toEqual(listed);
  });

  test('reads the time for a claim from the entry’s node', async () => {
    const journal = openCluster();
    const nodes = cluster.nodes('master');
    expect(nodes).toHaveLength(3);
    const owners = new Set<number>();
    for (let turn = 0; turn < 12; turn += 1) {
      const input = newInput();
      await journal.swap(input.description, undefined, createClaim(input));
      await Promise.all(nodes.map((node) => node.config('RESETSTAT')));
      await journal.now(input.description);
      const keys = await Promise.all(nodes.map((node) => node.keys('*')));
      const stats = await Promise.all(nodes.map((node) => node.info('commandstats')));
      const owner = keys.findIndex((each) =>
        each.includes(`payments:journal:${input.description}`),
      );
      owners.add(owner);
      expect(stats.map((each) => each.includes('cmdstat_time:'))).toEqual(
        nodes.map((_, index) => index === owner),
      );
    }
    expect(owners.size).toBeGreaterThan(1);
  });
});

describe.skipIf(missing.length > 0)('after a PostgreSQL failover that loses entries', () => {
  const servers: Server[] = [];
  const made = new Map<boolean, Sandbox>();
  beforeAll(async () => {
    const primary = await startPostgres();
    servers.push(primary);
    const primaryPool = poolOf(primary);
    await primaryPool.query(postgresJournalTable);
    const standby = await startPostgres(primary);
    servers.push(standby);
    const standbyPool = poolOf(standby);
    const openJournal = (pool: Pool, forgets: boolean) =>
      postgresJournal((text, values) => pool.query(text, values), {
        searchFirst: forgets ? 'always' : 'never',
      });

    // The standby receives what the primary wrote before the connection was cut.
    const earlier = newInput();
    await openJournal(primaryPool, false).swap(
      earlier.description,
      undefined,
      createClaim(earlier),
    );
    const readStandby = () => openJournal(standbyPool, false).read(earlier.description);
    await vi.waitFor(async () => expect(await readStandby()).toBeDefined(), { timeout: 10_000 });

    await standbyPool.query("ALTER SYSTEM SET primary_conninfo = ''");
    await standbyPool.query('SELECT pg_reload_conf()');
    const countStandbys = async () =>
      (await primaryPool.query('SELECT pid FROM pg_stat_replication')).rowCount;
    await vi.waitFor(async () => expect(await countStandbys()).toBe(0), { timeout: 10_000 });

    const payments = [true, false].map((forgets) => {
      const sandbox = createPlatform();
      made.set(forgets, sandbox);
      const { transfers } = new PaymentsClient(sandbox.clientOptions);
      const input = newInput();
      return (pool: Pool) => transfers.createOnce(input, { journal: openJournal(pool, forgets) });
    });
    for (const pay of payments) await pay(primaryPool);
    await primary.close();
    await standbyPool.query('SELECT pg_promote()');
    for (const pay of payments) await pay(standbyPool);
    await Promise.all([primaryPool.end(), standbyPool.end()]);
  }, startTimeoutMs);
  afterAll(() => closeAll(servers));

  test('createOnce pays once if postgresJournal has `forgets: true`', () => {
    expect(made.get(true)?.transfers.list()).toHaveLength(1);
  });

  // Shows why the option exists.
  test('createOnce pays twice if postgresJournal does not have `forgets: true`', () => {
    expect(made.get(false)?.transfers.list()).toHaveLength(2);
  });
});

describe('while another process locks the SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-journals-'));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a process that locks the file for writing until it is killed. */
  const holdLock = async (path: string) => {
    const code = `
      const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
      database.exec('BEGIN IMMEDIATE');
      console.log('locked');
      setInterval(() => {}, 1_000);`;
    const child = spawn(process.execPath, ['-e', code, path]);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child;
  };
  const open = (path: string) => {
    const journal = sqliteJournal(path);
    onTestFinished(() => {
      journal.close();
    });
    return journal;
  };
  /** The longest time, in milliseconds, for which the event loop did not run. */
  const measureLongestBlock = async (run: () => Promise<unknown>) => {
    let longestBlockMs = 0;
    let last = performance.now();
    const tick = () => {
      longestBlockMs = Math.max(longestBlockMs, performance.now() - last);
      last = performance.now();
    };
    const ticker = setInterval(tick, 10);
    await run();
    clearInterval(ticker);
    tick();
    return longestBlockMs;
  };
  const swap = (journal: ReturnType<typeof open>) => {
    const input = newInput();
    return journal.swap(input.description, undefined, createClaim(input));
  };
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  // A busy machine may pause the process for longer, so the test is repeated.
  const retry = 2;

  test.each(['before the journal is opened', 'before a swap'])(
    'sqliteJournal waits without blocking for a lock taken %s',
    { retry },
    async (when) => {
      const path = join(folder, `${crypto.randomUUID()}.db`);
      const early = when === 'before a swap' ? open(path) : undefined;
      const holder = await holdLock(path);
      const longestBlockMs = await measureLongestBlock(async () => {
        const swaps = Array.from({ length: 16 }, () => swap(early ?? open(path)));
        await pause(1_000);
        holder.kill('SIGKILL');
        expect(await Promise.all(swaps)).toEqual(swaps.map(() => true));
      });
      expect(longestBlockMs).toBeLessThan(250);
    },
  );
});
