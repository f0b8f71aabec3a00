import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import {
  postgresJournal,
  postgresJournalTable,
  redisJournal,
  sqliteJournal,
  type FullJournal,
} from 'payments-platform-sdk/journals';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JournalEntry, PaidEntry, SendingEntry } from '../../src/journals/journal.ts';
import { createClaim, createPlatform, newInput } from '../stores/scenarios.ts';
import { missing, startPostgres, startRedis } from '../stores/servers.ts';

// The lines and blocks of docs/operate.md, in the folder of a project, against real stores.

const root = fileURLToPath(new URL('../..', import.meta.url));
const [guide = ''] = readFileSync(join(root, 'docs/operate.md'), 'utf8').split('\n## Logs');
const blocksOf = (language: string) =>
  [...guide.matchAll(new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );
const lines = blocksOf('sh').flatMap((block) => block.trim().split('\n'));
const [exportLine = '', listLine = '', finishLine = '', giveUpLine = '', ...others] = lines;
const [showLine = '', paidLine = '', notPaidLine = '', restoreLine = '', ...last] = others;
const [verifyLine = '', againLine = '', statsLine = ''] = last;
const [cronLine = ''] = blocksOf('crontab');
const minute = 60_000;

test('this test runs every shell and cron line of docs/operate.md', () => {
  expect([lines, blocksOf('ts'), blocksOf('crontab')].map(({ length }) => length)).toEqual([
    11, 0, 1,
  ]);
  expect(guide.match(/```/g)).toHaveLength(2 * 8);
  expect(exportLine).toBe(
    'export PAYMENTS_BASE_URL=https://api.example.com/v0 PAYMENTS_API_KEY=sk_live_…',
  );
  // The table repeats lines of the blocks, and check, which journal-check.test.ts runs.
  const inTable = [...guide.matchAll(/^\|[^|]*\| `(npx [^`]+)`/gm)].map(([, line]) => line);
  const check = 'npx payments-journal check --sqlite payments.db';
  expect(inTable.filter((line = '') => line !== check && !lines.includes(line))).toEqual([]);
  expect(missing, `apt-get install ${missing.join(' ')}`).toEqual([]);
});

const project = mkdtempSync(join(tmpdir(), 'payments-on-call-'));
mkdirSync(join(project, 'node_modules', '.bin'), { recursive: true });
for (const [name, target] of [
  ['payments-platform-sdk', root],
  ['pg', join(root, 'node_modules/pg')],
  ['ioredis', join(root, 'node_modules/ioredis')],
  ['.bin/payments-journal', join(root, 'dist/journals/bin.js')],
] as const) {
  symlinkSync(target, join(project, 'node_modules', name));
}
const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  rmSync(project, { recursive: true });
});

interface Result {
  readonly status: number | null;
  readonly out: string;
}

/** Runs a program in the project, and types a line after its question. */
async function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  typed = '',
): Promise<Result> {
  const npm = { npm_config_offline: 'true', npm_config_yes: 'false', npm_config_loglevel: 'error' };
  const child = spawn(program, args, { cwd: project, env: { ...process.env, ...npm, ...env } });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  }
  if (typed === '') child.stdin.end();
  else {
    await expect.poll(() => out).toContain('[y/N]');
    child.stdin.write(typed);
  }
  const [status] = await once(child, 'close');
  return { status: status as number | null, out };
}

interface Store {
  readonly flag: string;
  readonly url: string;
  open(forgets?: boolean): FullJournal;
  /** Makes a backup or a replica. The function opens it as a store without any later entry. */
  backUp(): Promise<() => Promise<Store>>;
}

/** The shell line with the flag of a store, and without `npx`, which is slow. */
const adaptLine = (line: string, { flag }: Store): string =>
  line
    .replaceAll('npx payments-journal', 'node node_modules/.bin/payments-journal')
    .replace('--sqlite payments.db', `--${flag} "$STORE"`);

const runLine = (line: string, store: Store, env: NodeJS.ProcessEnv = {}) =>
  run('sh', ['-c', adaptLine(line, store)], { ...env, STORE: store.url });

/** Runs the shell line on a terminal, where the operator answers yes. */
const runLineOnTerminal = (line: string, store: Store, env: NodeJS.ProcessEnv) => {
  const args = ['-qefc', adaptLine(line, store), '/dev/null'];
  return run('script', args, { ...env, STORE: store.url }, 'y\n');
};

