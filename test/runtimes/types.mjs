// Every compiler, every module resolution, every entry point, and the docstrings that an editor shows.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { here, lend, modules, run } from './setup.mjs';

const compilers = {
  5.5: 'typescript55',
  5.9: 'typescript59',
  '6.0': 'typescript60',
  '7.0': 'typescript70',
};
const resolutions = {
  node16: { module: 'node16', moduleResolution: 'node16', files: ['esm.mts', 'cjs.cts'] },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext', files: ['esm.mts', 'cjs.cts'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', files: ['app.ts'] },
  // Only older compilers support node10.
  node10: { module: 'commonjs', moduleResolution: 'node10', files: ['app.ts'] },
};
/** From 5.8 on, node16 differs from nodenext in nothing that this package uses. */
const hasResolution = (version, label) =>
  label === 'node16' ? version === '5.5' : label !== 'node10' || Number(version) < 6;
/** The old resolution does not find the types of msw. */
const findsMsw = (version, label) => version !== '5.5' && label !== 'node10';

const program = `
import {
  isOutcomeUnknown, NotFoundError, PaymentsClient, PaymentsError,
  type ClientOptions, type Page, type RequestOptions, type Transfer, type TransferCreateInput,
} from 'payments-platform-sdk';
import { TransferSchema } from 'payments-platform-sdk/schemas';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';

const sandbox = new Sandbox();
const undecided: string | undefined = process.env['PAYMENTS_BASE_URL'];
// exactOptionalPropertyTypes needs options that allow undefined.
const options: ClientOptions = { ...sandbox.clientOptions, baseUrl: undecided, hooks: undefined };
const payments = new PaymentsClient(options);
const perCall: RequestOptions = { signal: undefined, headers: { 'x-team': undefined } };

export async function pay(input: TransferCreateInput): Promise<Transfer> {
  const first: Page<Transfer> = await payments.transfers.list({ limit: 5 }, perCall);
  const amount: string | null | undefined = first.data[0]?.amount;
  void amount;
  try {
    const { data, response } = await payments.transfers.create(input).withResponse();
    const status: number = response.status;
    void status;
    for await (const transfer of payments.transfers.list()) {
      if (transfer.id !== data.id) continue;
      // @ts-expect-error: a misspelt status
      if (transfer.status === 'complete') continue;
      return transfer;
    }
  } catch (error) {
    if (isOutcomeUnknown(error)) { const outcome: 'unknown' = error.outcome; void outcome; }
    if (error instanceof NotFoundError) { const { status }: { status: number } = error; void status; }
    if (error instanceof PaymentsError) void error.attempts[0]?.durationMs.toFixed();
  }
  return TransferSchema.parse(await payments.request({ method: 'GET', path: '/x', api: 'versioned' }));
}

/** A row as a driver of a database types it. */
interface Row { readonly account: string; readonly payee: string; readonly amount: string; readonly id: number }

export async function paySalaries(rows: readonly Row[]): Promise<void> {
  const inputs = rows.map((row) => ({
    sourceAccountId: row.account,
    counterpartyId: row.payee,
    amount: row.amount,
    description: \`salary \${row.id}\`,
  }));
  for await (const row of payments.transfers.createAllOnce(inputs)) {
    if (row.result === 'not_paid' || row.result === 'in_doubt') void row.error.message;
    else void row.transferId.length;
    switch (row.result) {
      case 'created': case 'found': case 'recorded': case 'failed': {
        const id: string = row.transferId;
        await payments.transfers.waitFor(id);
        break;
      }
      case 'not_paid': case 'in_doubt': {
        const { outcome }: { outcome: 'not_sent' | 'rejected' | 'unknown' } = row.error;
        void outcome;
        break;
      }
      default: {
        const none: never = row;
        void none;
      }
    }
  }
}

export async function serve(): Promise<string> {
  const server = await listen(sandbox, { port: 0 });
  await server.close();
  return server.baseUrl;
}

// @ts-expect-error: an amount is not a number
void payments.transfers.create({ sourceAccountId: 'acc_1', destinationAccountId: 'acc_2', amount: 1 });
// @ts-expect-error: not an id
void payments.transfers.get(1);
// @ts-expect-error: nothing is any
void payments.nonsense;
`;

/**
 * The types of msw need the DOM library and TypeScript 5.9, and msw is an ES module only. Its entry
 * point is compiled where msw can be imported.
 */
