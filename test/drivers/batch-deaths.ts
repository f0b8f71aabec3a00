import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Sandbox, SandboxFault } from '../../src/sandbox/index.ts';
import { listen } from '../../src/sandbox/server.ts';
import type { BatchOrder, BatchReport } from './batch-worker.ts';
import { createPayrollSandbox, killOnStores, withStore, type StoreName } from './once-deaths.ts';
import { payoutOf } from './once-payouts.ts';

/*
 * Kills a payroll at random moments, starts it again each time, and then lets it end. Then does the
 * same with processes that follow the payroll by waitForAll:
 * node test/drivers/batch-deaths.ts --payouts 2000 --kills 20 [--store redis]
 */

export interface BatchDeaths {
  readonly store: StoreName;
  readonly payouts: number;
  /** How many payments the ledger had at the end of each run. */
  readonly ledger: readonly number[];
  /** How many pages of the list each run has read. */
  readonly pages: readonly number[];
  /** Results of the last run. */
  readonly results: Readonly<Record<string, number>>;
  /** How long the last run took, from the start of its loop. */
  readonly lastRunMs: number;
  readonly seconds: number;
  /** The violations. Empty when each payment was made once. */
  readonly wrong: readonly string[];
}

const limits = { gracePeriod: 2_000, totalTimeout: 1_000 };
/** The time between two retries, and what a busy machine needs besides. */
const retryMs = 10_000;

/** How soon every run has to make a new payment, in spite of the claims of earlier runs. */
const maxIdleMs = limits.gracePeriod;

const workerFile = fileURLToPath(new URL('batch-worker.ts', import.meta.url));
const startWorker = (): ChildProcess =>
  fork(workerFile, { execArgv: ['--disable-warning=ExperimentalWarning'] });

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const faults: readonly SandboxFault[] = [
  { kind: 'reset', when: 'after_commit' },
  { kind: 'reset', when: 'before_commit' },
  { kind: 'truncated_body' },
  { kind: 'status', status: 429, retryAfter: 0 },
];

