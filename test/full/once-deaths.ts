import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { postgresJournalTable } from '../../src/journals/index.ts';
import { Sandbox, type SandboxFault } from '../../src/sandbox/index.ts';
import { listen } from '../../src/sandbox/server.ts';
import { missing, startPostgres, startRedis } from '../stores/servers.ts';
import { payoutOf, type Told, type WorkerOrder } from './once-payouts.ts';

/*
 * Workers that pay the same payouts by createOnce, killed at random, one of them frozen until its claims
 * are over, against a platform that fails at every tenth creation:
 * node test/full/once-deaths.ts --payouts 500 [--store redis] [--kill 200] [--on path/to/bun]
 */

export type StoreName = 'redis' | 'postgres' | 'sqlite';
export const stores = ['redis', 'postgres', 'sqlite'] as const;

export interface Deaths {
  readonly store: StoreName;
  readonly payouts: number;
  readonly kills: number;
  readonly freezes: number;
  readonly requests: number;
  readonly faults: number;
  readonly seconds: number;
  /** How often workers were told what. */
  readonly told: Readonly<Record<string, number>>;
  /** What is wrong; empty when each payout was made once. */
  readonly wrong: readonly string[];
}

interface DeathsOptions {
  readonly payouts: number;
  /** Milliseconds. */
  readonly killEvery: number;
  /** The runtime of the workers. @default this one */
  readonly on?: string | undefined;
}

const limits = { gracePeriod: 1_500, totalTimeout: 1_000 };

const faults: readonly SandboxFault[] = [
  { kind: 'reset', when: 'after_commit' },
  { kind: 'status', status: 503 },
  { kind: 'hang', when: 'after_commit' },
  { kind: 'reset', when: 'before_commit' },
  { kind: 'status', status: 422 },
  { kind: 'status', status: 503, when: 'after_commit' },
  { kind: 'truncated_body' },
  { kind: 'status', status: 429, retryAfter: 0 },
  { kind: 'html', when: 'after_commit' },
];

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function withStore<T>(name: StoreName, use: (store: string) => Promise<T>): Promise<T> {
  if (name === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'payments-deaths-'));
    try {
      return await use(join(folder, 'journal.db'));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  if (missing.length > 0) throw new Error(`apt-get install ${missing.join(' ')}`);
  const server = await (name === 'redis' ? startRedis() : startPostgres());
  try {
    if (name === 'redis') return await use(`redis://127.0.0.1:${server.port}`);
    const store = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
    const pool = new Pool({ connectionString: store });
    await pool.query(postgresJournalTable);
    await pool.end();
    return await use(store);
  } finally {
    await server.close();
  }
}

