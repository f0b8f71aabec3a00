import { Redis } from 'ioredis';
import { Pool } from 'pg';
import {
  postgresJournal,
  postgresJournalTable,
  redisJournal,
} from 'payments-platform-sdk/journals';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarios } from '../stores/scenarios.ts';
import { missing, startPostgres, startRedis, type Server } from '../stores/servers.ts';

test('PostgreSQL and Redis are installed', () => {
  expect(missing, `apt-get install ${missing.join(' ')}`).toEqual([]);
});

describe.skipIf(missing.length > 0)('with real servers', () => {
  let servers: Server[] = [];
  let pool: Pool;
  let redis: Redis;
  beforeAll(async () => {
    servers = await Promise.all([startPostgres(), startRedis()]);
    const [postgresPort = 0, redisPort = 0] = servers.map(({ port }) => port);
    pool = new Pool({ host: '127.0.0.1', port: postgresPort, user: 'postgres' });
    redis = new Redis(redisPort);
    await pool.query(postgresJournalTable);
    await pool.query(postgresJournalTable);
  });
  afterAll(async () => {
    await pool.end();
    redis.disconnect();
    await Promise.all(servers.map((server) => server.close()));
  });

  scenarios('PostgreSQL', () => ({
    open: () => postgresJournal((text, values) => pool.query(text, values)),
  }));
  scenarios('Redis', () => ({
    open: () => redisJournal((name, ...args) => redis.call(name, ...args)),
  }));

  test('two transactions under READ COMMITTED do not both win', async () => {
    const clients = await Promise.all([pool.connect(), pool.connect()]);
    const [level] = (await pool.query('SHOW default_transaction_isolation')).rows as object[];
    expect(level).toEqual({ default_transaction_isolation: 'read committed' });
    const input = { sourceAccountId: 'acc_1', counterpartyId: 'cpty_1', amount: '1' } as const;
    const old = { state: 'sending', claimId: 'old', claimedAt: 1, expiresAt: 2, input } as const;
    const [one, other] = clients.map((client) =>
      postgresJournal((text, values) => client.query(text, values)),
    );
    await one?.swap('takeover', undefined, old);
    for (let turn = 0; turn < 50; turn += 1) {
      const before = (await one?.read('takeover')) ?? old;
      const won = await Promise.all([
        one?.swap('takeover', before, { ...old, claimId: `one ${turn}` }),
        other?.swap('takeover', before, { ...old, claimId: `other ${turn}` }),
      ]);
      expect(won.toSorted()).toEqual([false, true]);
    }
    for (const client of clients) client.release();
  });
});
