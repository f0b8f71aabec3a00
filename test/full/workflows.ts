import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { postgresJournal, postgresJournalTable } from '../../src/journals/index.ts';
import type { SandboxFault } from '../../src/sandbox/index.ts';
import { listen } from '../../src/sandbox/server.ts';
import { startPostgres } from '../stores/servers.ts';
import { createPayrollSandbox } from './once-deaths.ts';
import { payoutOf } from './once-payouts.ts';

/*
 * Two processes run a recipe of docs/workflows.md against a platform that fails every tenth creation; they are
 * killed at random and started again, until every payout is paid:
 * node test/full/workflows.ts --payouts 300 --kills 12 [--recipe dbos]
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
  readonly faults: number;
  readonly requests: number;
  readonly seconds: number;
  /** The violations; empty when each payment was made once. */
  readonly wrong: readonly string[];
}

const faults: readonly SandboxFault[] = [
  { kind: 'reset', when: 'after_commit' },
  { kind: 'reset', when: 'before_commit' },
  { kind: 'truncated_body' },
  { kind: 'status', status: 429, retryAfter: 0 },
];

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function killRecipe(
  recipe: string,
  {
    payouts,
    kills: maxKills,
    folder = recipeFolder,
  }: { readonly payouts: number; readonly kills: number; readonly folder?: string },
): Promise<WorkflowDeaths> {
  const startedAt = performance.now();
  const sandbox = createPayrollSandbox();
  for (let after = 3; after < payouts; after += 10) {
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
  // The server is killed at the end.
  pool.on('error', () => undefined);
  await pool.query(postgresJournalTable);
  const journal = postgresJournal((text, values) => pool.query(text, values));
  const wrong: string[] = [];
  const running = new Set<ChildProcess>();
  let kills = 0;
  let isOver = false;
  let output = '';

  /** Runs one process of the recipe, and another when it has ended. */
  const start = (id: number): void => {
    if (isOver) return;
    const child = spawn(process.execPath, [join(folder, `${recipe}.ts`), String(payouts)], {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        PAYMENTS_BASE_URL: server.baseUrl,
        PAYMENTS_API_KEY: sandbox.apiKey,
        // A process of DBOS continues the workflows of the last one with its name.
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
      if (signal !== 'SIGKILL') wrong.push(`a process ended with ${code}: ${output}`);
      else start(id);
    });
  };
  const countPaid = (): number => sandbox.transfers.list().length;
  const countOpen = async (): Promise<number> => {
    let open = 0;
    for await (const _ of journal.open()) open += 1;
    return open;
  };

  start(1);
  let hasSecond = false;
  const endsAt = startedAt + 60_000 + payouts * 500;
  let nextKill = 1;
  // Each kill comes after some more payments, so that a busy machine makes progress.
  while (countPaid() < payouts || (await countOpen()) > 0) {
    if (performance.now() > endsAt || wrong.length > 0) {
      wrong.push(`${countPaid()} of ${payouts} are paid, ${await countOpen()} are open: ${output}`);
      break;
    }
    // Engines create their tables at the first start, and two of them at once block each other.
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
  // What is still under way may pay once more.
  await pause(2_000);
  isOver = true;
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
  const creations = sandbox.log.filter(({ operation }) => operation === 'transfers.create');
  return {
    recipe,
    payouts,
    kills,
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
    const report = await killRecipe(recipe, { payouts, kills: Number(values.kills) });
    console.log(JSON.stringify(report));
    if (report.wrong.length > 0) process.exitCode = 1;
  }
}
