import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

// A layer may use itself and the layers below it. Types count as much as code.

const root = fileURLToPath(new URL('../..', import.meta.url));
const src = join(root, 'src');

interface Import {
  readonly from: string;
  /** A path below src, or the name of a package. */
  readonly to: string;
  readonly isTypeOnly: boolean;
}

const files = readdirSync(src, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(src, join(entry.parentPath, entry.name)));
const readSource = (file: string) => readFileSync(join(src, file), 'utf8');
const trees = new Map(
  files.map((file) => [
    file,
    ts.createSourceFile(file, readSource(file), ts.ScriptTarget.ES2024, true),
  ]),
);

const imports = [...trees].flatMap(([from, tree]) =>
  tree.statements.flatMap((statement): Import[] => {
    const isImport = ts.isImportDeclaration(statement);
    if (!isImport && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
    const { text } = moduleSpecifier;
    const to = text.startsWith('.') ? join(dirname(from), text) : text;
    const isTypeOnly = isImport
      ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : statement.isTypeOnly;
    return [{ from, to, isTypeOnly }];
  }),
);
const internalImports = imports.filter(({ to }) => trees.has(to));
const packageImports = imports.filter(({ to }) => !trees.has(to));

/** The layers of src/, from the lowest to the highest. */
const layers = ['internal', 'schemas', 'journals', 'errors', 'values', 'transports'].concat(
  ['calls', 'lists', 'search', 'books', 'once', 'resources'],
  ['.', 'commands'],
);
const sandboxLayers = ['platform', 'api', 'faults', 'log.ts', 'webhooks', 'state.ts'].concat(
  ['options.ts', 'sandbox.ts'],
  ['control', 'openapi', 'page'],
  // Each entry point is a layer of its own, so that none can import a later one.
  ['index.ts', 'msw.ts', 'server.ts', 'command', 'bin.ts'],
);
const isSandbox = (file: string) => file.startsWith('sandbox/');
function layerOf(file: string): number {
  const [folder = '', inSandbox = ''] = file.split('/');
  if (isSandbox(file)) return sandboxLayers.indexOf(inSandbox);
  if (file === 'version.ts') return 0;
  return layers.indexOf(file.includes('/') ? folder : '.');
}

test('every file of src/ belongs to a known layer', () => {
  expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
});

test('no file of src/ imports from a layer above its own', () => {
  const upward = internalImports.filter(
    ({ from, to }) => isSandbox(from) === isSandbox(to) && layerOf(to) > layerOf(from),
  );
  expect(upward).toEqual([]);
});

test('no files of src/ import each other in a circle', () => {
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      return;
    }
    if (finished.has(file)) return;
    for (const { from, to } of internalImports) if (from === file) visit(to, [...path, file]);
    finished.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test('docs/contributing.md names every folder of src/', () => {
  const guide = readFileSync(join(root, 'docs/contributing.md'), 'utf8');
  const folders = new Set(files.filter((file) => file.includes('/')).map((f) => f.split('/')[0]));
  expect([...folders].filter((folder) => !guide.includes(` ${folder}/`))).toEqual([]);
});

test('files of journals/ share only types and internal/ with the client', () => {
  const isJournal = (file: string) => file.startsWith('journals/');
  const across = internalImports.filter(
    ({ from, to }) =>
      isJournal(from) !== isJournal(to) &&
      !from.startsWith('commands/') &&
      !to.startsWith('internal/'),
  );
  expect(across.length).toBeGreaterThan(0);
  expect(across.filter(({ isTypeOnly }) => !isTypeOnly)).toEqual([]);
});

/** The server, its page, the commands and the generator of openapi.json need Node; everything else needs web standards only. */
const needsNode =
  /^(commands\/|sandbox\/(bin\.ts|command\/|server\.ts|page\/page\.ts|openapi\/docstrings\.ts))/;

test('the client imports no sandbox, and the sandbox only shared files', () => {
  const shared =
    /^(sandbox\/|schemas\/|internal\/|errors\/redact\.ts$|version\.ts$|commands\/program\.ts$)/;
  expect(internalImports.filter(({ from, to }) => isSandbox(from) && !shared.test(to))).toEqual([]);
  expect(internalImports.filter(({ from, to }) => !isSandbox(from) && isSandbox(to))).toEqual([]);
});

test('in the sandbox only server, page and command use Node.js globals', () => {
  const globals = /\b(process|Buffer|setImmediate|require)[.(]/;
  const portable = files.filter((file) => isSandbox(file) && !needsNode.test(file));
  expect(portable.filter((file) => globals.test(readSource(file)))).toEqual([]);
});

test('src/ imports ky, zod and node: modules only where allowed', () => {
  // A bundler for browsers and Workers has no node: modules; it never sees types.
  const isAllowed = ({ from, to, isTypeOnly }: Import): boolean => {
    if (to === 'zod/mini') return true;
    if (to.startsWith('node:')) return isTypeOnly || needsNode.test(from);
    if (to === 'typescript') return isTypeOnly && from === 'sandbox/openapi/docstrings.ts';
    if (to === 'ky') return from === 'calls/attempt.ts';
    return /^msw(\/|$)/.test(to) && from === 'sandbox/msw.ts';
  };
  expect(packageImports.filter((each) => !isAllowed(each))).toEqual([]);
});

test('src/ contains no any, non-null assertion, @ts-ignore or export *', () => {
  const findEscapes = (node: ts.Node): string[] => {
    const isEscape =
      node.kind === ts.SyntaxKind.AnyKeyword ||
      ts.isNonNullExpression(node) ||
      (ts.isExportDeclaration(node) && node.exportClause === undefined);
    const escapes = isEscape ? [node.parent.getText().slice(0, 200)] : [];
    ts.forEachChild(node, (child) => void escapes.push(...findEscapes(child)));
    return escapes;
  };
  expect([...trees.values()].flatMap(findEscapes)).toEqual([]);
  expect(
    files.filter((file) => /@ts-(ignore|nocheck|expect-error)/.test(readSource(file))),
  ).toEqual([]);
});

test('src/ uses instanceof for no built-in class except Error', () => {
  // Jest and node:vm have a second copy of such classes, so use isError, isDate or the fields.
  const sources = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const foreignChecks = sources.flatMap((file) =>
    [...readSource(file).matchAll(/\binstanceof\s+(\w+)/g)]
      .filter(([, name = '']) => name in globalThis)
      .map(([text]) => `${file}: ${text}`),
  );
  // The one place that recognises an error of any realm.
  expect(foreignChecks).toEqual(['internal/thrown.ts: instanceof Error']);
});

test('no file of schemas/ builds a zod schema at load', () => {
  const built = [...trees]
    .filter(([file]) => file.startsWith('schemas/') && file !== 'schemas/index.ts')
    .flatMap(([, tree]) => tree.statements.filter(ts.isVariableStatement))
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .filter(({ initializer }) => /^z\b/.test(initializer?.getText() ?? ''));
  expect(built.map((declaration) => declaration.getText())).toEqual([]);
});

test('package.json, lock file, README, export and changelog show one version', async () => {
  const { version } = await import('payments-platform-sdk');
  for (const file of ['package.json', 'package-lock.json']) {
    expect(JSON.parse(readFileSync(join(root, file), 'utf8'))).toMatchObject({ version });
  }
  const [, latest] =
    readFileSync(join(root, 'CHANGELOG.md'), 'utf8').match(/^## (\d\S+) \(/m) ?? [];
  expect(latest).toBe(version);
  // `npm version` replaces the first number with three parts.
  const numbers = readFileSync(join(root, 'README.md'), 'utf8').match(/\d+\.\d+\.\d+/g);
  expect(numbers).toEqual([version]);
});

test('sandbox/index.ts exports the type of each record whose changes are reported', () => {
  const source = readSource('sandbox/platform/records.ts');
  const records = source.matchAll(/^import type { (\w+) } from '\.\.\/\.\.\/schemas\//gm);
  const names = Array.from(records, ([, name = '']) => name);
  const index = readSource('sandbox/index.ts');
  expect(names.length).toBeGreaterThan(7);
  expect(
    names.filter((name) => !new RegExp(`export type {[^}]*\\b${name}\\b`).test(index)),
  ).toEqual([]);
});

test('importing src/ sets no timer, sends nothing, changes no global', () => {
  // bin.ts is a program, and msw keeps a registry on the global object.
  const modules = files.filter((file) => !/(?:bin|msw)\.ts$/.test(file));
  expect(modules.length).toBeGreaterThan(50);
  const program = `
    import { watch } from ${JSON.stringify(join(root, 'test/runtimes/side-effects.mjs'))};
    const finish = watch();
    for (const file of ${JSON.stringify(modules)}) await import(${JSON.stringify(`${src}/`)} + file);
    console.log(JSON.stringify(finish()));`;
  const node = ['--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, node, { encoding: 'utf8' })).toBe('[]\n');
});

test('a file in schemas/ exports only schemas and descriptions of them', () => {
  const allowed =
    /^\w+(Schema|Shape|Types|Statuses|Directions|Meanings)\b|^(chains|documentedValuesOf|statusMeaning|isTransferId)\b|\bSchema<|\bZodMini/;
  const others = [...trees]
    .filter(([file]) => file.startsWith('schemas/'))
    .flatMap(([, tree]) => tree.statements.map((statement) => statement.getText()))
    .filter((text) => /^export (const|let|(async )?function|class)\b/.test(text))
    .map((text) => text.replace(/^export (async )?\w+\s+/, ''))
    .filter((declaration) => !allowed.test(declaration));
  expect(others).toEqual([]);
});
