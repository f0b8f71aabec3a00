import { execFile } from 'node:child_process';
import { describe, expect, test } from 'vitest';

/*
 * What Node prints of an error that nobody catches: at most 25 lines with those that Node itself adds.
 * Each program is a line of code in a function, with a client of a platform that does not respond
 * (`closed`) and a client of a sandbox (`payments`).
 */

const input = `{ sourceAccountId: 'acc_000001', destinationAccountId: 'acc_000002', amount: '1.00', description: 'invoice 1' }`;
const fault = (text: string) =>
  `sandbox.faults.add({ operation: 'transfers.create', times: 1, fault: ${text} });`;
const lost = fault(`{ kind: 'reset', when: 'before_commit' }`);

const programs: Readonly<Record<string, string>> = {
  create: `await closed.transfers.create(${input})`,
  createOnce: `await closed.transfers.createOnce(${input})`,
  'a createOnce in doubt': `${lost} await payments.transfers.createOnce(${input})`,
  'an ambiguous createOnce': `${lost} await payments.transfers.createOnce(${input}).catch(() => undefined);
    const { baseUrl, apiKey } = sandbox.clientOptions;
    const headers = { authorization: 'Bearer ' + apiKey, 'content-type': 'application/json' };
    const body = JSON.stringify({ ...${input}, amount: '2.00' });
    await sandbox.fetch(new Request(baseUrl + '/transfers', { method: 'POST', headers, body }));
    await payments.withOptions({}).transfers.createOnce(${input})`,
  'a batch': `await payments.transfers.createAllOnce([${input}], { concurrency: 0, since: 'x', expect: 5 })`,
  'a list': `for await (const each of closed.transfers.list()) void each`,
  'pages of a list': `for await (const each of closed.transfers.list().pages()) void each`,
  toArray: `await closed.transfers.list().toArray({ max: 4 })`,
  get: `await closed.transfers.get('acc_1')`,
  'a get with retries': `${fault(`{ kind: 'status', status: 503 }`).replace('create', 'get').replace('times: 1', 'times: 9')} await payments.transfers.get('txfr_000001')`,
  'wrong arguments': `await closed.transfers.create({ sourceAccountId: '', amount: 5, foo: 1 })`,
  'details of a 422': `await payments.transfers.create({ ...${input}, amount: '99999999999' })`,
  'a page of a proxy': `${fault(`{ kind: 'html' }`)} await payments.transfers.create(${input})`,
  'a timeout': `${fault(`{ kind: 'hang', when: 'after_commit' }`)} await payments.transfers.create(${input}, { timeout: 50 })`,
  'a failed wait': `const { id } = await payments.transfers.create(${input}); sandbox.transfers.fail(id); await payments.transfers.waitFor(id)`,
  waitForAll: `await closed.transfers.waitForAll([${input}], { timeout: 1 })`,
  reconcileAll: `await closed.transfers.reconcileAll([${input}])`,
  listUndecided: `for await (const each of closed.transfers.listUndecided({ olderThan: 'x' })) void each`,
  decide: `await closed.transfers.decide('x', 'y')`,
  'the constructor': `new PaymentsClient({ timeout: 'x' })`,
};

const names = ['PaymentsClient', 'memoryJournal', 'Sandbox, seedDemo'];
const entries = ['', '/journals', '/sandbox'];
const load = {
  module: entries.map(
    (entry, at) => `import { ${names[at]} } from 'payments-platform-sdk${entry}';`,
  ),
  commonjs: entries.map(
    (entry, at) => `const { ${names[at]} } = require('payments-platform-sdk${entry}');`,
  ),
};

/** Runs a program to its end, and returns what it prints on stderr. */
const run = (type: 'module' | 'commonjs', code: string): Promise<string> => {
  const program = `${load[type].join(' ')}
    const closed = new PaymentsClient({ baseUrl: 'http://127.0.0.1:9/v0', apiKey: 'sk_x', jwt: null, journal: memoryJournal(), maxRetries: 0 });
    const sandbox = seedDemo(new Sandbox());
    const payments = new PaymentsClient({ ...sandbox.clientOptions, journal: memoryJournal() });
    async function callerOfThisLine() {
      ${code};
    }
    ${type === 'module' ? 'await ' : ''}callerOfThisLine();`;
  return new Promise((resolve) => {
    const flags = [`--input-type=${type}`, '--eval', program];
    execFile(process.execPath, flags, (_, __, stderr) => {
      resolve(stderr);
    });
  });
};

test("a worker thread's uncaught error keeps its fields in the parent", async () => {
  const code = `const { Worker, isMainThread } = require('node:worker_threads');
    const { PaymentsClient } = require('payments-platform-sdk');
    const start = () => new PaymentsClient({ baseUrl: 'http://127.0.0.1:9/v0', apiKey: 'sk_x' }).transfers.get('acc_1');
    const ended = (error) => console.error(Object.keys(error).join());
    if (isMainThread) new Worker(process._eval, { eval: true }).on('error', ended);
    else start();`;
  const printed = await new Promise((resolve) => {
    execFile(process.execPath, ['--eval', code], (_, __, stderr) => {
      resolve(stderr);
    });
  });
  expect(printed).toContain('outcome,issues,operation,method,path');
});

describe.for(['module', 'commonjs'] as const)('an uncaught error of %s', (type) => {
  test.for(Object.entries(programs))(
    'prints at most 25 lines, and the caller’s line first: %s',
    async ([, code]) => {
      const printed = await run(type, code);
      const lines = printed.trimEnd().split('\n');
      expect(lines.length, printed).toBeLessThanOrEqual(25);
      expect(
        lines.find((line) => line.startsWith('    at ')),
        printed,
      ).toMatch(/^    at (async )?callerOfThisLine /);
      expect(printed).toContain('outcome: "');
    },
  );

  test('prints each issue once', async () => {
    const printed = await run(type, programs['wrong arguments'] ?? '');
    expect(printed.match(/got 5; expected a decimal string/g)).toHaveLength(1);
  });

  test('prints the first error of an AggregateError in its cause', async () => {
    const veto = `throw new Error('Is the database up?', { cause: new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]) })`;
    const program = `await payments.withOptions({ authorize: () => { ${veto} } }).transfers.create(${input})`;
    expect(await run(type, program)).toContain('AggregateError: connect ECONNREFUSED ::1:5432');
  });

  test('has all its fields in a handler of uncaught errors', async () => {
    const handler = `let last; process.on('uncaughtException', (error) => { last = error; });
      process.on('exit', () => console.error(Object.keys({ ...last }), last.cause));`;
    const printed = await run(type, `${handler} ${programs['create']}`);
    for (const field of [
      'outcome',
      'attempts',
      'operation',
      'method',
      'startedAt',
      'ECONNREFUSED',
    ]) {
      expect(printed).toContain(field);
    }
  });
});
