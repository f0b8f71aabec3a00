import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmsText } from '../../docs/generators/llms.ts';
import { installTarball } from '../support/tarball.ts';

// The packed tarball, installed into an empty folder, as a user gets it.

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
let folder = '';
let files: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payments-consumer-'));
  files = await installTarball(folder);
  // `folder` has only the package. The folder of the application has other packages, too.
  await mkdir(join(folder, 'application', 'node_modules'), { recursive: true });
  for (const name of ['zod', '@types']) {
    await symlink(
      join(root, 'node_modules', name),
      join(folder, 'application', 'node_modules', name),
    );
  }
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const node = (...args: string[]) => run(process.execPath, args, { cwd: folder });
const inApplication = (...args: string[]) =>
  run(process.execPath, args, { cwd: join(folder, 'application') });

test('the tarball contains only the build, licences, documentation and examples', () => {
  const others = files.filter(
    (path) => !/^(dist|examples)\/|^docs\/(.*\.(md|png|svg)|monitoring\/.*)$/.test(path),
  );
  expect(others.toSorted()).toEqual([
    '.github/SECURITY.md',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'journals/package.json',
    'openapi.json/package.json',
    'package.json',
    'sandbox/msw/package.json',
    'sandbox/package.json',
    'sandbox/server/package.json',
    'schemas/package.json',
  ]);
  expect(files).toEqual(expect.arrayContaining(['dist/ky-license.txt', 'dist/zod-license.txt']));
  for (const path of ['dist/sandbox/bin.js', 'docs/monitoring/alerts.yml']) {
    expect(files).toContain(path);
  }
  expect(files.filter((path) => /decisions|contributing|\.map$/.test(path))).toEqual([]);
});

test('the package has no dependencies and no install script', async () => {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as object;
  expect(manifest).not.toHaveProperty('dependencies');
  for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
    expect(manifest).not.toHaveProperty(`scripts.${script}`);
  }
});

// npm 11 publishes without a command whose path begins with ./, and only warns.
test('no path of a command begins with ./', async () => {
  const { bin } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  expect(Object.keys(bin)).toHaveLength(3);
  expect(Object.values(bin).filter((path) => !path.startsWith('dist/'))).toEqual([]);
});

test('the examples of the package run as docs/getting-started.md shows', async () => {
  const guide = await readFile(join(root, 'docs/getting-started.md'), 'utf8');
  const [, commands = ''] = /```sh\n(cp -r [^`]*)```/.exec(guide) ?? [];
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const env = { ...process.env, PATH: path };
  const { stdout } = await run('sh', ['-ec', commands], { cwd: folder, env });
  expect(stdout).toContain('200 paid, 0 in doubt, 0 not paid, 0 failed');
});

test('the package’s declarations import no package but msw', async () => {
  for (const path of files.filter((each) => /\.d\.c?ts$/.test(each))) {
    const text = await readFile(join(folder, 'node_modules/payments-platform-sdk', path), 'utf8');
    const code = text.replace(/\/\*[\s\S]*?\*\//g, '');
    const others = [...code.matchAll(/(?:from|import\() ?['"]([^.'"][^'"]*)['"]/g)];
    expect([...new Set(others.map(([, name]) => name))]).toEqual(
      path.includes('msw') ? ['msw'] : [],
    );
  }
});

const story = (load: string) => `
  (async () => {
    const { PaymentsClient, NotFoundError } = await ${load}('payments-platform-sdk');
    const { Sandbox } = await ${load}('payments-platform-sdk/sandbox');
    const { TransferSchema } = await ${load}('payments-platform-sdk/schemas');
    const { listen } = await ${load}('payments-platform-sdk/sandbox/server');
    const server = await listen(new Sandbox(), { port: 0 });
    const payments = new PaymentsClient(server.clientOptions);
    const { id } = await payments.entities.create({ email: 'ada@example.com' });
    const missing = await payments.transfers.get('txfr_1').catch((error) => error);
    const list = await payments.instructions.list({ address: '0x' + '1'.repeat(40) });
    console.log(id, missing instanceof NotFoundError, list.length, typeof TransferSchema.parse);
    await server.close();
  })();
