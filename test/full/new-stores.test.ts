import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPlatform, newInput } from '../stores/scenarios.ts';
import { missing, startRedis, type Server } from '../stores/servers.ts';

// A store that is new may have replaced one that was lost, so its first day searches first.

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'payments-new-stores-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Pays the inputs in another process, which opens its journal by this code. */
async function pay(journal: string, inputs: unknown, options: object, variables = {}) {
  const code = `
    import { PaymentsClient } from '${dist}index.js';
    import { sqliteJournal, redisJournal } from '${dist}journals/index.js';
    import { createRequire } from 'node:module';
    const { Redis } = createRequire('${dist}')('ioredis');
    const journal = ${journal};
    const { transfers } = new PaymentsClient({ ...${JSON.stringify(options)}, journal });
    const results = {};
    for await (const { result, error } of transfers.createAllOnce(${JSON.stringify(inputs)})) {
      results[result] = (results[result] ?? 0) + 1;
      if (error) console.error(error.message);
    }
    console.log(JSON.stringify(results));
    process.exit(0);`;
  const { VITEST: _, NODE_ENV: _env, ...others } = process.env;
  const args = ['--input-type=module', '-e', code];
  const env = { ...others, ...variables };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
  return { results: JSON.parse(stdout) as object, stderr };
}

describe.skipIf(missing.length > 0)('a new store, in three processes', () => {
  let redis: Server;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  const openFile = (name: string) => `sqliteJournal('${join(folder, name)}')`;
  const openDatabase = (db: number) =>
    `redisJournal(((redis) => (name, ...args) => redis.call(name, ...args))(new Redis(${redis.port}, { db: ${db} })), { searchFirst: 'first_day' })`;
  const removeFile = () => {
    for (const end of ['', '-wal', '-shm']) rmSync(join(folder, `a.db${end}`), { force: true });
  };

  test.each<readonly [string, () => readonly string[], () => void]>([
    ['a file that a deploy deletes', () => Array(3).fill(openFile('a.db')), removeFile],
    ['a file of each container', () => ['b', 'c', 'd'].map(openFile), () => {}],
    ['another number of a Redis database', () => [1, 2, 3].map(openDatabase), () => {}],
    ['a journal in memory', () => Array(3).fill("sqliteJournal(':memory:')"), () => {}],
  ])('causes no second payment: %s', async (_, createJournals, lose) => {
    const sandbox = createPlatform();
    const server = await listen(sandbox, { port: 0 });
    const { baseUrl, apiKey } = server.clientOptions;
    const inputs = Array.from({ length: 12 }, () => ({ ...newInput(), amount: '0.50' }));
    const results = [];
    for (const journal of createJournals()) {
      const payment = await pay(journal, inputs, { baseUrl, apiKey, jwt: null });
      results.push(payment.results);
      if (!journal.includes(':memory:')) expect(payment.stderr).toContain('is a new journal');
      lose();
    }
    await server.close();
    expect(results).toEqual([{ created: 12 }, { found: 12 }, { found: 12 }]);
    expect(sandbox.transfers.list()).toHaveLength(12);
  });

  test('causes no warning in a test run', async () => {
    const sandbox = createPlatform();
    const server = await listen(sandbox, { port: 0 });
    const { baseUrl, apiKey } = server.clientOptions;
    const options = { baseUrl, apiKey, jwt: null };
    const { stderr } = await pay(openFile('quiet.db'), [newInput()], options, { NODE_ENV: 'test' });
    await server.close();
    expect(stderr).toBe('');
  });
});