export async function deaths(
  store: StoreName,
  { payouts, killEvery, on = process.execPath }: DeathsOptions,
): Promise<Deaths> {
  const begun = performance.now();
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
  for (const name of ['Company', 'Staff']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund('acc_000001', '1000000');
  for (let after = 3; after < payouts; after += 10) {
    const fault = faults[Math.floor(after / 10) % faults.length];
    if (fault !== undefined) sandbox.faults.add({ operation: 'transfers.create', after, fault });
  }
  // Time in which to be killed.
  const slow = { kind: 'delay', ms: 20 } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: Infinity, fault: slow });
  const server = await listen(sandbox, { port: 0 });
  const known = new Map<number, string>();
  const told: Record<string, number> = {};
  const wrong: string[] = [];
  let [kills, freezes] = [0, 0];
  const workers = new Set<ChildProcess>();
  const frozen = new Set<ChildProcess>();
  /** Those that have said something: a busy machine takes longer to start one than to kill it. */
  const working = new Set<ChildProcess>();

  const hear = (said: Told): void => {
    if (said === 'done') return;
    const what = 'id' in said ? 'paid' : said.reason;
    told[what] = (told[what] ?? 0) + 1;
    if (!('id' in said)) return;
    const before = known.get(said.number) ?? said.id;
    if (before !== said.id) wrong.push(`${said.number} is ${before} and ${said.id}`);
    known.set(said.number, said.id);
  };
  const numbers = Array.from({ length: payouts }, (_, at) => at + 1);
  const start = (place: string): void => {
    const worker = fork(fileURLToPath(new URL('once-worker.ts', import.meta.url)), {
      execPath: on,
      execArgv: on === process.execPath ? ['--disable-warning=ExperimentalWarning'] : [],
    });
    const { baseUrl } = server;
    const todo = numbers.filter((number) => !known.has(number));
    const order: WorkerOrder = { store: place, baseUrl, apiKey: sandbox.apiKey, ...limits, todo };
    workers.add(worker);
    worker.on('message', (said: Told) => {
      working.add(worker);
      hear(said);
    });
    worker.on('exit', (_, signal) => {
      workers.delete(worker);
      working.delete(worker);
      if (signal === null) wrong.push('a worker ended by itself');
    });
    worker.send(order);
  };

  await withStore(store, async (place) => {
    const crew = store === 'sqlite' ? 2 : 4;
    let nextKill = performance.now() + killEvery * 3;
    let nextFreeze = performance.now() + 500;
    const deadline = performance.now() + Math.max(300_000, payouts * 2_000);
    while (known.size < payouts && performance.now() < deadline) {
      while (workers.size - frozen.size < crew) start(place);
      await pause(20);
      const awake = [...working].filter((each) => !frozen.has(each));
      const victim = awake[Math.floor(Math.random() * awake.length)];
      if (performance.now() >= nextFreeze && victim !== undefined) {
        // Until whatever it has claimed has been taken over.
        nextFreeze = performance.now() + 8_000;
        freezes += 1;
        victim.kill('SIGSTOP');
        frozen.add(victim);
        void pause(limits.gracePeriod + limits.totalTimeout + 1_500).then(() => {
          victim.kill('SIGCONT');
          return pause(500).then(() => frozen.delete(victim));
        });
      } else if (performance.now() >= nextKill && victim !== undefined) {
        nextKill = performance.now() + killEvery;
        kills += 1;
        victim.kill('SIGKILL');
      }
    }
    // Whoever is still frozen thaws, and may try what it can.
    while (frozen.size > 0) await pause(50);
    for (const worker of workers) {
      worker.removeAllListeners('exit');
      worker.kill('SIGKILL');
    }
  });
  await server.close();

  const ledger = Map.groupBy(sandbox.transfers.list(), ({ description }) => description);
  // A busy machine kills workers faster than it starts them.
  if (known.size < payouts) wrong.push(`time is up: ${known.size} of ${payouts} were told`);
  for (const number of numbers) {
    const { description } = payoutOf(number);
    const made = ledger.get(description) ?? [];
    const id = known.get(number);
    if (made.length > 1 || (id !== undefined && made.length === 0)) {
      wrong.push(`${description} was paid ${made.length} times`);
    } else if (id !== undefined && made[0]?.id !== id)
      wrong.push(`${description} is not what was told`);
  }
  const created = sandbox.log.filter(({ operation }) => operation === 'transfers.create');
  return {
    store,
    payouts,
    kills,
    freezes,
    requests: created.length,
    faults: created.filter(({ fault }) => fault !== undefined && fault !== 'delay').length,
    seconds: Math.round((performance.now() - begun) / 100) / 10,
    told,
    wrong,
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      payouts: { type: 'string', default: '500' },
      kill: { type: 'string', default: '200' },
      on: { type: 'string' },
      store: { type: 'string', multiple: true, default: [...stores] },
    },
  });
  for (const store of stores.filter((each) => values.store.includes(each))) {
    const { payouts, kill, on } = values;
    const options = { payouts: Number(payouts), killEvery: Number(kill), on };
    const report = await deaths(store, options);
    console.log(JSON.stringify(report));
    if (report.wrong.length > 0) process.exitCode = 1;
  }
}