`;

test('require() of the package works even with --no-experimental-require-module', async () => {
  const plain = await node('-e', story('require'));
  expect(plain.stdout.trim()).toBe('ent_000001 true 0 function');
  const lambda = await node('--no-experimental-require-module', '-e', story('require'));
  expect(lambda.stdout.trim()).toBe('ent_000001 true 0 function');
});

test('import() of the package works', async () => {
  const { stdout } = await node('--input-type=module', '-e', story('import'));
  expect(stdout.trim()).toBe('ent_000001 true 0 function');
});

test.each(['import', 'require'])(
  '%s() loads classes that have the names of their exports',
  async (load) => {
    const loaded = load === 'import' ? 'await import' : 'require';
    const list = join(folder, `classes.${load === 'import' ? 'mjs' : 'cjs'}`);
    await writeFile(
      list,
      `for (const [name, value] of Object.entries(${loaded}('payments-platform-sdk')))
       if (String(value).startsWith('class')) console.log(name, value.name);`,
    );
    const named = (await node(list)).stdout.trim().split('\n');
    expect(named).toContain('PaymentsClient PaymentsClient');
    expect(named).toHaveLength(21);
    for (const line of named) expect(line).toMatch(/^(\w+) \1$/);
  },
);

test.each(['.', './schemas', './journals', './sandbox', './sandbox/server', './sandbox/msw'])(
  'the entry point %s exports in ESM and CommonJS what it declares',
  async (entry) => {
    const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, Record<'import' | 'require', { types: string }>>;
    };
    for (const [load, extension] of [
      ['import', 'mjs'],
      ['require', 'cjs'],
    ] as const) {
      const name = entry.replace('.', 'payments-platform-sdk');
      const list = join(folder, `names.${extension}`);
      const loaded = load === 'import' ? `await import('${name}')` : `require('${name}')`;
      await writeFile(list, `console.log(JSON.stringify(Object.keys(${loaded})));`);
      const { stdout } = await node(list);
      const types = await readFile(join(root, exports[entry]?.[load].types ?? ''), 'utf8');
      const declared = [...types.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, names = '']) =>
        names.split(',').map((each) => each.trim()),
      );
      const values = declared.filter((each) => !each.startsWith('type '));
      expect(values.toSorted()).toEqual((JSON.parse(stdout) as string[]).toSorted());
    }
  },
);

test('a module resolver that ignores `exports` finds the same files', async () => {
  // Node.js reads no `exports` for a path: as Parcel, Jest 27 and eslint-plugin-import for a package.
  const { stdout } = await node(
    '-e',
    `const manifest = require('payments-platform-sdk/package.json');
     const root = require('node:path').dirname(require.resolve('payments-platform-sdk/package.json'));
     for (const entry of Object.keys(manifest.exports)) {
       const found = require.resolve(require('node:path').join(root, entry));
       console.log(entry, found === require.resolve('payments-platform-sdk' + entry.slice(1)));
     }`,
  );
  const lines = stdout.trim().split('\n');
  expect(lines).toHaveLength(8);
  expect(lines.filter((line) => !line.endsWith(' true'))).toEqual([]);
});

test.each(['function () {}', "'text'", '{ inner: {} }'])(
  'every call works if Object.prototype has an enumerable %s',
  async (member) => {
    const script = `
      Object.prototype.added = ${member};
      (async () => {
        const { PaymentsClient } = require('payments-platform-sdk');
        const { memoryJournal } = require('payments-platform-sdk/journals');
        const { Sandbox, seedDemo } = require('payments-platform-sdk/sandbox');
        const { listen } = require('payments-platform-sdk/sandbox/server');
        const { TransferSchema } = require('payments-platform-sdk/schemas');
        const server = await listen(seedDemo(new Sandbox()));
        const payments = new PaymentsClient({ ...server.clientOptions, journal: memoryJournal() });
        class Payment {
          sourceAccountId = 'acc_000001';
          counterpartyId = 'cpty_000001';
          get amount() { return '1.00'; }
          constructor(description) { this.description = description; }
        }
        const { id } = await payments.transfers.create(new Payment('direct'));
        const { result } = await payments.transfers.createOnce(new Payment('once'));
        const { counts } = await payments.transfers.createAllOnce([{ ...new Payment('all'), amount: '1.00' }]);
        const { totals } = await payments.transfers.reconcileAll([new Payment('once')]);
        const listed = await payments.transfers.list();
        const refused = await payments.accounts.create({ entityId: 'ent_000001', unknown: 1 }).catch((e) => e);
        await payments.accounts.update('acc_000001', { metadata: { team: 'a', cost: 12 } });
        const { success } = TransferSchema.safeParse(listed.data[0]);
        console.log(id, result, counts.paid, totals.pending.count, listed.data.length, refused.issues?.length, success);
        await server.close();
      })();`;
    const { stdout } = await node('-e', script);
    expect(stdout.trim()).toBe('txfr_000006 created 1 1 8 1 true');
  },
);

test('a sandbox in a bundle for ES2015 counts money exactly', async () => {
  await writeFile(
    join(folder, 'old.cjs'),
    `const { PaymentsClient, sumAmounts } = require('payments-platform-sdk');
     const { Sandbox, seedDemo } = require('payments-platform-sdk/sandbox');
     require('payments-platform-sdk/journals');
     require('payments-platform-sdk/schemas');
     const sandbox = seedDemo(new Sandbox());
     const input = { sourceAccountId: 'acc_000001', counterpartyId: 'cpty_000001' };
     const amount = '0.000000000000000001';
     new PaymentsClient(sandbox.clientOptions).transfers.create({ ...input, amount }).then(() => {
       const [{ availableBalance }] = sandbox.accounts.list();
       console.log(sumAmounts([availableBalance, amount]));
     });`,
  );
  await build({
    absWorkingDir: folder,
    entryPoints: ['old.cjs'],
    outfile: 'es2015.cjs',
    bundle: true,
    platform: 'node',
    target: 'es2015',
    // esbuild warns that such a runtime needs a global BigInt.
    logLevel: 'error',
  });
  const { stdout } = await node('es2015.cjs');
  expect(stdout.trim()).toBe('19919.6');
});

test('200 loaded copies of the package leave no listener or timer', async () => {
  const { stdout, stderr } = await node(
    '-e',
    `(async () => {
       const count = () =>
         JSON.stringify([
           process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
           process.stderr.eventNames().map((name) => [String(name), process.stderr.listenerCount(name)]),
           process.getActiveResourcesInfo().filter((name) => name === 'Timeout'),
           Object.getOwnPropertySymbols(globalThis).length,
         ]);
       const counts = new Set();
       for (let copies = 0; copies < 200; copies += 1) {
         for (const file of Object.keys(require.cache)) delete require.cache[file];
         const { PaymentsClient, isOutcomeUnknown } = require('payments-platform-sdk');
         const { memoryJournal } = require('payments-platform-sdk/journals');
         const { Sandbox, seedDemo } = require('payments-platform-sdk/sandbox');
         const { clientOptions } = seedDemo(new Sandbox());
         const { transfers } = new PaymentsClient({ ...clientOptions, journal: memoryJournal() });
         const input = { sourceAccountId: 'acc_000001', counterpartyId: 'cpty_000001', amount: '1.00' };
         await transfers.createOnce({ ...input, description: 'payment ' + copies });
         transfers.createAllOnce([{ ...input, description: 'forgotten ' + copies }]);
         counts.add(count());
       }
       console.log(counts.size);
     })();`,
  );
  expect(stdout.trim()).toBe('1');
  // The process has one line, not one for each copy.
  expect(stderr.match(/did nothing/g)).toHaveLength(1);
  expect(stderr).toContain('200 calls of transfers.createAllOnce did nothing');
  expect(stderr).not.toContain('MaxListenersExceededWarning');
});

test('every link in a tarball document leads to a tarball file', async () => {
  const documents = files.filter((path) => path.endsWith('.md'));
  const links: string[] = [];
  for (const document of documents) {
    const text = await readFile(join(root, document), 'utf8');
    const targets = text.matchAll(/\]\(([\w./-]+)[)#]/g);
    links.push(...[...targets].map(([, path = '']) => join(dirname(document), path)));
  }
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter((path) => !files.includes(path))).toEqual([]);
});

test('llms.txt is current, short and links to every guide and example', async () => {
  const installed = join(folder, 'node_modules/payments-platform-sdk');
  const text = await readFile(join(installed, 'dist/llms.txt'), 'utf8');
  expect(text).toBe(llmsText('../'));
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6_400);
  const targets = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => join('dist', path));
  expect(targets.filter((path) => !files.includes(path))).toEqual([]);
  const expected = files.filter((path) => /^docs\/[\w-]+\.md$|^examples\/[\w-]+\.\w+$/.test(path));
  expect(expected.length).toBeGreaterThan(25);
  expect(targets).toEqual(expect.arrayContaining(expected));
  // The rules in llms.txt name only methods and fields that exist.
  const api = await readFile(join(installed, 'docs/api.md'), 'utf8');
  const [, advice = ''] = text.split('\n## ');
  const names = [...advice.matchAll(/`([\w.]+)(?:\(\w*\))?`/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !api.includes(name.replace('error.', '')))).toEqual([]);
});

test.each(['import', 'require'])('%s() warns once on a Node.js that is too old', async (load) => {
  const { stdout, stderr } = await node(
    '-e',
    `Object.defineProperty(process.versions, 'node', { value: '20.19.0' });
     (async () => {
       const { PaymentsClient } = await ${load}('payments-platform-sdk');
       await new Promise((resolve) => process.stderr.write('imported\\n', resolve));
       const options = { baseUrl: 'http://localhost:1/v0', apiKey: 'sk_test' };
       new PaymentsClient(options).withOptions({ maxRetries: 1 });
       new PaymentsClient(options);
     })();`,
  );
  expect(stdout).toBe('');
  expect(stderr.trim().split('\n')).toEqual([
    'imported',
    'payments-platform-sdk needs Node.js 22.3 or later and is not tested on 20.19.0.',
  ]);
});

test.each(['import', 'require'])(
  'a sandbox server from %s() reads openapi.json only once',
  async (load) => {
    const { stdout } = await node(
      '-e',
      `(async () => {
         const loaded = [];
         require('node:module').registerHooks({
           load: (url, context, next) => { loaded.push(url); return next(url, context); },
         });
         const { Sandbox } = await ${load}('payments-platform-sdk/sandbox');
         const { listen } = await ${load}('payments-platform-sdk/sandbox/server');
         const server = await listen(new Sandbox());
         const before = loaded.length;
         const served = await (await fetch(server.rootUrl + '/openapi.json')).json();
         await server.close();
         // The server replaces the URLs by its own.
         const toText = (document) =>
           JSON.stringify(document, (key, value) => (key === 'servers' ? undefined : value));
         console.log(
           before > 2,
           loaded.length - before,
           toText(served) === toText(require('payments-platform-sdk/openapi.json')),
         );
       })();`,
    );
    expect(stdout.trim()).toBe('true 1 true');
  },
);

test('the bundled copy of ky does not call AbortSignal.any', async () => {
  for (const name of ['index.js', 'index.cjs']) {
    const built = await readFile(join(root, 'dist', name), 'utf8');
    expect(built).toContain('#userProvidedAbortSignal');
    expect(built).not.toContain('globalThis.AbortSignal.any');
  }
});

test('Node.js prints at most 3 kB for an uncaught SDK error', async () => {
  const script = `
    const { PaymentsClient } = require('payments-platform-sdk');
    const options = { baseUrl: 'http://localhost:1/v0', apiKey: 'sk_test', maxRetries: 0 };
    new PaymentsClient(options).accounts.get('acc_1');
  `;
  const failure: unknown = await node('-e', script).catch((error: unknown) => error);
  const { stderr } = failure as { readonly stderr: string };
  expect(stderr).toContain('ConnectionError: The connection to localhost:1 failed (ECONNREFUSED).');
  expect(stderr.length).toBeLessThanOrEqual(3_000);
});

test.each(['require', 'import'])(
  'the client from %s() constructs a Request only for option `fetch`',
  async (load) => {
    const { stdout } = await node(
      '-e',
      `(async () => {
         const { PaymentsClient } = await ${load}('payments-platform-sdk');
         let made = 0;
         const Original = Request;
         globalThis.Request = class extends Original {
           constructor(...args) { super(...args); made += 1; }
         };
         const options = { baseUrl: 'http://localhost:1/v0', apiKey: 'sk_test', maxRetries: 0 };
         const input = { sourceAccountId: 'acc_1', amount: '1.00', counterpartyId: 'cpty_1' };
         const error = await new PaymentsClient(options).transfers.create(input).catch((e) => e);
         console.log(error.name, error.outcome, made);
         const seen = [];
         const fetch = async (request) => {
           seen.push(request instanceof Original, request.method, request.url, await request.text());
           return Response.json({ id: 'txfr_1' });
         };
         const { id } = await new PaymentsClient({ ...options, fetch }).transfers.create(input);
         console.log(id, made > 0, JSON.stringify(seen));
       })();`,
    );
    const [direct, custom] = stdout.trim().split('\n');
    expect(direct).toBe('ConnectionError not_sent 0');
    const body = '{"sourceAccountId":"acc_1","amount":"1.00","counterpartyId":"cpty_1"}';
    expect(custom).toBe(
      `txfr_1 true ${JSON.stringify([true, 'POST', 'http://localhost:1/v0/transfers', body])}`,
    );
  },
);

test.each(['require', 'import'])(
  'the package from %s() loads no network module before a call',
  async (load) => {
    const { stdout } = await node(
      '-e',
      `(async () => {
       const { PaymentsClient } = await ${load}('payments-platform-sdk');
       const loaded = () => process.moduleLoadList.filter((name) => /undici|node:http|tls/.test(name));
       const before = loaded().length;
       const payments = new PaymentsClient({ baseUrl: 'http://localhost:1/v0', apiKey: 'sk_test' });
       console.log(before, loaded().length);
       await payments.transfers.get('txfr_1', { maxRetries: 0 }).catch((error) => {
         console.log(error.name, loaded().some((name) => name.includes('undici')));
       });
     })();`,
    );
    expect(stdout.trim().split('\n')).toEqual(['0 0', 'ConnectionError false']);
  },
);

test('a schema of the package works inside the application’s own zod schema', async () => {
  const { stdout } = await inApplication(
    '--input-type=module',
    '-e',
    `import * as z from 'zod';
     import { TransferIdSchema, CounterpartySchema } from 'payments-platform-sdk/schemas';
     const Payee = z.object({ last: TransferIdSchema, who: z.optional(CounterpartySchema) });
     const wrong = Payee.safeParse({ last: 'ent_1' });
     console.log(
       Payee.safeParse({ last: 'txfr_1' }).success,
       wrong.error instanceof z.ZodError,
       wrong.error.issues[0].path.join('.'),
       z.toJSONSchema(Payee).properties.last.type,
     );`,
  );
  expect(stdout.trim()).toBe('true true last string');
});

test('the licence notices name the bundled versions of ky and zod', async () => {
  const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  for (const name of ['ky', 'zod']) {
    const notice = await readFile(
      join(folder, `node_modules/payments-platform-sdk/dist/${name}-license.txt`),
      'utf8',
    );
    expect(notice).toContain(`${name} ${devDependencies[name]}\n`);
    expect(notice).toContain('MIT License');
  }
});

test('the bill of materials lists exactly the bundled packages', async () => {
  const installed = join(folder, 'node_modules/payments-platform-sdk');
  const bill: unknown = JSON.parse(await readFile(join(installed, 'dist/sbom.cdx.json'), 'utf8'));
  const describe = async (manifestPath: string) => {
    const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as Record<string, string>;
    const { name = '', version = '', license } = manifest;
    const purl = `pkg:npm/${name}@${version}`;
    return {
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      licenses: [{ license: { id: license } }],
      purl,
    };
  };
  // The bundler names the origin of each module; Preact is in the page, which is minified.
  const code = await Promise.all(
    files
      .filter((path) => /\.c?js$/.test(path))
      .map((path) => readFile(join(installed, path), 'utf8')),
  );
  const origins = code.flatMap((text) => [
    ...text.matchAll(/^\s*\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm),
  ]);
  const bundled = new Set([...origins.map(([, name = '']) => name), 'preact']);
  const components = await Promise.all(
    [...bundled].map((name) => describe(join(root, 'node_modules', name, 'package.json'))),
  );
  const byName = (one: { name: string }, other: { name: string }) =>
    one.name < other.name ? -1 : 1;
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: await describe(join(installed, 'package.json')) },
  });
  const listed = (bill as { components: { name: string }[] }).components;
  expect(listed.toSorted(byName)).toEqual(components.toSorted(byName));
  const notices = files.flatMap((path) => /^dist\/(.+)-license\.txt$/.exec(path)?.[1] ?? []);
  expect(listed.map(({ name }) => name).toSorted()).toEqual(notices.toSorted());
});

test('the ESM and CommonJS copies recognise each other’s errors', async () => {
  const { stdout } = await node(
    '--input-type=module',
    '-e',
    `import { createRequire } from 'node:module';
     import * as esm from 'payments-platform-sdk';
     const cjs = createRequire(import.meta.url)('payments-platform-sdk');
     const error = await new cjs.PaymentsClient({ baseUrl: 'http://localhost/v0', apiKey: 'sk_test' })
       .transfers.get('nonsense').catch((caught) => caught);
     console.log(
       cjs.ValidationError === esm.ValidationError,
       error instanceof esm.ValidationError,
       error instanceof esm.PaymentsError,
       error instanceof esm.ApiError,
       esm.isPaymentsError(error),
     );`,
  );
  expect(stdout.trim()).toBe('false true true false true');
});

/** Compiles files of a folder strictly, with their declarations, and returns what tsc reports. */
async function compile(application: string, files: readonly string[]): Promise<string> {
  await writeFile(
    join(application, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        module: 'nodenext',
        target: 'es2022',
        lib: ['ES2022'],
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        declaration: true,
        emitDeclarationOnly: true,
        outDir: 'types',
        skipLibCheck: false,
      },
      files,
    }),
  );
  const compiled = await run(
    process.execPath,
    [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', application],
    { cwd: application },
  ).catch((error: unknown) => error as { stdout: string });
  return compiled.stdout;
}

test('a TypeScript program compiles under nodenext as ESM and CommonJS', async () => {
  const consumer = `
    import {
      PaymentsClient, PaymentsError, isOutcomeUnknown, type OnceInput, type Transfer,
    } from 'payments-platform-sdk';
    import * as z from 'zod';
    import { AccountSchema, pageSchema, TransferSchema } from 'payments-platform-sdk/schemas';
    import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
    import { listen } from 'payments-platform-sdk/sandbox/server';
    const payments: PaymentsClient = new PaymentsClient(new Sandbox().clientOptions);
    export async function pay(): Promise<Transfer> {
      try {
        const { id } = await payments.transfers.create({
          sourceAccountId: 'acc_1', destinationAccountId: 'acc_2', amount: '1.00',
        });
        for await (const transfer of payments.transfers.list()) if (transfer.id === id) return transfer;
      } catch (error) {
        if (isOutcomeUnknown(error)) { const outcome: 'unknown' = error.outcome; void outcome; }
      }
      return TransferSchema.parse(await payments.request({ method: 'GET', path: '/x', api: 'versioned' }));
    }
    // @ts-expect-error: an amount is not a number
    void payments.transfers.create({ sourceAccountId: 'acc_1', destinationAccountId: 'acc_2', amount: 1 });
    void listen;
    // Declarations of a library have to name every type.
    export const sandbox = new Sandbox();
    export const parse = (input: unknown) => TransferSchema.parse(input);
    export const page = pageSchema(TransferSchema);
    export const both = z.array(AccountSchema);
    export const served = () => listen(sandbox, { port: 0 });
    export const checked = TransferSchema.safeParse({});
    export const listTransfers = () => payments.transfers.list({ limit: 5 });
    export const listTransactions = () => payments.transactions.list({ address: '0x1' });
    export const readPages = async () => [await listTransfers(), await listTransactions()];
    export const readRaw = () => payments.accounts.get('acc_1').withResponse();
    export const readHistory = async () => {
      for await (const { history } of payments.transfers.listUndecided()) return history;
      return undefined;
    };
    export const payOnce = (input: OnceInput) => payments.transfers.createOnce(input);
    export const search = (input: OnceInput) => payments.transfers.reconcile(input);
    export const payAll = (inputs: OnceInput[]) => payments.transfers.createAllOnce(inputs);
    export const findUnpaid = async (inputs: OnceInput[]) =>
      (await payAll(inputs)).unpaid.filter((row) => row.error !== undefined);
    export const compare = (inputs: OnceInput[]) => payments.transfers.reconcileAll(inputs);
    export const sum = async (inputs: OnceInput[]) => (await compare(inputs)).totals;
    export const runs = async () =>
      (await payments.instructions.list({ address: '0x1' }))[0]?.executionState;
    export const explain = (error: PaymentsError) => ({
      json: error.toJSON(), attempts: error.attempts, resume: error.resume,
    });
    export const nouns = () => ({
      account: sandbox.accounts.get('acc_1'), entity: sandbox.entities.get('ent_1'),
      counterparty: sandbox.counterparties.get('cpty_1'), iban: sandbox.ibans.get('iban_1'),
      transfers: sandbox.transfers.list(), settings: sandbox.settings.get(),
      instructions: sandbox.instructions.list(), transactions: sandbox.transactions.list(),
      log: sandbox.log, demo: seedDemo(sandbox), options: sandbox.clientOptions,
    });
  `;
  const application = join(folder, 'application');
  await writeFile(join(application, 'esm.mts'), consumer);
  await writeFile(join(application, 'cjs.cts'), consumer);
  expect(await compile(application, ['esm.mts', 'cjs.cts'])).toBe('');
});

test('types of the ESM classes are assignable to the CommonJS ones', async () => {
  const application = join(folder, 'application');
  const classes = [
    ['payments-platform-sdk', 'PaymentsClient'],
    ['payments-platform-sdk', "PaymentsClient['transfers']"],
    ['payments-platform-sdk', 'PaymentInDoubtError'],
    ['payments-platform-sdk/sandbox', 'Sandbox'],
    ['payments-platform-sdk/sandbox', "Sandbox['accounts']"],
    ['payments-platform-sdk/sandbox', 'VirtualClock'],
  ] as const;
  const typed = classes.map(([from, name], index) => {
    const [, base = '', member = ''] = /^(\w+)(.*)/.exec(name) ?? [];
    return `export type T${index} = import('${from}').${base}${member};`;
  });
  await writeFile(join(application, 'there.cts'), typed.join('\n'));
  const used = classes.map(
    (_, index) => `export const f${index} = (here: T${index}): cjs.T${index} => here;
      export const g${index} = (there: cjs.T${index}): T${index} => there;`,
  );
  const here = `import type * as cjs from './there.cjs';\n${typed.join('\n')}\n${used.join('\n')}`;
  await writeFile(join(application, 'here.mts'), here);
  expect(await compile(application, ['here.mts'])).toBe('');
});

test('the main entry point mentions no zod, ky or DOM type', async () => {
  const types = await readFile(join(root, 'dist', 'index.d.ts'), 'utf8');
  const code = types.replace(/\/\*[\s\S]*?\*\//g, '');
  expect(code).not.toMatch(/\b(zod|ky)\b/i);
  expect(code).not.toMatch(/\b(HeadersInit|BodyInit|RequestInfo|ReadableStream)\b/);
});

/** Declarations without the endings and content hashes of the files that they import. */
const withoutFileNames = (text: string): string =>
  text.replaceAll(/(?:-[\w-]{8})?\.c?js'/g, "'").replaceAll(/-[\w-]{8}(?=')/g, '');

test.each([
  'index',
  'schemas/index',
  'journals/index',
  'sandbox/index',
  'sandbox/server',
  'sandbox/msw',
])('require() of %s has the same declarations as import', async (entry) => {
  const [esm, cjs] = await Promise.all(
    ['ts', 'cts'].map((ending) => readFile(join(root, 'dist', `${entry}.d.${ending}`), 'utf8')),
  );
  expect(withoutFileNames(cjs ?? '')).toBe(withoutFileNames(esm ?? ''));
});
