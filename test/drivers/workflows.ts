import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { PaymentsClient } from 'payments-platform-sdk';
import { Pool } from 'pg';
import { postgresJournal, postgresJournalTable } from '../../src/journals/index.ts';
import type { SandboxFault } from '../../src/sandbox/index.ts';
import { listen } from '../../src/sandbox/server.ts';
import { startPostgres } from '../stores/servers.ts';
import { createPayrollSandbox, printReport } from './once-deaths.ts';
import { payoutOf } from './once-payouts.ts';

/*
 * Two processes run a recipe of docs/fail.md against a platform that fails every tenth
 * creation. This script stops the processes, kills them at random and starts them again, until each
 * payout is paid or reported:
 * node test/drivers/workflows.ts --payouts 300 --kills 12 [--recipe dbos]
 */

export const recipeFolder = fileURLToPath(
  new URL('../../examples/services/workflows', import.meta.url),
);
export const recipes = readdirSync(recipeFolder)
  .filter((file) => file !== 'client.ts')
  .map((file) => file.replace('.ts', ''));

export interface WorkflowDeaths {
  readonly recipe: string;
  readonly payouts: number;
  readonly kills: number;
  /** How often the payment that the platform rejects was sent. */
  readonly rejections: number;
  readonly faults: number;
  readonly requests: number;
  readonly seconds: number;
  /** The violations. Empty when each payment was made once, or was reported and not sent again. */
  readonly wrong: readonly string[];
}

/** How many creations at the start have no fault. */
const faultless = 40;
/** Longer than a workflow engine waits between two tries of a job. */
const retryWindowMs = 6_000;
const faults: readonly SandboxFault[] = [
  { kind: 'reset', when: 'after_commit' },
  { kind: 'reset', when: 'before_commit' },
  { kind: 'truncated_body' },
  { kind: 'status', status: 429, retryAfter: 0 },
];

