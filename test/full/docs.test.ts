import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import ts from 'typescript';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { installTarball } from '../support/tarball.ts';

// Compiles and runs every code block of README, guides and docstrings, each in an empty folder with
// the packed tarball.

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Block {
  readonly name: string;
  readonly code: string;
}

const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(root, path).startsWith(join('docs', 'api')));

function blocksOf(path: string): Block[] {
  const source = readFileSync(path, 'utf8');
  // In a docstring each line starts with a star.
  const text = path.endsWith('.ts') ? source.replace(/^[ \t]*\* ?/gm, '') : source;
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match, index) => ({
    name: `${relative(root, path)} block ${index + 1}`,
    code: match[1] ?? '',
  }));
}

const blocks = [
  join(root, 'README.md'),
  ...filesBelow('docs', '.md'),
  ...filesBelow('src', '.ts'),
].flatMap(blocksOf);

const folder = mkdtempSync(join(tmpdir(), 'payments-docs-'));
const pathOf = (index: number): string => join(folder, 'blocks', String(index), 'block.mts');
beforeAll(async () => {
  await installTarball(folder);
  for (const [index, { code }] of blocks.entries()) {
    mkdirSync(join(pathOf(index), '..'), { recursive: true });
    // The guides show an absolute path for production, where a test may not write.
    writeFileSync(pathOf(index), code.replace('/var/lib/payments', join(pathOf(index), '..')));
  }
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function run(args: readonly string[], env: Record<string, string> = {}, cwd = root) {
  return new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    child.on('close', (code) => {
      resolve({ code, output });
    });
  });
}

test('this test finds more than 50 code blocks in the documentation', () => {
  expect(blocks.length).toBeGreaterThan(50);
});

test.concurrent.each(blocks.map(({ name }, index) => ({ name, index })))(
  'the code block $name of the documentation runs alone',
  async ({ name, index }) => {
    // Blocks of guides and docstrings may read the environment. The first id of each kind exists there.
    const server = await listen(seedDemo(new Sandbox()), { port: 0 });
    const env = {
      PAYMENTS_BASE_URL: server.baseUrl,
      PAYMENTS_API_KEY: server.clientOptions.apiKey,
      PAYMENTS_JWT: server.clientOptions.jwt,
    };
    const path = pathOf(index);
    try {
      const result = await run([path], name.startsWith('README.md') ? {} : env, join(path, '..'));
      expect(result.output).not.toMatch(/Error:/);
      expect(result.code).toBe(0);
    } finally {
      await server.close();
    }
  },
);