export async function killPayroll(
  store: StoreName,
  { payouts, kills }: { readonly payouts: number; readonly kills: number },
): Promise<BatchDeaths> {
  const startedAt = performance.now();
  const sandbox = createPayrollSandbox();
  // The last run has no faults, because its time is measured.
  for (let after = 20; after < payouts / 2; after += 50) {
    const fault = faults[Math.floor(after / 50) % faults.length];
    if (fault !== undefined) sandbox.faults.add({ operation: 'transfers.create', after, fault });
  }
  // Slows creations down, so that each run has payments left to make.
  const ms = Math.min(200, Math.round((16 * 400 * (kills + 2)) / payouts));
  const slow = { kind: 'delay', ms } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: Infinity, fault: slow });
  const server = await listen(sandbox, { port: 0 });
  const wrong: string[] = [];
  const ids = new Map<string, string>();
  const ledger: number[] = [];
  const pages: number[] = [];
  let results: Record<string, number> = {};
  let lastRunMs = 0;
  let listed = 0;

  /** Kills a run some time after its first new payment, for which a busy machine may take long. */
  const killLater = async (worker: ChildProcess, afterMs: number): Promise<void> => {
    const before = sandbox.transfers.list().length;
    const endsAt = performance.now() + maxIdleMs;
    while (sandbox.transfers.list().length === before && performance.now() < endsAt) {
      await pause(10);
    }
    await pause(afterMs);
    worker.kill('SIGKILL');
  };

  /** Runs the payroll until it is killed, or to its end. */
  const run = async (place: string, killAfterMs: number | undefined): Promise<void> => {
    const worker = startWorker();
    results = {};
    let loopStartedAt = 0;
    worker.on('message', (report: BatchReport) => {
      if (report.kind === 'started') {
        loopStartedAt = performance.now();
        if (killAfterMs !== undefined) void killLater(worker, killAfterMs);
      } else if (report.kind === 'ended') {
        lastRunMs = Math.round(performance.now() - loopStartedAt);
        worker.kill('SIGKILL');
      } else {
        const { reference, result, transferId } = report;
        results[result] = (results[result] ?? 0) + 1;
        const before = ids.get(reference) ?? transferId;
        if (transferId === undefined) wrong.push(`${reference} is ${result}`);
        else if (before !== transferId) wrong.push(`${reference} is ${before} and ${transferId}`);
        else ids.set(reference, transferId);
      }
    });
    const { apiKey } = sandbox;
    const { baseUrl } = server;
    const order = { store: place, baseUrl, apiKey, ...limits, payouts, follows: false };
    worker.send(order satisfies BatchOrder);
    await new Promise<void>((resolve) => {
      worker.on('exit', (_, signal) => {
        if (signal !== 'SIGKILL') wrong.push('a run ended by itself');
        resolve();
      });
    });
    // Waits for requests that were on their way when the process died.
    await pause(ms + 50);
    ledger.push(sandbox.transfers.list().length);
    const lists = sandbox.log.filter(({ operation }) => operation === 'transfers.list').length;
    pages.push(lists - listed);
    listed = lists;
  };

  await withStore(store, async (place) => {
    for (let kill = 1; kill <= kills; kill += 1) await run(place, Math.random() * 500);
    await run(place, undefined);
    const { apiKey } = sandbox;
    const { baseUrl } = server;
    const order = { store: place, baseUrl, apiKey, ...limits, payouts, follows: true };
    wrong.push(...(await killFollower(sandbox, order, kills)));
  });
  await server.close();

  const made = Map.groupBy(sandbox.transfers.list(), ({ description }) => description ?? '');
  for (let number = 1; number <= payouts; number += 1) {
    const { description } = payoutOf(number);
    const transfers = made.get(description) ?? [];
    if (transfers.length !== 1) wrong.push(`${description} was paid ${transfers.length} times`);
    if (transfers[0]?.id !== ids.get(description)) wrong.push(`${description} has another id`);
  }
  for (const [at, count] of ledger.entries()) {
    const before = ledger[at - 1] ?? 0;
    if (count <= before && before < payouts) wrong.push(`run ${at + 1} made no progress`);
  }
  // The last run waits until earlier claims have expired, and makes 16 payments at a time.
  const restMs = ((payouts - (ledger.at(-2) ?? 0)) / 16) * (ms + 100);
  const maxLastRunMs = limits.gracePeriod + limits.totalTimeout + retryMs + restMs;
  if (lastRunMs > maxLastRunMs) wrong.push(`the last run took ${lastRunMs} ms`);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return { store, payouts, ledger, pages, results, lastRunMs, seconds, wrong };
}

/** Ends the transfers of a payroll and kills the processes that follow them. Returns violations. */
async function killFollower(sandbox: Sandbox, order: BatchOrder, kills: number): Promise<string[]> {
  const wrong: string[] = [];
  const ends = new Map<string, string>();
  const run = async (killAfterMs: number | undefined): Promise<void> => {
    const worker = startWorker();
    const reported = new Set<string>();
    const exit = new Promise((resolve) => worker.on('exit', resolve));
    worker.on('message', (report: BatchReport) => {
      if (report.kind === 'started' && killAfterMs !== undefined) {
        void pause(killAfterMs).then(() => worker.kill('SIGKILL'));
      } else if (report.kind === 'ended') worker.kill('SIGKILL');
      if (report.kind !== 'result') return;
      const { reference, result } = report;
      if (reported.has(reference)) wrong.push(`${reference} was reported twice in one run`);
      reported.add(reference);
      if ((ends.get(reference) ?? result) !== result) wrong.push(`${reference} has two ends`);
      ends.set(reference, result);
    });
    worker.send(order);
    await exit;
  };
  const transfers = sandbox.transfers.list();
  const steps = transfers.flatMap(({ id }, at) => [
    () => sandbox.transfers.advance(id),
    () => (at % 10 === 0 ? sandbox.transfers.fail(id) : sandbox.transfers.advance(id)),
  ]);
  for (let kill = 1; kill <= kills; kill += 1) {
    const running = run(Math.random() * 1_000);
    for (const step of steps.splice(0, Math.ceil((2 * transfers.length) / kills))) step();
    await running;
  }
  await run(undefined);
  for (const { description = '', status } of sandbox.transfers.list()) {
    const end = ends.get(String(description)) ?? 'not reported';
    if (end !== status) wrong.push(`${description} is ${status}, and was ${end}`);
  }
  return wrong;
}

if (import.meta.main) await killOnStores(killPayroll);
