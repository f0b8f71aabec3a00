import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { documented } from '../../docs/generators/public-api.ts';

// What an editor shows of the package: docstrings, and the compiler's reports of typical mistakes.

const root = fileURLToPath(new URL('../..', import.meta.url));
const countWords = (text: string): number => (text.match(/\S+/g) ?? []).length;

const entries = documented();

test('an editor shows fewer than 40 words for each public name', () => {
  expect(entries.length).toBeGreaterThan(500);
  const long = entries.filter(({ text, tags }) => countWords(`${text} ${tags}`) >= 40);
  expect(long.map(({ name }) => name)).toEqual([]);
  const naming = entries.filter(({ text, tags }) => /\b(docs|src|test)\//.test(`${text} ${tags}`));
  expect(naming.map(({ name }) => name)).toEqual([]);
});

test('the hover example of every client method creates a client', () => {
  const methods = entries.filter(
    ({ name, isMethod }) =>
      isMethod &&
      /^src\/(resources|client)/.test(name) &&
      !/\.(toJSON|then|catch|finally)$/.test(name),
  );
  expect(methods.length).toBeGreaterThan(25);
  const without = methods.filter(({ example }) => !example?.includes('= new PaymentsClient('));
  expect(without.map(({ name }) => name)).toEqual([]);
});

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
  ts.sys,
  root,
);

/** A language service over files that exist in memory only. */
function createService(files: ReadonlyMap<string, string>): ts.LanguageService {
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [...files.keys()],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const text = files.get(path) ?? ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => files.has(path) || ts.sys.fileExists(path),
    readFile: (path) => files.get(path) ?? ts.sys.readFile(path),
  });
}

test('the compiler reports typical mistakes as test/types/mistakes.txt shows', () => {
  const [, head = '', ...blocks] = readFileSync(
    join(root, 'test/types/mistakes.txt'),
    'utf8',
  ).split(/^# /m);
  const mistakes = blocks.map((block, index) => {
    const [title = '', ...lines] = block.split('\n');
    const isReport = (line: string) => /^\d\.\d/.test(line);
    const code = lines.filter((line) => !isReport(line)).join('\n');
    const reviewed = lines.filter(isReport).find((line) => /^[^:]*6\.0/.test(line));
    return { title, path: join(root, 'test', `mistake-${index}.ts`), code, reviewed };
  });
  expect(mistakes.length).toBeGreaterThan(9);
  const service = createService(
    new Map(mistakes.map(({ path, code }) => [path, head.replace(/^.*/, '') + code])),
  );
  for (const { title, path, reviewed } of mistakes) {
    const error = service
      .getSemanticDiagnostics(path)
      .find(({ reportsUnnecessary }) => reportsUnnecessary === undefined);
    const message = ts.flattenDiagnosticMessageText(error?.messageText, '\n').split('\n');
    const ends = message.length === 1 ? message : [message[0], message.at(-1)?.trim()];
    const hints = (error?.relatedInformation ?? [])
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
      .filter((hint) => !hint.includes('declared here'))
      .map((hint) => ` (${hint})`);
    // The declarations of the package add `| undefined` where the source has a default value.
    const dropUndefined = (text = '') => text.replaceAll('} | undefined)', '})');
    expect(`${title}: ${dropUndefined(reviewed?.replace(/^[^:]*: /, ''))}`).toBe(
      `${title}: TS${error?.code}: ${dropUndefined(ends.join(' … '))}${hints.join('')}`,
    );
  }
});