/** Starts a platform over HTTP and a client that has the journal of the store. */
async function setup(store: Store) {
  const sandbox = createPlatform();
  const server = await listen(sandbox, { port: 0 });
  onTestFinished(() => server.close());
  const { baseUrl, clientOptions } = server;
  const journal = store.open();
  const { transfers } = new PaymentsClient({ ...clientOptions, journal });
  const env = { PAYMENTS_BASE_URL: baseUrl, PAYMENTS_API_KEY: clientOptions.apiKey, USER: 'ada' };
  /** Leaves a claim of a process that died. */
  const leaveOpen = async (
    description: string,
    minutes: number,
    { amount = '12.50', before }: { amount?: string; before?: JournalEntry } = {},
  ) => {
    const input: OnceInput = { ...newInput(), description, amount };
    const claimedAt = (await journal.now(description)) - minutes * minute;
    const times = { claimedAt, firstClaimedAt: claimedAt, expiresAt: claimedAt + 17 * minute };
    const fields = { ...times, platform: baseUrl, history: before?.history };
    await journal.swap(description, before, createClaim(input, fields));
    return input;
  };
  /** The references on the platform, each as often as it was paid. */
  const readLedger = () => sandbox.transfers.list().map(({ description }) => description);
  return { sandbox, journal, transfers, env, leaveOpen, readLedger, clientOptions };
}