const mswProgram = `
import { setupServer } from 'msw/node';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { handlers } from 'payments-platform-sdk/sandbox/msw';
export const server = setupServer(...handlers(new Sandbox(), { baseUrl: undefined }));
// @ts-expect-error: a number is no URL
void handlers(new Sandbox(), { baseUrl: 1 });
`;

/** Compiles a program that uses every entry point with every compiler. */
export async function compilerRows(consumer) {
  lend(consumer, '@types/node', 'msw');
  const jobs = Object.entries(compilers).flatMap(([version, name]) =>
    Object.entries(resolutions).flatMap(([label, { files, ...options }]) => {
      if (!hasResolution(version, label)) return [];
      const job = { version, name, label, options };
      return [
        { ...job, files, text: program, lib: ['ES2022'] },
        ...(findsMsw(version, label)
          ? [{ ...job, entry: 'msw', files, text: mswProgram, lib: ['ES2022', 'DOM'] }]
          : []),
      ];
    }),
  );
  const results = [];
  // Two compilers run at once, because the smallest machine has two cores.
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      results.push(await compile(consumer, job));
    }
  };
  await Promise.all([work(), work()]);
  return results.toSorted((one, other) => one.name.localeCompare(other.name));
}

async function compile(consumer, { version, name, label, options, files, text, lib, entry }) {
  const folder = join(consumer, ['types', version, label, ...(entry ? [entry] : [])].join('-'));
  mkdirSync(folder);
  for (const file of files) writeFileSync(join(folder, file), text);
  const compilerOptions = {
    ...options,
    target: 'es2022',
    lib,
    types: ['node'],
    typeRoots: ['../node_modules/@types'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(modules, name, 'bin/tsc');
  const { code, stdout, stderr } = await run(process.execPath, [tsc, '-p', folder], {
    cwd: folder,
  });
  return {
    name: `TypeScript ${version}, ${label}${entry ? `, ${entry}` : ''}`,
    ok: code === 0,
    detail: `${stdout}${stderr}`.slice(0, 2000),
  };
}

const reviewed = join(here, '../types/mistakes.txt');
const reportLine = /^\d\.\d/;
/** Adds what an editor shows beside a report, unless it only shows a declaration. */
const addHints = (line, hints) =>
  [
    line,
    ...hints.filter((hint) => !hint.includes('declared here')).map((hint) => `(${hint})`),
  ].join(' ');

/** Compares the reports of typical mistakes with test/types/mistakes.txt. */
export async function checkMistakes(consumer, update) {
  const [preface, head, ...texts] = readFileSync(reviewed, 'utf8').split(/^(?=# )/m);
  const blocks = texts.map((text) => ({
    code: text.split('\n').filter((line) => !reportLine.test(line) && !line.startsWith('# ')),
    title: text.split('\n')[0],
    lines: new Map(),
  }));
  const folder = join(consumer, 'mistakes');
  mkdirSync(folder);
  const files = blocks.map(({ code }, index) => {
    writeFileSync(join(folder, `${index}.mts`), head.replace(/^# .*/, '') + code.join('\n'));
    return `${index}.mts`;
  });
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2022', lib: ['ES2022'], types: [] },
    ...{ strict: true, noEmit: true },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  for (const version of ['5.5', '6.0', '7.0']) {
    const tsc = join(modules, compilers[version], 'bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', folder, '--pretty']);
    const reports = stripVTControlCharacters(stdout).split(/^(?=\S*?\d+\.mts:)/m);
    for (const report of reports) {
      const [, index, first, more] =
        /^\S*?(\d+)\.mts:\d+:\d+ - error (.*)((?:\n .*)*)/.exec(report) ?? [];
      if (index === undefined) continue;
      const { lines } = blocks[index];
      const ends = more === '' ? first : `${first} … ${more.split('\n').at(-1).trim()}`;
      // A hint is indented by four spaces, and since 7.0 it follows its place in the source.
      const hints = [...report.matchAll(/^(?: {4}| {2}\S+:\d+ - )([A-Z'].*)$/gm)].map(
        ([, hint]) => hint,
      );
      const line = addHints(
        ends,
        hints.filter((hint) => !more.includes(hint)),
      );
      const versions = lines.get(line) ?? [];
      if (![...lines.values()].flat().includes(version)) lines.set(line, [...versions, version]);
    }
  }
  const updated = blocks.map(({ title, code, lines }) => {
    const reports = [...lines].map(([line, versions]) => `${versions.join(', ')}: ${line}`);
    return [title, code.join('\n').trim(), ...reports].join('\n');
  });
  const text = `${preface}${head}${updated.join('\n\n')}\n`;
  if (update) writeFileSync(reviewed, text);
  return {
    name: 'compilers report typical mistakes as in test/types/mistakes.txt',
    ok: text === readFileSync(reviewed, 'utf8') && blocks.every(({ lines }) => lines.size > 0),
    detail: text,
  };
}

/** Types of the DOM library that @types/node does not declare. */
const domTypes =
  /\b(HeadersInit|BodyInit|RequestInfo|XMLHttpRequest|HTML\w+|Window|Document|ReadableStream|Blob|FormData)\b/g;

/** Checks that the declarations of the main entry point name no other package. */
export function checkDeclarations(installed) {
  const checks = [];
  for (const name of ['index.d.ts', 'index.d.cts']) {
    const seen = new Map();
    const todo = [join(installed, 'dist', name)];
    for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
      if (seen.has(file)) continue;
      const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
      seen.set(file, text);
      for (const [, path] of text.matchAll(/from ['"](\.[^'"]+)['"]/g)) {
        todo.push(join(dirname(file), path.replace(/\.(c?)js$/, '.d.$1ts')));
      }
    }
    const text = [...seen.values()].join('\n');
    const foreignNames = [
      ...(text.match(/from ['"][^.'"][^'"]*['"]/g) ?? []),
      ...(text.match(/\b(?:zod|ky|Zod\w*|Ky[A-Z]\w*Error|KyInstance|KyResponse)\b/g) ?? []),
      ...(text.match(domTypes) ?? []),
      ...(text.match(/: any\b/g) ?? []),
    ];
    checks.push({
      name: `declarations name no other package and no DOM, ${name}`,
      ok: foreignNames.length === 0 && text.includes('PaymentsClient'),
      detail: [...new Set(foreignNames)].join(', '),
    });
  }
  return checks;
}

const docstrings = {
  'transfer./*1*/amount': /decimal string/,
  'payments./*2*/transfers': /movements of funds/,
  'payments.transfers./*3*/create': /provably had no effect/,
  '({} as ClientOptions)./*4*/timeout': /one attempt/,
  '({} as ClientOptions)./*5*/baseUrl': /versioned API/,
  '({} as RequestOptions)./*6*/signal': /Aborts the call/,
  '({} as PaymentsError)./*7*/outcome': /nothing reached the platform/,
  'isOutcomeUnknown/*8*/': /may have taken effect/,
  'PaymentsClient/*9*/': /client of the Payments Platform/,
  'sandbox.faults./*10*/add': /rule/i,
  'listen/*11*/': /port/,
  'TransferSchema/*12*/': undefined,
};

/** Checks the docstrings that an editor shows over names. */
export async function checkHovers(consumer) {
  const ts = createRequire(join(modules, 'x.cjs'))('typescript60');
  const folder = join(consumer, 'hovers');
  mkdirSync(folder);
  const file = join(folder, 'hovers.mts');
  const text = `import { PaymentsClient, isOutcomeUnknown, type PaymentsError, type Transfer,
  type ClientOptions, type RequestOptions } from 'payments-platform-sdk';
import { TransferSchema } from 'payments-platform-sdk/schemas';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
declare const payments: PaymentsClient, transfer: Transfer, sandbox: Sandbox;
${Object.keys(docstrings)
  .map((expression) => `void ${expression};`)
  .join('\n')}
`;
  writeFileSync(file, text);
  const options = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: ['node'],
    typeRoots: [join(consumer, 'node_modules/@types')],
    strict: true,
  };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const content = ts.sys.readFile(path);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    realpath: ts.sys.realpath,
  });
  return Object.entries(docstrings).map(([expression, expected]) => {
    const mark = expression.match(/\/\*\d+\*\//)?.[0] ?? '';
    const after = text.indexOf(mark) + mark.length;
    // The mark is before the last name of a path, or after a single name.
    const at = /\w/.test(text[after] ?? '') ? after : text.indexOf(mark) - 1;
    const info = service.getQuickInfoAtPosition(file, at);
    const signature = ts.displayPartsToString(info?.displayParts);
    const docs = ts.displayPartsToString(info?.documentation);
    const isExpected = expected === undefined ? !/\bany\b/.test(signature) : expected.test(docs);
    return {
      name: `an editor shows the text of ${expression.replace(mark, '')}`,
      ok: info !== undefined && isExpected,
      detail: `${signature}\n${docs}`,
    };
  });
}