test('every code block compiles with the source’s strict options', () => {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
    ts.sys,
    root,
  );
  const typeRoots = [join(root, 'node_modules', '@types')];
  const program = ts.createProgram(
    blocks.map((_, index) => pathOf(index)),
    { ...options, paths: {}, typeRoots },
  );
  const wrong = blocks.flatMap(({ name }, index) => {
    const file = program.getSourceFile(pathOf(index));
    return [...program.getSemanticDiagnostics(file), ...program.getSyntacticDiagnostics(file)].map(
      ({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  });
  expect(wrong).toEqual([]);
});

/** Lines that each example has to print. */
const stories: Readonly<Record<string, readonly RegExp[]>> = {
  'end-of-day.ts': [
    /^"completed","payroll-2026-11-0001","10.50","USDC",.*"completed"/m,
    /^"failed","payroll-2026-11-0002",/m,
    /^"missing","payroll-2026-11-0003","30.50","USDC","acc_000001","cpty_000001",,,,$/m,
    /^"ambiguous","payroll-2026-11-0004","40.50",.*"4.05","pending"/m,
    /^"unexpected","'=HYPERLINK\(""https/m,
    /missing: 1 30\.5 USDC/,
    /1 completed, 5 to look at/,
  ],
  'error-catalogue.ts': [
    /an option is missing: ConfigurationError, outcome not_sent/,
    /no response: TimeoutError, outcome unknown/,
    /a cursor loop: PaginationError/,
    /status 429: RateLimitError, outcome rejected/,
  ],
  'export-to-csv.ts': [
    /it broke off: ServerError\nit broke off: PaginationError/,
    /^"id","createdAt","status","amount","currency","description"\n/m,
    /^"txfr_000001",.*,"'=HYPERLINK\(""https/m,
    /^"txfr_000002",.*,"Müller"$/m,
    /450 rows, 450 of them different/,
  ],
  'finish-open-payments.ts': [
    /payroll-2026-11-0002 is sending since 20/,
    /payroll-2026-11-0001 found txfr_000006\n/,
    /payroll-2026-11-0002 created txfr_000007\n/,
    /2 paid, 0 in doubt, 0 not paid, 0 failed/,
  ],
  'follow.ts': [
    /20 of 20 accepted\n[^]*20 of 20 accepted/,
    /20 told, each once: 10 in the first run, 10 after it/,
  ],
  'instructions.ts': [/built with salt 9007199254740993n/, /Refuel has run 1/, /executed: Success/],
  'multi-tenant.ts': [/harbour sees treasury@harbour\.example\n/, /orchard sees treasury@orchard/],
  'pay-and-wait.ts': [/arrived: 25\.00 USDC/, /did not arrive: /],
  'payroll.ts': [
    /200 paid, 0 in doubt, 0 not paid, 0 failed/,
    /200 transfers on the platform, 200 of them different/,
  ],
  'quickstart.ts': [
    /#{12}\.{13} 100 of 200\n3\. It has killed itself .* the journal has \d+ open payments/,
    /#{25} 200 of 200\n5\. The platform has 200 transfers with 200 references/,
    /6\. .* ambiguous\.\n7\. Open: invoice 4711, which may be (txfr_\d+) or .*\n8\. .* returns \1,/,
    /9\. Its page was at http:/,
  ],
  'unknown-outcome.ts': [/txfr_000001 had been accepted/, /search again before/, /account: 60\.00/],
  'virtual-clock.ts': [/0 accounts, after 2 requests/],
  'your-own-test.ts': [/pass 2/, /fail 0/],
};

// test/runtimes runs the examples below this folder, which need other packages.
test.concurrent.each(globSync('examples/*.ts', { cwd: root }))(
  'the example %s prints the expected lines',
  async (path) => {
    const result = await run([path]);
    expect(result.output).not.toMatch(/^\s*at /m);
    // The example ends with 1 as an alert, because a payment of its day is missing.
    expect(result.code).toBe(path.endsWith('end-of-day.ts') ? 1 : 0);
    const story = stories[path.slice('examples/'.length)] ?? [/this example has no story/];
    for (const part of story) expect(result.output).toMatch(part);
  },
  60_000,
);

test.each([
  ['new transfers appear during the export', undefined],
  ['the platform answers 400 to the cursors of the first start', 400],
  ['the platform answers 404 to the cursors of the first start', 404],
  ['the platform answers 410 to the cursors of the first start', 410],
])('the example export-to-csv.ts writes each transfer once, even if %s', async (_, expired) => {
  const add = (id: string, description = `invoice ${id}`) => ({
    id,
    status: 'completed',
    amount: '1.00',
    currency: 'USDC',
    description,
  });
  const descriptions = [
    '=HYPERLINK("https://example.com","salary")',
    'Müller',
    'two\n"txfr_new1","lines"',
  ];
  const original = Array.from({ length: 350 }, (_, at) => add(`txfr_${at}`, descriptions[at]));
  const listed = [...original];
  let requests = 0;
  let starts = 0;
  // A cursor of this platform is the start of the export and an offset, and three new transfers are made
  // before each page.
  const server = createServer(({ url = '' }, response) => {
    requests += 1;
    for (const number of [1, 2, 3]) listed.unshift(add(`txfr_new${requests}${number}`));
    const cursor = new URL(url, 'http://h').searchParams.get('cursor') ?? `${starts} 0`;
    const [made = 0, start = 0] = cursor.split(' ').map(Number);
    const data = listed.slice(start, start + 100);
    const hasMore = start + 100 < listed.length;
    const page = { data, hasMore, nextCursor: hasMore ? `${starts} ${start + 100}` : null };
    // The third page fails once.
    const isRefused = requests === 3 || (expired !== undefined && made < starts);
    response.writeHead(isRefused ? (expired ?? 400) : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isRefused ? { error: 'no', code: 'no', details: null } : page));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { PAYMENTS_BASE_URL: `http://127.0.0.1:${port}/v0`, PAYMENTS_API_KEY: 'sk_test' };
  const file = join(folder, `transfers-${expired}.csv`);
  const start = async () => {
    starts += 1;
    return (await run(['examples/export-to-csv.ts', file], env)).code;
  };
  expect([await start(), await start()]).toEqual([1, 0]);
  const csv = readFileSync(file, 'utf8');
  const ids = [...csv.matchAll(/^"(txfr_[^"]+)"/gm)].map(([, id]) => id);
  expect(ids.length).toBe(new Set(ids).size);
  expect(original.filter(({ id }) => !ids.includes(id))).toEqual([]);
  expect(csv.match(/"createdAt"/g)).toHaveLength(1);
  expect(csv.startsWith('\uFEFF"id","createdAt",')).toBe(true);
  expect(csv).toContain(`,"'=HYPERLINK(""https://example.com"",""salary"")"\n`);
  expect(csv).toContain(',"Müller"\n');
});

test('end-of-day.ts writes a row even for an account without access', async () => {
  const books = [1, 2, 3].map((number) => ({
    sourceAccountId: `acc_${number}`,
    counterpartyId: 'cpty_1',
    amount: `${number}.00`,
    description: `p-${number}`,
  }));
  const server = createServer(({ url = '' }, response) => {
    const account = new URL(url, 'http://h').searchParams.get('accountId');
    const isClosed = account === 'acc_2';
    const own = books.filter(({ sourceAccountId }) => sourceAccountId === account);
    const facts = { currency: 'USDC', type: 'wire', status: 'completed', direction: 'outgoing' };
    const data = own.map((input) => ({
      ...input,
      ...facts,
      id: `txfr_${input.amount[0]}`,
      createdAt: '2026-11-24T10:00:00Z',
    }));
    response.writeHead(isClosed ? 403 : 200, { 'content-type': 'application/json' });
    const page = { data, hasMore: false, nextCursor: null };
    response.end(JSON.stringify(isClosed ? { error: 'closed', code: 'closed' } : page));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { PAYMENTS_BASE_URL: `http://127.0.0.1:${port}/v0`, PAYMENTS_API_KEY: 'sk_test' };
  const [example, file] = [join(root, 'examples/end-of-day.ts'), join(folder, 'books.json')];
  writeFileSync(file, JSON.stringify(books));
  const { code, output } = await run([example, '2026-11-24', file], env, folder);
  expect([code, output]).toEqual([1, expect.stringContaining('2 completed, 1 to look at')]);
  const csv = readFileSync(join(folder, 'end-of-day-2026-11-24.csv'), 'utf8');
  expect(csv.match(/^"completed","p-[13]"/gm)).toHaveLength(2);
  expect(csv).toContain('"not read",,,,"acc_2"');
});

test('quickstart.ts sends nothing to the platform in environment variables', async () => {
  const sandbox = new Sandbox();
  const server = await listen(sandbox, { port: 0 });
  try {
    const { code } = await run(['examples/quickstart.ts'], {
      PAYMENTS_BASE_URL: server.baseUrl,
      PAYMENTS_API_KEY: server.clientOptions.apiKey,
    });
    expect([code, sandbox.log]).toEqual([0, []]);
  } finally {
    await server.close();
  }
});

test('quickstart.ts --watch serves a page until SIGINT', async () => {
  const child = spawn(process.execPath, ['examples/quickstart.ts', '--watch'], { cwd: root });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const page = () => /Watch it at (\S+)/.exec(output)?.[1];
  await expect.poll(page, { timeout: 30_000 }).toBeDefined();
  const response = await fetch(String(page()));
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('<html')]);
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([0, null]);
});
