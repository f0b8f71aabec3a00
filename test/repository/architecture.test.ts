import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

// A room may use the rooms below it and nothing above. Arrows that point both ways are how a
// transport ends up knowing about transfers.

const root = fileURLToPath(new URL('../..', import.meta.url));
const src = join(root, 'src');

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
  readonly text: string;
}

const files = readdirSync(src, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(src, join(entry.parentPath, entry.name)));

const sourceOf = (file: string) => readFileSync(join(src, file), 'utf8');
const treeOf = (file: string) =>
  ts.createSourceFile(file, sourceOf(file), ts.ScriptTarget.ES2024, true);

const imports = files.flatMap((from) =>
  treeOf(from).statements.flatMap((statement): Import[] => {
    const isImport = ts.isImportDeclaration(statement);
    if (!isImport && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
    const { text } = moduleSpecifier;
    const to = text.startsWith('.') ? relative(src, join(src, dirname(from), text)) : text;
    const typeOnly = isImport
      ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : statement.isTypeOnly;
    return [{ from, to, typeOnly, text: statement.getText() }];
  }),
);

/** The rooms of the client, from the ground up: each may use itself and what is below it. */
const layers = [
  'internal',
  'schemas',
  'journals',
  'errors',
  'transports',
  'calls',
  'lists',
  'resources',
  '.',
];
/** Those of the sandbox. Its door has a floor for each file: a page has no use for a server. */
const sandboxLayers = ['platform', 'api', 'faults', 'sandbox.ts', 'control'].concat([
  'page',
  'index.ts',
  'msw.ts',
  'server.ts',
  'command',
  'bin.ts',
]);
const folderOf = (file: string): string => dirname(file).split('/')[0] ?? '';
const isSandbox = (file: string) => file.startsWith('sandbox/');
const layerOf = (file: string): number => {
  if (isSandbox(file)) return sandboxLayers.indexOf(file.split('/')[1] ?? '');
  // A constant, and no room.
  return file === 'version.ts' ? 0 : layers.indexOf(folderOf(file));
};
const isOurs = (to: string) => files.includes(to);

test('every file is in a room, and four are at the door', () => {
  expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
  const door = ['client.ts', 'index.ts', 'options.ts', 'version.ts'];
  expect(files.filter((file) => folderOf(file) === '.').toSorted()).toEqual(door);
});

test('the map in docs/contributing.md shows every room', () => {
  const map = readFileSync(join(root, 'docs/contributing.md'), 'utf8').split('```text')[1] ?? '';
  const shown = [...(map.split('```')[0] ?? '').matchAll(/^ {2}([\w]+)\//gm)].map(
    ([, room]) => room,
  );
  const there = files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]);
  expect(shown.toSorted()).toEqual([...new Set(there)].toSorted());
});

test('nothing reaches up', () => {
  const up = imports.filter(
    ({ from, to }) =>
      isOurs(to) && isSandbox(from) === isSandbox(to) && layerOf(to) > layerOf(from),
  );
  expect(up).toEqual([]);
});

/** Where two files may not import types of each other either. */
const isStrict = (file: string) => isSandbox(file) || folderOf(file) === 'schemas';

test('no two files run each other, however long the way round; in the sandbox and schemas/, none knows the other', () => {
  const edges = new Map(
    files.map((file) => [
      file,
      imports
        .filter(({ from }) => from === file)
        .filter(({ to, typeOnly }) => isOurs(to) && (isStrict(file) || !typeOnly))
        .map(({ to }) => to),
    ]),
  );
  const done = new Set<string>();
  const loops: string[] = [];
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) loops.push([...way, file].join(' -> '));
    if (way.includes(file) || done.has(file)) return;
    for (const next of edges.get(file) ?? []) walk(next, [...way, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
  expect(loops).toEqual([]);
});

test('schemas use zod and each other, nothing else', () => {
  const others = imports.filter(
    ({ from, to }) =>
      from.startsWith('schemas/') &&
      to !== 'zod/mini' &&
      !to.startsWith('schemas/') &&
      !to.startsWith('internal/'),
  );
  expect(others).toEqual([]);
});

test('a file in schemas/ exports schemas, shapes, guards, documented values and types only', () => {
  const allowed = /^\w+(Schema|Shape|Types|Statuses)\b|\bSchema<|\bZodMini|\bvalue is /;
  const others = files
    .filter((file) => file.startsWith('schemas/'))
    .flatMap((file) => treeOf(file).statements)
    .filter((statement) =>
      /^export (const|let|(async )?function|class)\b/.test(statement.getText()),
    )
    .map((statement) => statement.getText().replace(/^export (async )?\w+\s+/, ''))
    .filter((declaration) => !allowed.test(declaration));
  expect(others).toEqual([]);
});

test('journals cost nothing and know nothing: of other rooms they use types only', () => {
  const used = imports.filter(({ from, to }) => folderOf(from) === 'journals' && isOurs(to));
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter(({ to, typeOnly }) => folderOf(to) !== 'journals' && !typeOnly)).toEqual([]);
  const users = imports.filter(
    ({ from, to }) => folderOf(from) !== 'journals' && folderOf(to) === 'journals',
  );
  expect(users.filter(({ typeOnly }) => !typeOnly)).toEqual([]);
});