/** A query for the payouts that each workflow engine reports to an operator. */
const reportedBy: Readonly<Record<string, string>> = {
  dbos: `SELECT workflow_uuid AS number FROM dbos.workflow_status WHERE status = 'ERROR'`,
  outbox: `SELECT number FROM outbox WHERE error IS NOT NULL AND due = 'infinity'`,
  'pg-boss': `SELECT data->>'number' AS number FROM pgboss.job WHERE name = 'rejected'`,
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function killRecipe(
  recipe: string,
  {
    payouts,
    kills: maxKills,
    invalid = 1,
    folder = recipeFolder,
    limitMs = 60_000 + payouts * 500,
  }: {
    readonly payouts: number;
    readonly kills: number;
    /** The number of payouts with an invalid input, which come before all others. */
    readonly invalid?: number;
    readonly folder?: string;
    /** How long the payouts may take. */
    readonly limitMs?: number;
  },
): Promise<WorkflowDeaths> {
  const startedAt = performance.now();
  const sandbox = createPayrollSandbox();
  // The recipes also pay from this account, which has no money, so that a payment is rejected.
  sandbox.accounts.create({ entityId: 'ent_000001' });
  // The first creations have no fault, so that nothing is in doubt when the first process stops.
  for (let after = faultless; after < payouts; after += 10) {
    const fault = faults[Math.floor(after / 10) % faults.length];
    if (fault !== undefined) sandbox.faults.add({ operation: 'transfers.create', after, fault });
  }
  // Slows creations down, so that processes are killed during them.
  const slow = { kind: 'delay', ms: 50 } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: Infinity, fault: slow });
  const server = await listen(sandbox, { port: 0 });
  const database = await startPostgres();
  const databaseUrl = `postgres://postgres@127.0.0.1:${database.port}/postgres`;
  const pool = new Pool({ connectionString: databaseUrl, max: 2 });
  // Ignores errors, because the database server is killed at the end.
  pool.on('error', () => undefined);
  await pool.query(postgresJournalTable);
  const journal = postgresJournal((text, values) => pool.query(text, values));
  const conflict = payoutOf(2);
  await new PaymentsClient({
    baseUrl: server.baseUrl,
    apiKey: sandbox.apiKey,
    journal,
  }).transfers.createOnce({ ...conflict, amount: '1.00' });
  const numbers = Array.from({ length: invalid }, (_, at) => `invalid-${at + 1}`);
  const expected = [...numbers, 'rejected-1', conflict.description].toSorted();
  const wrong: string[] = [];
  const running = new Set<ChildProcess>();
  let kills = 0;
  let isOver = false;
  let isStopping = false;
  let output = '';

  /** Runs a process of the recipe, and starts another one when that process was killed. */
  const start = (id: number): void => {
    if (isOver) return;
    const args = [join(folder, `${recipe}.ts`), String(payouts), String(invalid)];
    const child = spawn(process.execPath, args, {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        PAYMENTS_BASE_URL: server.baseUrl,
        PAYMENTS_API_KEY: sandbox.apiKey,
        // DBOS continues the workflows of the last process with the same name.
        DBOS__VMID: `worker-${id}`,
        NODE_NO_WARNINGS: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => (output = `${output}${data.toString()}`.slice(-4_000)));
    }
    child.on('exit', (code, signal) => {
      running.delete(child);
      if (signal === 'SIGKILL') start(id);
      else if (code !== 0 || !isStopping) wrong.push(`a process ended with ${code}: ${output}`);
    });
  };
  const countPaid = (): number => sandbox.transfers.list().length;
  const countOpen = async (): Promise<number> => {
    let open = 0;
    for await (const _ of journal.open()) open += 1;
    return open;
  };

  const readReported = async (): Promise<string[]> => {
    // Before its first start, an engine has no tables.
    const sql = reportedBy[recipe] ?? '';
    const { rows } = await pool.query<{ number: string }>(sql).catch(() => ({ rows: [] }));
    return [...new Set(rows.map(({ number }) => number))].toSorted();
  };
  const isDone = async (): Promise<boolean> =>
    countPaid() >= payouts &&
    (await countOpen()) === 0 &&
    isDeepStrictEqual(await readReported(), expected);
  /** Stops all processes as an orchestrator does, which kills those that do not end. */
  const stop = async (): Promise<void> => {
    isStopping = true;
    for (const child of running) child.kill('SIGTERM');
    for (let waited = 0; running.size > 0 && waited < 20_000; waited += 10) await pause(10);
    if (running.size > 0) wrong.push(`SIGTERM did not end a process: ${output}`);
    isStopping = false;
  };

  start(1);
  const endsAt = startedAt + limitMs;
  while (countPaid() < 6 && performance.now() < endsAt && wrong.length === 0) await pause(5);
  await stop();
  const left = await countOpen();
  if (left > 0) wrong.push(`SIGTERM left ${left} claims open`);
  start(1);
  let hasSecond = false;
  let nextKill = 1;
  // Each kill comes after some more payments, so that a busy machine makes progress.
  while (!(await isDone())) {
    if (performance.now() > endsAt || wrong.length > 0) {
      const counts = `${countPaid()} of ${payouts} are paid, ${await countOpen()} are open`;
      wrong.push(`${counts}, reported are ${(await readReported()).join()}: ${output}`);
      break;
    }
    // Engines create their tables at the first start, and two first starts would block each other.
    if (!hasSecond && countPaid() > 0) {
      hasSecond = true;
      start(2);
    }
    if (kills < maxKills && countPaid() >= (nextKill * payouts) / (maxKills + 1)) {
      const [victim] = running;
      if (victim?.kill('SIGKILL') === true) kills += 1;
      nextKill += 1;
    }
    await pause(20 + Math.random() * 100);
  }
  // With money, a request that is still under way would pay, even a rejected one that is repeated.
  sandbox.accounts.fund('acc_000003', '1000000');
  await pause(retryWindowMs);
  isOver = true;
  await stop();
  for (const child of running) child.kill('SIGKILL');
  while (running.size > 0) await pause(10);
  await pool.end();
  await database.close();
  await server.close();

  const made = Map.groupBy(sandbox.transfers.list(), ({ description }) => description ?? '');
  for (let number = 1; number <= payouts; number += 1) {
    const { description } = payoutOf(number);
    const count = made.get(description)?.length ?? 0;
    if (count !== 1) wrong.push(`${description} was paid ${count} times`);
  }
  if (made.has('rejected-1')) wrong.push('rejected-1 was paid after it was rejected');
  const creations = sandbox.log.filter(({ operation }) => operation === 'transfers.create');
  const rejections = creations.filter(({ body }) => JSON.stringify(body).includes('rejected-1'));
  // If a process is killed before it has stored the rejection, the next process sends it again.
  if (rejections.length > 1 + kills) wrong.push(`rejected-1 was sent ${rejections.length} times`);
  return {
    recipe,
    payouts,
    kills,
    rejections: rejections.length,
    faults: creations.filter(({ fault }) => fault !== undefined && fault !== 'delay').length,
    requests: sandbox.log.length,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    wrong,
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      payouts: { type: 'string', default: '300' },
      kills: { type: 'string', default: '12' },
      recipe: { type: 'string', multiple: true, default: recipes },
    },
  });
  for (const recipe of values.recipe) {
    const payouts = Number(values.payouts);
    printReport(await killRecipe(recipe, { payouts, kills: Number(values.kills) }));
  }
}
