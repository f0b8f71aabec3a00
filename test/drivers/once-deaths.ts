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
import { payoutOf, type WorkerReport, type WorkerOrder } from './once-payouts.ts';

/*
 * Workers make the same payouts by createOnce against a platform that fails every tenth creation.
 * This script kills workers at random, and suspends one at a time until its claims have expired:
 * node test/drivers/once-deaths.ts --payouts 500 [--store redis] [--kill 200] [--on path/to/bun]
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
  /** How many reports of each kind the workers sent. */
  readonly reports: Readonly<Record<string, number>>;
  /** The violations. Empty when each payout was made once. */
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

/** Starts a store, runs `use` with its address, and stops the store. */
export async function withStore<T>(
  name: StoreName,
  use: (store: string) => Promise<T>,
): Promise<T> {
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

/** A platform with an account that pays the payouts and an account that receives them. */
export function createPayrollSandbox(): Sandbox {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
  for (const name of ['Company', 'Staff']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund('acc_000001', '1000000');
  return sandbox;
}

/** Runs a script that kills processes on the stores of its command line, and prints a report for each. */
export async function killOnStores(
  kill: (
    store: StoreName,
    counts: { readonly payouts: number; readonly kills: number },
  ) => Promise<{ readonly wrong: readonly string[] }>,
): Promise<void> {
  const { values } = parseArgs({
    options: {
      payouts: { type: 'string', default: '2000' },
      kills: { type: 'string', default: '20' },
      store: { type: 'string', multiple: true, default: [...stores] },
    },
  });
  const counts = { payouts: Number(values.payouts), kills: Number(values.kills) };
  for (const store of stores.filter((each) => values.store.includes(each))) {
    printReport(await kill(store, counts));
  }
}

/** Prints a report. A violation makes the script fail. */
export function printReport(report: { readonly wrong: readonly string[] }): void {
  console.log(JSON.stringify(report));
  if (report.wrong.length > 0) process.exitCode = 1;
}

export async function killWorkers(
  store: StoreName,
  { payouts, killEvery, on: runtime = process.execPath }: DeathsOptions,
): Promise<Deaths> {
  const startedAt = performance.now();
  const sandbox = createPayrollSandbox();
  for (let after = 3; after < payouts; after += 10) {
    const fault = faults[Math.floor(after / 10) % faults.length];
    if (fault !== undefined) sandbox.faults.add({ operation: 'transfers.create', after, fault });
  }
  // Slows creations down, so that workers are killed during them.
  const slow = { kind: 'delay', ms: 20 } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: Infinity, fault: slow });
  const server = await listen(sandbox, { port: 0 });
  const paidIds = new Map<number, string>();
  const reportCounts: Record<string, number> = {};
  const wrong: string[] = [];
  let [kills, freezes] = [0, 0];
  const workers = new Set<ChildProcess>();
  const frozen = new Set<ChildProcess>();
  /** Workers that have sent a report. Others are spared, because a busy machine starts slowly. */
  const working = new Set<ChildProcess>();

  const countReport = (report: WorkerReport): void => {
    if (report === 'done') return;
    const kind = 'id' in report ? 'paid' : report.reason;
    reportCounts[kind] = (reportCounts[kind] ?? 0) + 1;
    if (!('id' in report)) return;
    const before = paidIds.get(report.number) ?? report.id;
    if (before !== report.id) wrong.push(`${report.number} is ${before} and ${report.id}`);
    paidIds.set(report.number, report.id);
  };
  const numbers = Array.from({ length: payouts }, (_, at) => at + 1);
  const start = (place: string): void => {
    const worker = fork(fileURLToPath(new URL('once-worker.ts', import.meta.url)), {
      execPath: runtime,
      execArgv: runtime === process.execPath ? ['--disable-warning=ExperimentalWarning'] : [],
    });
    const { baseUrl } = server;
    const todo = numbers.filter((number) => !paidIds.has(number));
    const order: WorkerOrder = { store: place, baseUrl, apiKey: sandbox.apiKey, ...limits, todo };
    workers.add(worker);
    worker.on('message', (report: WorkerReport) => {
      working.add(worker);
      countReport(report);
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
    while (paidIds.size < payouts && performance.now() < deadline) {
      while (workers.size - frozen.size < crew) start(place);
      await pause(20);
      const awake = [...working].filter((each) => !frozen.has(each));
      const victim = awake[Math.floor(Math.random() * awake.length)];
      if (performance.now() >= nextFreeze && victim !== undefined) {
        // Other workers need time to take over the claims of the suspended worker.
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
    // Lets suspended workers resume, because they may send a payment again.
    while (frozen.size > 0) await pause(50);
    for (const worker of workers) {
      worker.removeAllListeners('exit');
      worker.kill('SIGKILL');
    }
  });
  await server.close();

  const ledger = Map.groupBy(sandbox.transfers.list(), ({ description }) => description);
  // A busy machine may not start workers as fast as this script kills them.
  if (paidIds.size < payouts) wrong.push(`timeout: ${paidIds.size} of ${payouts} were reported`);
  for (const number of numbers) {
    const { description } = payoutOf(number);
    const made = ledger.get(description) ?? [];
    const id = paidIds.get(number);
    if (made.length > 1 || (id !== undefined && made.length === 0)) {
      wrong.push(`${description} was paid ${made.length} times`);
    } else if (id !== undefined && made[0]?.id !== id)
      wrong.push(`${description} is not the reported payment`);
  }
  const created = sandbox.log.filter(({ operation }) => operation === 'transfers.create');
  return {
    store,
    payouts,
    kills,
    freezes,
    requests: created.length,
    faults: created.filter(({ fault }) => fault !== undefined && fault !== 'delay').length,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    reports: reportCounts,
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
    const { payouts, kill, on: runtime } = values;
    const options = { payouts: Number(payouts), killEvery: Number(kill), on: runtime };
    printReport(await killWorkers(store, options));
  }
}
