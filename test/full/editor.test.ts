import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { documented } from '../support/public-api.ts';

// What an editor shows of the package: its texts, over names and behind a dot, and what the compiler says
// of typical mistakes. Both are files to be read in a review; `-u` writes the hovers again.

const root = fileURLToPath(new URL('../..', import.meta.url));
const words = (text: string): number => (text.match(/\S+/g) ?? []).length;

const all = documented();

test('a hover has less than 40 words and sends nobody to a file of the repository', () => {
  expect(all.length).toBeGreaterThan(500);
  const long = all.filter(({ text, tags }) => words(`${text} ${tags}`) >= 40);
  expect(long.map(({ name }) => name)).toEqual([]);
  const elsewhere = all.filter(({ text, tags }) => /\b(docs|src|test)\//.test(`${text} ${tags}`));
  expect(elsewhere.map(({ name }) => name)).toEqual([]);
});

test('every method of the client has an example that declares what it uses', () => {
  const methods = all.filter(
    ({ name, isMethod }) =>
      isMethod && /^src\/(resources|client)/.test(name) && !name.endsWith('.toJSON'),
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

/** A program of the text of some files, none of which is on the disk. */
function serviceOf(texts: ReadonlyMap<string, string>): ts.LanguageService {
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [...texts.keys()],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const found = texts.get(path) ?? ts.sys.readFile(path);
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => texts.has(path) || ts.sys.fileExists(path),
    readFile: (path) => texts.get(path) ?? ts.sys.readFile(path),
  });
}

const head = `import { accountId, isKnownTransferStatus, isOutcomeUnknown, PaymentsClient } from 'payments-platform-sdk';
import type { AccountId, ApiCall, ClientOptions, PaymentsError, RequestOptions } from 'payments-platform-sdk';
import type { Account, Transfer, TransferCreateInput, TransferStatus } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
declare const payments: PaymentsClient, transfer: Transfer, error: PaymentsError, call: ApiCall<Account>;
declare const options: ClientOptions, perCall: RequestOptions, sandbox: Sandbox, input: TransferCreateInput;
declare const row: { account: string; supplier: string };
`;

/** The editor stands behind the last letter of each. */
const hovered = [
  'new PaymentsClient',
  'payments.transfers',
  'payments.transfers.create',
  'payments.transfers.createOnce',
  'payments.transfers.resolveOnce',
  'payments.transfers.reconcile',
  'payments.transfers.waitFor',
  'payments.transfers.list',
  'payments.transfers.list().toArray',
  'payments.accounts.get',
  'payments.accounts.update',
  'payments.instructions.list',
  'payments.transactions.list',
  'payments.request',
  'payments.withOptions',
  'call.withResponse',
  'accountId',
  'isOutcomeUnknown',
  'isKnownTransferStatus',
  'error.outcome',
  'error.startedAt',
  'input.amount',
  'input.destinationAccountId',
  'transfer.status',
  'options.idempotencyHeader',
  'options.fetch',
  'perCall.maxRetries',
  'sandbox.faults.add',
  'null as unknown as AccountId',
  'null as unknown as TransferCreateInput',
  'null as unknown as TransferStatus',
];
/** And here where the bar is. */
const completed = [
  'payments.|',
  'payments.transfers.|',
  'payments.transfers.list().|',
  'payments.transfers.create({ | })',
  "payments.accounts.get('acc_1', { | })",
  'new PaymentsClient({ | })',
  'error.|',
  'transfer.|',
  'sandbox.|',
];

test('hovers and completions are those that were reviewed', async () => {
  const path = join(root, 'test', 'editor-probe.ts');
  const lines = [...hovered, ...completed];
  const starts: number[] = [];
  let text = head;
  for (const line of lines) {
    starts.push(text.length);
    text += `${line.replace('|', '')};\n`;
  }
  const service = serviceOf(new Map([[path, text]]));
  const shown = lines.map((line, index) => {
    const start = starts[index] ?? 0;
    if (line.includes('|')) {
      const found = service.getCompletionsAtPosition(path, start + line.indexOf('|'), {});
      const names = found?.entries.map(({ name, kindModifiers }) =>
        kindModifiers?.includes('optional') ? `${name}?` : name,
      );
      return `# ${line}\n${names?.join(', ')}`;
    }
    const info = service.getQuickInfoAtPosition(path, start + line.length - 1);
    const documentation = ts.displayPartsToString(info?.documentation);
    const tags = (info?.tags ?? [])
      .filter(({ name }) => name !== 'example')
      .map((tag) => `@${tag.name} ${ts.displayPartsToString(tag.text)}`);
    const said = [documentation, ...tags].join('\n').replaceAll(/\{\s*@link (\S+)\s*\}/g, '$1');
    return `# ${line} (${words(said.replaceAll(/@\w+/g, ''))} words)\n${ts.displayPartsToString(info?.displayParts)}\n\n${said.trim()}`;
  });
  await expect(`${shown.join('\n\n')}\n`).toMatchFileSnapshot('../types/hovers.txt');
});

test('the compiler says of typical mistakes what was reviewed', () => {
  const texts = readFileSync(join(root, 'test/types/mistakes.txt'), 'utf8').split(/^# /m).slice(1);
  const mistakes = texts.map((each, index) => {
    const [title = ''] = each.split('\n');
    const lines = each.split('\n').slice(1);
    const isSaid = (line: string) => /^\d\.\d/.test(line);
    const code = lines.filter((line) => !isSaid(line)).join('\n');
    const reviewed = lines.filter(isSaid).find((line) => /^[^:]*6\.0/.test(line));
    return { title, path: join(root, 'test', `mistake-${index}.ts`), code, reviewed };
  });
  expect(mistakes.length).toBeGreaterThan(9);
  const service = serviceOf(new Map(mistakes.map(({ path, code }) => [path, head + code])));
  for (const { title, path, reviewed } of mistakes) {
    const error = service
      .getSemanticDiagnostics(path)
      .find(({ reportsUnnecessary }) => reportsUnnecessary === undefined);
    const said = ts.flattenDiagnosticMessageText(error?.messageText, '\n').split('\n');
    const ends = said.length === 1 ? said : [said[0], said.at(-1)?.trim()];
    expect(`${title}: ${reviewed?.replace(/^[^:]*: /, '')}`).toBe(
      `${title}: TS${error?.code}: ${ends.join(' … ')}`,
    );
  }
});