function createSqlite(): Store {
  const path = join(project, 'payments.db');
  const backup = join(project, 'backup.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  const opened: { close(): void }[] = [];
  const closeAll = () => {
    for (const journal of opened.splice(0)) journal.close();
  };
  onTestFinished(closeAll);
  const store: Store = {
    flag: 'sqlite',
    url: 'payments.db',
    open: (forgets = false) => {
      const journal = sqliteJournal(path);
      opened.push(journal);
      return { ...journal, searchFirst: forgets ? 'always' : 'never' };
    },
    backUp: async () => {
      rmSync(backup, { force: true });
      const database = new DatabaseSync(path);
      database.exec(`VACUUM INTO '${backup}'`);
      database.close();
      return async () => {
        // The latest entries are in the -wal file, as after a crash.
        for (const suffix of ['-wal', '-shm']) copyFileSync(path + suffix, backup + suffix);
        closeAll();
        for (const suffix of ['-wal', '-shm']) renameSync(backup + suffix, path + suffix);
        const line = restoreLine.trim().replace('/backup/payments.db', backup);
        expect(await run('sh', ['-c', line])).toEqual({ status: 0, out: '' });
        return store;
      };
    },
  };
  return store;
}

let [postgresPort, redisPort] = [0, 0];

async function createPostgres(): Promise<Store> {
  const url = `postgres://postgres@127.0.0.1:${postgresPort}/postgres`;
  const pool = new Pool({ connectionString: url });
  onTestFinished(() => pool.end());
  await pool.query(`${postgresJournalTable}; TRUNCATE payments_journal`);
  const store: Store = {
    flag: 'postgres',
    url,
    open: (forgets = false) =>
      postgresJournal((text, values) => pool.query(text, values), {
        searchFirst: forgets ? 'always' : 'never',
      }),
    backUp: async () => {
      await pool.query('CREATE TABLE backup AS SELECT * FROM payments_journal');
      return async () => {
        await pool.query(
          'TRUNCATE payments_journal; INSERT INTO payments_journal SELECT * FROM backup; DROP TABLE backup',
        );
        return store;
      };
    },
  };
  return store;
}

function createRedis(port: number): Store {
  const redis = new Redis({ port });
  onTestFinished(() => {
    redis.disconnect();
  });
  return {
    flag: 'redis',
    url: `redis://127.0.0.1:${port}`,
    open: () => redisJournal((name, ...args) => redis.call(name, ...args)),
    // The replica fails over before the later entries have arrived.
    backUp: async () => {
      const server = await startRedis('--replicaof', '127.0.0.1', String(port));
      onTestFinished(() => server.close());
      const replica = new Redis({ port: server.port });
      await expect.poll(() => replica.info('replication')).toContain('master_link_status:up');
      expect(await redis.wait(1, 5_000)).toBe(1);
      await replica.replicaof('NO', 'ONE');
      replica.disconnect();
      return async () => createRedis(server.port);
    },
  };
}

const stores = {
  SQLite: async () => createSqlite(),
  PostgreSQL: createPostgres,
  Redis: async () => {
    const redis = new Redis({ port: redisPort });
    await redis.flushall();
    redis.disconnect();
    return createRedis(redisPort);
  },
};

beforeAll(async () => {
  const [postgres, redis] = await Promise.all([
    startPostgres(),
    startRedis('--repl-diskless-sync-delay', '0'),
  ]);
  closers.push(
    () => postgres.close(),
    () => redis.close(),
  );
  [postgresPort, redisPort] = [postgres.port, redis.port];
});

describe.each(['SQLite', 'PostgreSQL', 'Redis'] as const)(
  'the commands in docs/operate.md with %s',
  (name) => {
    test('list, show and finish the payments of a dead machine', async () => {
      const store = await stores[name]();
      const { transfers, env, leaveOpen, readLedger } = await setup(store);
      await transfers.create(await leaveOpen('r-1', 25));
      const lost = await leaveOpen('r-2', 21);
      await transfers.createOnce({ ...newInput(), description: 'paid' });

      const list = await runLine(listLine, store, env);
      expect(list).toMatchObject({
        status: 3,
        out: expect.stringMatching(/^r-1 .*\nr-2 .*\n\n2 payments/m),
      });
      const show = await runLine(showLine, store, env);
      expect(show).toMatchObject({ status: 0, out: expect.stringMatching(/^r-1 is in doubt: /) });

      const finish = await runLine(finishLine, store, env);
      expect(finish.status).toBe(3);
      expect(finish.out).toMatch(/^r-1 +paid by txfr_000001 \(pending\)\nr-2 +not in the list, /m);
      expect(readLedger().toSorted()).toEqual(['paid', 'r-1']);
      // Its next job, or an operator who gives it up.
      const giveUp = await runLine(giveUpLine, store, env);
      expect(giveUp).toMatchObject({ status: 0, out: expect.stringContaining('not paid') });
      expect(await runLine(finishLine, store, env)).toMatchObject({ status: 0 });
      expect((await runLine(listLine, store, env)).out).toMatch(/^No payment is open\./);
      await transfers.createOnce(lost);
      expect(readLedger().toSorted()).toEqual(['paid', 'r-1', 'r-2']);
    });

    test('raise an alert only after a payment was open for 20 minutes', async () => {
      const store = await stores[name]();
      const { sandbox, transfers, journal, env, leaveOpen } = await setup(store);
      const [, command = ''] = /^\*\/5 \* \* \* \* (.+)$/m.exec(cronLine) ?? [];
      // An unescaped percent sign ends a command of cron.
      expect(command).not.toContain('%');
      const line = command.replace('/srv/payroll', project);
      await leaveOpen('r-1', 19);
      expect(await runLine(line, store)).toEqual({ status: 0, out: '' });
      // A worker that obeys retryAfterMs has just claimed this payment again, and is in doubt again.
      await leaveOpen('r-2', 21);
      const operation = 'transfers.create';
      sandbox.faults.add({ operation, fault: { kind: 'reset', when: 'before_commit' } });
      const again = transfers.createOnce((await journal.read('r-2'))?.input as OnceInput);
      await expect(again).rejects.toMatchObject({ reason: 'in_doubt' });
      // An operator has decided these two, whose next claims were left open, too.
      for (const [reference, state] of [
        ['r-3', 'sending'],
        ['r-4', 'ambiguous'],
      ] as const) {
        await leaveOpen(reference, 40);
        await transfers.decide(reference, 'not_paid');
        const before = await journal.read(reference);
        await leaveOpen(reference, 22, before && { before });
        const open = (await journal.read(reference)) as SendingEntry;
        const candidates = ['txfr_1'];
        if (state === 'ambiguous')
          await journal.swap(reference, open, { ...open, state, candidates });
      }
      const alarm = (await runLine(line, store)).out.replaceAll(/ {2,}/g, '  ').split('\n');
      expect(alarm.slice(1, 4).map((each) => each.split('  ').slice(0, 3))).toEqual([
        ['r-3', 'in_doubt', '22 min'],
        ['r-4', 'ambiguous', '22 min'],
        ['r-2', 'in_progress', '21 min'],
      ]);
      expect(alarm[5]).toBe('3 payments are open, 37.5 USDC in all, the oldest for 22 min.');
      expect(await runLine(statsLine, store, env)).toEqual({ status: 0, out: '' });
      const metrics = readFileSync(join(project, 'payments.prom'), 'utf8');
      expect(metrics).toContain('payments_journal_open{state="sending"} 3\n');
      expect(metrics).toContain('payments_journal_open{state="ambiguous"} 1\n');
      const [, age = ''] = /^payments_journal_oldest_open_seconds (\d+)$/m.exec(metrics) ?? [];
      expect(Number(age)).toBeGreaterThanOrEqual(22 * 60);
    });

    test('finish a restored journal without paying twice', async () => {
      const store = await stores[name]();
      const { transfers, journal, env, leaveOpen, readLedger, clientOptions } = await setup(store);
      const [early, late] = [newInput(), newInput()];
      await transfers.createOnce(early);
      await leaveOpen('r-1', 20);
      const restore = await store.backUp();
      await transfers.createOnce(late);
      await transfers.createOnce((await journal.read('r-1'))?.input as OnceInput);
      const restored = await restore();
      const forgetful = restored.open(name === 'PostgreSQL' || name === 'SQLite');
      expect(await forgetful.read(late.description)).toBeUndefined();

      const finish = await runLine(finishLine, restored, env);
      expect(finish).toMatchObject({ status: 0, out: expect.stringContaining('txfr_000003') });
      const client = new PaymentsClient({ ...clientOptions, journal: forgetful });
      const results: string[] = [];
      for await (const { result } of client.transfers.createAllOnce([early, late])) {
        results.push(result);
      }
      expect(results.toSorted()).toEqual(['found', 'recorded']);
      expect(readLedger()).toHaveLength(3);
    });

    test('let an operator decide each ambiguous payment', async () => {
      const store = await stores[name]();
      const { transfers, journal, env, leaveOpen, readLedger } = await setup(store);
      const [one, three] = [
        await leaveOpen('r-1', 20),
        await leaveOpen('r-3', 20, { amount: '13' }),
      ];
      await transfers.create({ ...three, description: 'Payroll r-3' });
      await transfers.create({ ...one, description: 'Payroll r-1' });
      const finish = await runLine(finishLine, store, env);
      expect(finish.out).toMatch(/^r-1 +ambiguous: txfr_000002 may be it/m);
      expect((await runLine(showLine, store, env)).out).toMatch(/^r-1 is in doubt/);
      await expect(transfers.createOnce(one)).rejects.toMatchObject({ reason: 'ambiguous' });
      const show = await runLine(showLine, store, env);
      expect(show.out).toMatch(/^description +r-1 +\* Payroll r-1$/m);
      const [printed = ''] = paidLine.split(' --by');
      expect(show.out).toContain(`${printed} --${store.flag} `);

      const asked = paidLine.replace(' --yes', '');
      expect(await runLineOnTerminal(asked, store, env)).toMatchObject({ status: 0 });
      expect(await journal.read('r-1')).toMatchObject({
        state: 'paid',
        transferId: 'txfr_000002',
        resolvedBy: 'ada',
      });
      expect(await runLine(notPaidLine, store, env)).toMatchObject({ status: 0 });
      // The job is run again.
      await transfers.createOnce(one);
      await transfers.createOnce(three);
      expect(readLedger().toSorted()).toEqual(['Payroll r-1', 'Payroll r-3', 'r-3']);
    });

    test('let the next job make payments that a restored platform lost', async () => {
      const store = await stores[name]();
      const { sandbox, transfers, journal, env, readLedger } = await setup(store);
      const state = sandbox.exportState();
      const input = { ...newInput(), description: 'r-4' };
      await transfers.createOnce(input);
      sandbox.importState(state);
      const paid = (await journal.read('r-4')) as PaidEntry;
      // The payment was made long before the platform was restored.
      const history = paid.history?.map((change) => ({ ...change, at: change.at - 60 * minute }));
      await journal.swap('r-4', paid, { ...paid, history });
      await transfers.createOnce({ ...newInput(), description: 'r-5' });
      const verify = await runLine(verifyLine, store, env);
      expect(verify.out).toMatch(
        /^r-4 is recorded as paid by .*, which the platform does not have/m,
      );
      expect(verify.out).toMatch(/^r-5 is recorded as paid by .*, pending\.$/m);
      const show = await runLine(showLine.replace('r-1', 'r-4'), store, env);
      expect(show.out).toContain('The platform has no such transfer.');
      const [printed = ''] = againLine.split(' --by');
      expect(show.out).toContain(`${printed} --${store.flag} `);
      expect(await runLine(againLine, store, env)).toMatchObject({ status: 0 });
      await transfers.createOnce(input);
      expect(readLedger()).toEqual(['r-5', 'r-4']);
    });
  },
);

test('finish-open-payments.ts finishes the open payments of a SQLite file', async () => {
  const { env, leaveOpen, readLedger } = await setup(createSqlite());
  await leaveOpen('r-1', 20);
  const example = join(root, 'examples/finish-open-payments.ts');
  const result = await run(process.execPath, [example], { ...env, JOURNAL: 'payments.db' });
  expect(result).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^1 paid, 0 in doubt, 0/m),
  });
  expect(readLedger()).toEqual(['r-1']);
});
