import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from 'payments-platform-sdk';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandIn, fileOfCommand } from '../support/commands.ts';
import { recordingServer } from '../support/recording-server.ts';
import { installTarball } from '../support/tarball.ts';

// Runs the command payments-probe as a child process, and the lines of docs/going-live.md.

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'payments-probe-bin-'));
const installed = join(folder, 'node_modules/payments-platform-sdk');
const bin = fileOfCommand('probe');
const apiKey = 'sk_probe_canary_77d1"\\q';

beforeAll(async () => {
  await installTarball(folder);
  const manifest = readFileSync(join(installed, 'package.json'), 'utf8');
  const { bin: bins } = JSON.parse(manifest) as { bin: Record<string, string> };
  mkdirSync(join(folder, 'node_modules/.bin'));
  const target = join(installed, bins['payments-probe'] ?? 'none');
  symlinkSync(target, join(folder, 'node_modules/.bin/payments-probe'));
});

/** Slow tests run concurrently, so what they started is ended after all of them. */
const endings: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of endings) await end();
  rmSync(folder, { recursive: true });
});

const { start, run, runOnTerminal } = commandIn(folder, bin, (end) => {
  endings.push(end);
});

/** A sandbox over HTTP with demo data. */
async function serve(key = apiKey) {
  const sandbox = seedDemo(new Sandbox({ apiKey: key, autoAdvance: 500 }));
  const server = await listen(sandbox, { port: 0 });
  endings.push(() => server.close());
  const env = { PAYMENTS_BASE_URL: server.baseUrl, PAYMENTS_API_KEY: key };
  const writes = () => sandbox.log.filter(({ method }) => method !== 'GET');
  return { sandbox, env, writes };
}

const pay = ['--pay', '0.01', '--from', 'acc_000001', '--to', 'acc_000002'];

test('payments-probe prints its help and its version', async () => {
  const help = await run(['--help']);
  expect(help).toMatchObject({ status: 0, err: '' });
  for (const flag of ['--pay', '--from', '--to', '--pay-twice', '--yes', '--json']) {
    expect(help.out).toContain(`  ${flag} `);
  }
  expect(await run(['--version'])).toEqual({ status: 0, out: `${version}\n`, err: '' });
});

test.each([
  ['an unknown option', ['--form', 'acc_1'], 'Unknown option --form; did you mean --from?\n'],
  ['a letter', ['-h'], 'Unknown option -h.\n'],
  ['a value of a switch', ['--json=yes'], '--json takes no value.\n'],
  ['an argument', ['now'], 'Unexpected argument "now".\n'],
  ['--from without --pay', ['--from', 'acc_000001'], '--from needs --pay.'],
  ['--pay-twice without --pay', ['--pay-twice'], '--pay-twice needs --pay.'],
  ['--pay without --from', ['--pay', '1'], '--pay needs --from <id>'],
  ['--pay without --to', ['--pay', '1', '--from', 'acc_1'], '--pay needs --to <id>'],
  ['an amount of zero', ['--pay', '0.00', ...pay.slice(2)], 'not "0.00"'],
  ['an amount with a comma', ['--pay', '0,01', ...pay.slice(2)], 'not "0,01"'],
  ['a Counterparty', ['--pay', '1', '--from', 'acc_1', '--to', 'cpty_1'], 'not "cpty_1"'],
  ['one Account twice', ['--pay', '1', '--from', 'acc_1', '--to', 'acc_1'], 'the same Account'],
  ['a payment without a terminal', pay, 'pass --yes'],
])('payments-probe rejects %s with status 2, and sends nothing', async (_, args, message) => {
  const { sandbox, env } = await serve();
  const result = await run(args, env);
  expect(result).toMatchObject({ status: 2, out: '' });
  expect(result.err).toContain(message);
  expect(result.err).toContain('payments-probe --help prints the usage.\n');
  expect(sandbox.log).toEqual([]);
});

test('payments-probe exits with status 2 and names the missing variable', async () => {
  const { status, err } = await run([]);
  expect(status).toBe(2);
  expect(err).toContain('PAYMENTS_BASE_URL');
});

test('payments-probe exits with status 1 without response or valid key', async () => {
  const closed = await run([], {
    PAYMENTS_BASE_URL: 'http://127.0.0.1:9/v0',
    PAYMENTS_API_KEY: 'sk_1',
  });
  expect(closed).toMatchObject({ status: 1, out: '' });
  expect(closed.err).toMatch(/^The platform does not respond: ConnectionError, .*ECONNREFUSED/);
  const { sandbox, env } = await serve();
  const rejected = await run([], { ...env, PAYMENTS_API_KEY: 'sk_canary_of_another' });
  expect(rejected).toMatchObject({ status: 1, out: '' });
  expect(rejected.err).toContain('rejected PAYMENTS_API_KEY (401 at GET /transfers)');
  expect(rejected.err).not.toContain('canary');
  expect(sandbox.log.length).toBe(1);
});

test('payments-probe --json sends at most five requests a second, and no write', async () => {
  const { sandbox, env, writes } = await serve();
  const { status, out, err } = await run(['--json'], env);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  const report = JSON.parse(out) as { requests: number; rows: unknown[] };
  expect(Object.keys(report)).toEqual(['platform', 'startedAt', 'requests', 'rows', 'options']);
  expect(report.requests).toBe(sandbox.log.length);
  expect(writes()).toEqual([]);
  const times = sandbox.log.map(({ time }) => Date.parse(time));
  for (const [index, time] of times.entries()) {
    expect((times[index + 5] ?? Number.POSITIVE_INFINITY) - time).toBeGreaterThan(1_000);
  }
});

