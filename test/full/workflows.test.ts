import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DBOS } from '@dbos-inc/dbos-sdk';
import * as sdk from 'payments-platform-sdk';
import {
  httpStatusOf,
  isApiError,
  isOutcomeUnknown,
  isPaymentsError,
  PaymentsError,
  paymentsErrorFrom,
} from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { expect, onTestFinished, test } from 'vitest';
import { createPayrollSandbox } from '../drivers/once-deaths.ts';
import { startPostgres } from '../stores/servers.ts';
import { killRecipe, recipeFolder, recipes } from '../drivers/workflows.ts';

/**
 * `node test/drivers/workflows.ts` has 300 payouts. An outbox reads fewer at once than are invalid. A slow machine
 * had paid 73 of 80 by DBOS after 107 s.
 */
const counts = { payouts: 80, kills: 3, invalid: 25, limitMs: 300_000 };

test('each workflow example pays every payout once or reports the payout unpaid', async () => {
  expect(recipes).toEqual(['dbos', 'outbox', 'pg-boss']);
  const reports = await Promise.all(recipes.map((recipe) => killRecipe(recipe, counts)));
  for (const report of reports) {
    console.log(JSON.stringify(report));
    expect(report.wrong).toEqual([]);
    expect(report.kills).toBe(counts.kills);
    expect(report.rejections).toBeGreaterThanOrEqual(1);
    expect(report.faults).toBeGreaterThanOrEqual(4);
  }
});

const onlyRetryable = 'if (!isPaymentsError(error) || error.retryable) throw error;';

// These workers repeat for ever, so the two tests wait for the same half minute.
test.concurrent.for([
  [
    'calls create',
    'pays twice',
    'createOnce(job.data.input)',
    'create(job.data.input)',
    /was paid 2 times/,
  ],
  [
    'retries a rejection',
    'pays a rejected payment later',
    onlyRetryable,
    'throw error;',
    /rejected-1 was paid after it was rejected/,
  ],
] as const)(
  'a careless pg-boss worker that %s %s',
  async ([, , line, careless, wrong], { expect: expectHere, onTestFinished: clean }) => {
    // The folder is in the repository, so that the imports of the recipe are found.
    const folder = mkdtempSync(join(recipeFolder, '..', 'careless-'));
    clean(() => {
      rmSync(folder, { recursive: true });
    });
    cpSync(recipeFolder, folder, { recursive: true });
    const file = join(folder, 'pg-boss.ts');
    const text = readFileSync(file, 'utf8');
    expectHere(text).toContain(line);
    expectHere(text).toContain(onlyRetryable);
    writeFileSync(file, text.replace(line, careless).replace(onlyRetryable, 'throw error;'));
    const report = await killRecipe('pg-boss', { payouts: 50, kills: 1, folder, limitMs: 30_000 });
    expectHere(report.wrong.join()).toMatch(wrong);
  },
);

test('the example payroll.ts leaves no claim open after SIGTERM', async () => {
  const sandbox = createPayrollSandbox();
  const { id: counterparty } = sandbox.counterparties.create({ entityId: 'ent_000001' });
  const slow = { kind: 'delay', ms: 20 } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: Infinity, fault: slow });
  const server = await listen(sandbox, { port: 0 });
  const folder = mkdtempSync(join(tmpdir(), 'payments-payroll-'));
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const env = {
    ...process.env,
    PAYMENTS_BASE_URL: server.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
    SOURCE_ACCOUNT: 'acc_000001',
    COUNTERPARTY: counterparty,
  };
  const program = join(recipeFolder, '../../payroll.ts');
  const start = () => spawn(process.execPath, [program], { cwd: folder, env, stdio: 'ignore' });
  const stopped = start();
  await expect.poll(() => sandbox.transfers.list().length, { timeout: 10_000 }).toBeGreaterThan(20);
  stopped.kill('SIGTERM');
  expect(await once(stopped, 'exit')).toEqual([1, null]);
  const made = sandbox.transfers.list().length;
  expect(made).toBeLessThan(200);
  const journal = sqliteJournal(join(folder, 'payroll-2026-11.db'));
  for await (const open of journal.open()) expect(open).toBeUndefined();
  journal.close();
  expect(await once(start(), 'exit')).toEqual([0, null]);
  const references = sandbox.transfers.list().map(({ description }) => description);
  expect([references.length, new Set(references).size]).toEqual([200, 200]);
});

type ErrorClass = new (message: string, facts: object) => PaymentsError;

const classes = Object.values(sdk).filter(
  (value) => typeof value === 'function' && Object(value.prototype) instanceof Error,
) as unknown as readonly ErrorClass[];

test('every error class survives a checkpoint of DBOS', async () => {
  const database = await startPostgres();
  onTestFinished(() => database.close());
  const errors = classes.flatMap((ErrorClass) =>
    (['not_sent', 'rejected', 'unknown'] as const).map((outcome) => {
      const attempts = [{ outcome, status: 503, durationMs: 5, reason: 'status 503' }];
      const once = { reason: 'in_doubt', reference: 'invoice 4711', retryAfterMs: 5_000 };
      const facts = {
        attempts,
        ...once,
        status: 404,
        code: 'missing',
        issues: [],
        retryable: true,
      };
      const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
      return new ErrorClass('It failed.', { ...facts, outcome, body: '{}', cause });
    }),
  );
  const thrown: unknown[] = [];
  const workflow = DBOS.registerWorkflow(
    async () => {
      for (const error of errors) {
        await DBOS.runStep(() => Promise.reject(error), { name: 'fail' }).catch((caught: unknown) =>
          thrown.push(caught),
        );
      }
    },
    { name: 'errors' },
  );
  const systemDatabaseUrl = `postgres://postgres@127.0.0.1:${database.port}/postgres`;
  DBOS.setConfig({ name: 'errors', systemDatabaseUrl, logLevel: 'error' });
  await DBOS.launch();
  const first = await DBOS.startWorkflow(workflow)();
  await first.getResult();
  expect(thrown).toHaveLength(errors.length);
  thrown.length = 0;
  // The replay reads every step from its checkpoint.
  const replay = await DBOS.forkWorkflow(first.workflowID, errors.length);
  await replay.getResult();
  await DBOS.shutdown();
  expect(thrown.filter((value) => value instanceof PaymentsError)).toEqual([]);
  expect(thrown).toHaveLength(errors.length);
  for (const [at, error] of errors.entries()) {
    const value = thrown[at];
    expect(paymentsErrorFrom(value)?.constructor).toBe(error.constructor);
    expect(paymentsErrorFrom(value)?.toJSON()).toEqual(error.toJSON());
    expect(isPaymentsError(value)).toBe(true);
    expect(isApiError(value)).toBe(isApiError(error));
    expect(isOutcomeUnknown(value)).toBe(error.outcome === 'unknown');
    expect(httpStatusOf(value)).toBe(httpStatusOf(error));
  }
});

test('each workflow example has at most 30 lines and a link', () => {
  const guide = readFileSync(fileURLToPath(new URL('../../docs/pay.md', import.meta.url)), 'utf8');
  for (const recipe of recipes) {
    const text = readFileSync(join(recipeFolder, `${recipe}.ts`), 'utf8');
    expect(text.trim().split('\n').length).toBeLessThanOrEqual(30);
    expect(guide).toContain(`examples/services/workflows/${recipe}.ts`);
  }
});
