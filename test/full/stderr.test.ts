import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

const load = {
  module: (names: string, entry = '') =>
    `import { ${names} } from 'payments-platform-sdk${entry}';`,
  commonjs: (names: string, entry = '') =>
    `const { ${names} } = require('payments-platform-sdk${entry}');`,
};

/** Starts a program with a sandbox on a port, a journal and two clients. */
function start(
  type: keyof typeof load,
  { first = '', code }: { first?: string; code: string },
  env: NodeJS.ProcessEnv = {},
) {
  const program = `${load[type]('PaymentsClient')}
    ${load[type]('memoryJournal, sqliteJournal', '/journals')}
    ${load[type]('Sandbox, seedDemo', '/sandbox')}
    ${load[type]('listen', '/sandbox/server')}
    async function main() {
      ${first}
      const sandbox = seedDemo(new Sandbox());
      const server = await listen(sandbox, { port: 0 });
      const { JOURNAL } = process.env;
      const journal = JOURNAL ? sqliteJournal(JOURNAL, { searchFirst: 'never' }) : memoryJournal();
      let hooked = 0;
      const hooks = { onResponse: () => { hooked += 1; } };
      const { apiKey } = sandbox.clientOptions;
      const options = { baseUrl: server.baseUrl, apiKey, jwt: null, journal, hooks, maxRetries: 0 };
      const [payments, other] = [new PaymentsClient(options), new PaymentsClient(options)];
      const input = { sourceAccountId: 'acc_000001', destinationAccountId: 'acc_000002', amount: '1.00', description: 'invoice 1' };
      const lose = (operation, when) => sandbox.faults.add({ operation, times: 'always',
        fault: when ? { kind: 'reset', when } : { kind: 'status', status: 503 } });
      ${code}
      await server.close();
    }
    main();`;
  const { VITEST: _, NODE_ENV: __, ...others } = process.env;
  return spawn(process.execPath, [`--input-type=${type}`, '--eval', program], {
    env: { ...others, ...env },
  });
}

async function end(child: ReturnType<typeof start>) {
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => (output.stdout += String(data)));
  child.stderr.on('data', (data) => (output.stderr += String(data)));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, ...output };
}

const pay20 = `for (let at = 1; at <= 20; at += 1) await payments.transfers.createOnce({ ...input, description: 'invoice ' + at });
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.stdout.write('paid, ' + hooked + ' responses');`;

/** What keeps the SDK from printing. */
const broken: Readonly<Record<string, string>> = {
  'a console that throws': `console.warn = console.error = () => { throw new Error('no console'); };`,
  'no console': `delete globalThis.console;`,
  'a stderr that throws': `process.stderr.write = () => { throw new Error('EAGAIN'); };`,
  'a stderr that emits errors': `process.stderr.write = () => { process.nextTick(() => process.stderr.emit('error', new Error('EPIPE'))); return false; };`,
  'a stderr that was destroyed': `process.stderr.destroy();`,
};

describe.for(['module', 'commonjs'] as const)('a process of %s', (type) => {
  test.for(Object.entries(broken))('makes 20 payments with %s', async ([, first]) => {
    const child = start(type, { first, code: pay20 }, { PAYMENTS_LOG: 'debug' });
    expect(await end(child)).toMatchObject({ status: 0, stdout: 'paid, 20 responses' });
  });

  test.for(['debug', 'warn', ''])(
    'pays although nobody reads its stderr, with PAYMENTS_LOG=%s',
    async (log) => {
      const child = start(type, { code: pay20 }, { PAYMENTS_LOG: log });
      child.stderr.destroy();
      const result = { stdout: '' };
      child.stdout.on('data', (data) => (result.stdout += String(data)));
      const [status] = (await once(child, 'exit')) as [number | null];
      expect({ status, ...result }).toEqual({ status: 0, stdout: 'paid, 20 responses' });
    },
  );
});

/** The lines on stderr of a program whose journal is a file that exists already. */
async function linesOf(code: string, memory = false): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'lines-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = memory ? {} : { JOURNAL: join(folder, 'journal.db') };
  const made = await end(
    start('module', { code: 'await payments.transfers.createOnce(input);' }, env),
  );
  const kind = memory ? 'a journal in memory ends' : 'is a new journal without entries';
  expect(made.stderr.trim().split('\n')).toEqual([expect.stringContaining(kind)]);
  const { stderr, status } = await end(start('module', { code }, env));
  expect(status).toBe(0);
  return stderr.split('\n').filter((line) => line !== '' && !line.includes('in memory ends'));
}

const doubt = `input.description = 'invoice 2'; lose('transfers.create', 'after_commit'); lose('transfers.list');
  const call = (client) => client.transfers.createOnce(input).catch(() => undefined);
  await call(payments);`;

describe('a line on stderr', () => {
  test('is absent if every payment is made', async () => {
    const batch = `await payments.transfers.createAllOnce([2, 3].map((at) => ({ ...input, description: 'invoice ' + at })));`;
    expect(await linesOf(`${batch} ${batch}`)).toEqual([]);
  });

  test('counts a payment in doubt once, despite many calls and clients', async () => {
    const lines = await linesOf(`${doubt} await call(other); await call(payments);
      for await (const row of other.transfers.createAllOnce([input], { retryTimeout: 1 })) void row;`);
    expect(lines.filter((line) => line.includes('this process ends'))).toEqual([
      'payments-platform-sdk: this process ends without knowing whether 1 payment took effect. Call createOnce again with the same reference; payments-journal list shows what is open.',
    ]);
  });

  test('does not advise paying again after a journal in memory', async () => {
    expect(await linesOf(doubt, true)).toEqual([
      'payments-platform-sdk: this process ends without knowing whether 1 payment took effect. The journal was in memory, so the next process pays again: look in the list of transfers first.',
    ]);
  });

  test.for([
    ['a later call', `await other.transfers.createOnce(input);`],
    ['a batch', `await other.transfers.createAllOnce([input]);`],
    [
      'an operator',
      `let id; for await (const each of other.transfers.list()) if (each.description === 'invoice 2') id = each.id;
       await other.transfers.decide('invoice 2', id);`,
    ],
  ] as const)('does not count a payment that was decided by %s', async ([, decide]) => {
    expect(await linesOf(`${doubt} sandbox.faults.clear(); ${decide}`)).toEqual([]);
  });

  test.for([
    ['was rejected', `input.description = 'invoice 2'; input.amount = '99999999';`],
    ['was vetoed', `input.description = 'invoice 2'; options.authorize = () => false;`],
    ['was not sent', `input.description = 'invoice 2'; options.baseUrl = 'http://127.0.0.1:2/v0';`],
  ] as const)('does not count a payment that %s', async ([, change]) => {
    const code = `${change} await new PaymentsClient(options).transfers.createOnce(input).catch(() => undefined);`;
    expect(await linesOf(code)).toEqual([]);
  });

  test('warns of equal terms once for each payment in doubt', async () => {
    const lines = await linesOf(`${doubt} sandbox.faults.clear();
      for (const at of [3, 4, 5]) await other.transfers.createOnce({ ...input, description: 'invoice ' + at });
      await call(payments);`);
    expect(lines).toEqual([expect.stringMatching(/invoice 3 is sent although invoice 2,/)]);
  });
});