test.concurrent(
  'payments-probe pays only after you type yes on the terminal',
  async () => {
    const { env, writes } = await serve();
    const refused = await runOnTerminal('n\n', pay, env);
    expect(refused.status).toBe(1);
    expect(refused.out).toMatch(
      /Pay 0\.01 from acc_000001 to acc_000002 on http\S+ \(key sha256:[0-9a-f]{12}\)\? \[y\/N\] /,
    );
    expect(refused.out).toContain('Nothing was paid.');
    expect(writes()).toEqual([]);
    const paid = await runOnTerminal('y\n', [...pay, '--pay-twice'], env);
    expect(paid.out).toContain('and up to two more transfers to try Idempotency-Key');
    expect(paid.out).toContain('Ignored: another amount with the');
    expect(writes().map(({ operation }) => operation)).toEqual([
      'transfers.create',
      'transfers.create',
    ]);
    expect(paid.out).not.toContain('canary');
  },
  180_000,
);

test.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
  'payments-probe prints its payment’s description if %s interrupts the payment',
  async (signal) => {
    const { sandbox, env, writes } = await serve();
    sandbox.faults.add({
      operation: 'transfers.create',
      fault: { kind: 'hang', when: 'after_commit' },
    });
    const { child, ended } = start(process.execPath, [bin, ...pay, '--yes'], env);
    await expect.poll(() => writes().length, { timeout: 60_000 }).toBe(1);
    child.kill(signal);
    const { status, out, err } = await ended;
    expect({ status, out }).toEqual({ status: 1, out: '' });
    expect(err).toContain(`"${sandbox.transfers.list().at(-1)?.description}". Look for "Probe `);
  },
  90_000,
);

test.concurrent(
  'payments-probe prints no credential that the platform echoes',
  async () => {
    const echo = (text: string) => text.replaceAll('ECHO', apiKey.replaceAll('"', "'") + apiKey);
    const server = await recordingServer((request) => {
      const record = {
        id: echo('acc_ECHO'),
        [echo('ECHO')]: 1,
        type: echo('ECHO'),
        currency: echo('ECHO'),
      };
      const isList = /^\/v0\/\w+$/.test(new URL(request.url).pathname);
      const page = {
        data: [{ ...record, createdAt: echo('ECHO') }],
        hasMore: false,
        nextCursor: null,
      };
      const error = { error: echo('ECHO'), code: echo('ECHO') };
      return new Response(JSON.stringify(isList ? page : error), {
        status: isList ? 200 : 404,
        headers: {
          'content-type': 'application/json',
          server: apiKey,
          via: apiKey,
        },
      });
    });
    endings.push(() => server.close());
    const env = { PAYMENTS_BASE_URL: `${server.origin}/v0`, PAYMENTS_API_KEY: apiKey };
    for (const flags of [[], ['--json']]) {
      const { status, out, err } = await run(flags, env);
      expect([status, out.length > 100]).toEqual([3, true]);
      expect(out + err).not.toContain('canary');
    }
  },
  120_000,
);

const guide = readFileSync(join(root, 'docs/going-live.md'), 'utf8');
const blockOf = (language: string, index = 0): string =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))][index]?.[1] ??
  '';

test.concurrent(
  'docs/going-live.md leads from payments-probe to a first payment',
  async () => {
    const sandbox = seedDemo(
      new Sandbox({ apiKey: 'sk_sandbox_1', listOrder: 'newest_first', autoAdvance: 500 }),
    );
    for (let number = 0; number < 120; number += 1) {
      sandbox.transfers.create({
        sourceAccountId: 'acc_000001',
        destinationAccountId: 'acc_000003',
        amount: '1.00',
        description: `invoice ${number}`,
      });
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
    const server = await listen(sandbox, { port: 0 });
    endings.push(() => server.close());
    const env = { PAYMENTS_BASE_URL: server.baseUrl, PAYMENTS_API_KEY: 'sk_sandbox_1' };
    const lines = blockOf('sh', 1).trim().split('\n');
    expect(lines.map((line) => line.replace(/ #.*/, ''))).toEqual([
      'npx payments-probe',
      'npx payments-probe --pay 0.01 --from acc_000001 --to acc_000002',
      'npx payments-probe --json > probe.json',
    ]);
    const outputs = [];
    for (const line of lines) {
      const command = line.replace(
        /^npx payments-probe/,
        `"$NODE" node_modules/.bin/payments-probe`,
      );
      const isPayment = line.includes('--pay');
      const { ended } = start('sh', ['-c', isPayment ? `${command} --yes` : command], {
        ...env,
        NODE: process.execPath,
      });
      const result = await ended;
      expect(result).toMatchObject({ status: 0, err: '' });
      outputs.push(result.out);
    }
    const [options = ''] = /^platform: \{\n[^]*?^\},\n/m.exec(outputs[1] ?? '') ?? [];
    expect(options).toContain('transfersNewestFirst: true');
    const program = blockOf('ts').replace(
      '  // The option platform that the probe printed comes here.\n',
      options,
    );
    expect(program).toContain(options);
    const path = join(folder, 'pay.mts');
    writeFileSync(path, program);
    const compiled = ts.createProgram([path], {
      strict: true,
      noEmit: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2024,
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
    });
    expect(ts.getPreEmitDiagnostics(compiled).map(({ messageText }) => messageText)).toEqual([]);
    for (let count = 0; count < 2; count += 1) {
      const { ended } = start(process.execPath, [path], env);
      expect(await ended).toMatchObject({
        status: 0,
        out: expect.stringMatching(/^txfr_000127 \w+\n$/),
      });
    }
    const made = sandbox.log.filter(({ operation }) => operation === 'transfers.create');
    expect(made.length).toBe(1 + 1);
  },
  240_000,
);