/** The server, its page and the command; everything else runs wherever web standards do. */
const ofNodeAlone = /^sandbox\/(server\.ts|bin\.ts|command\/|page\/page\.ts)/;

test('the sandbox knows the schemas and never the client', () => {
  const allowed = (from: string, to: string): boolean =>
    isSandbox(to) ||
    to.startsWith('schemas/') ||
    to.startsWith('internal/') ||
    to === 'errors/redact.ts' ||
    to === 'zod/mini' ||
    to === 'version.ts' ||
    (to.startsWith('node:') && ofNodeAlone.test(from)) ||
    (/^msw(\/|$)/.test(to) && from === 'sandbox/msw.ts');
  expect(imports.filter(({ from, to }) => isSandbox(from) && !allowed(from, to))).toEqual([]);
  expect(imports.filter(({ from, to }) => !isSandbox(from) && isSandbox(to))).toEqual([]);
  const ofNode = /\b(process|Buffer|setImmediate|require)[.(]/;
  const standard = files.filter((file) => isSandbox(file) && !ofNodeAlone.test(file));
  expect(standard.filter((file) => ofNode.test(sourceOf(file)))).toEqual([]);
});

test('packages come in by one door each', () => {
  const outside = imports.filter(({ from, to }) => !isOurs(to) && !isSandbox(from));
  expect(outside.filter(({ to }) => to === 'ky').map(({ from }) => from)).toEqual([
    'calls/attempt.ts',
  ]);
  const zod = outside.filter(({ to }) => to.startsWith('zod'));
  expect(zod.filter(({ text }) => !text.startsWith(`import * as z from 'zod/mini'`))).toEqual([]);
  // A bundler for browsers and Workers has no node: modules; types it never sees.
  const node = outside.filter(({ to }) => to.startsWith('node:'));
  expect(node.filter(({ typeOnly }) => !typeOnly)).toEqual([]);
  const packages = new Set(outside.map(({ to }) => to).filter((to) => !to.startsWith('node:')));
  expect([...packages].toSorted()).toEqual(['ky', 'zod/mini']);
});

test('the compiler is never told to look away, and nothing is exported wholesale', () => {
  const looked = (node: ts.Node, found: string[]): string[] => {
    if (node.kind === ts.SyntaxKind.AnyKeyword || ts.isNonNullExpression(node)) {
      found.push(node.parent.getText());
    }
    if (ts.isExportDeclaration(node) && node.exportClause === undefined) found.push(node.getText());
    ts.forEachChild(node, (child) => void looked(child, found));
    return found;
  };
  expect(files.flatMap((file) => looked(treeOf(file), []))).toEqual([]);
  expect(files.filter((file) => /@ts-(ignore|nocheck|expect-error)/.test(sourceOf(file)))).toEqual(
    [],
  );
});

test('no schema is made before somebody asks for it', () => {
  const made = files
    .filter((file) => file.startsWith('schemas/') && file !== 'schemas/index.ts')
    .flatMap((file) => treeOf(file).statements.filter(ts.isVariableStatement))
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .filter(({ initializer }) => /^z\b/.test(initializer?.getText() ?? ''));
  expect(made.map((declaration) => declaration.getText())).toEqual([]);
});

test('the version is the package’s', async () => {
  const { version } = await import('payments-platform-sdk');
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ version });
});

test('importing the package does nothing: no timer, no request, no change to a global', () => {
  // bin.ts is a program, and msw puts a registry of its own on the global object.
  const modules = files.filter((file) => !/(?:bin|msw)\.ts$/.test(file));
  expect(modules.length).toBeGreaterThan(50);
  const program = `
    import { watch } from ${JSON.stringify(join(root, 'test/runtimes/side-effects.mjs'))};
    const seen = watch();
    for (const file of ${JSON.stringify(modules)}) await import(${JSON.stringify(`${src}/`)} + file);
    console.log(JSON.stringify(seen()));`;
  const node = ['--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, node, { encoding: 'utf8' })).toBe('[]\n');
});
