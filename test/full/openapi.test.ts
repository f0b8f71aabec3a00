import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import ts from 'typescript';
import { expect, onTestFinished, test } from 'vitest';
import { openApi } from '../../src/sandbox/openapi/openapi.ts';

// What other tools make of openapi.json.

const root = fileURLToPath(new URL('../..', import.meta.url));

const generate = async (): Promise<string> =>
  astToString(await openapiTypescript(JSON.stringify(await openApi())));

/** What the compiler reports about an application beside the generated types. */
function compile(types: string, application: string): string[] {
  const texts = new Map([
    [join(root, 'test/full/generated-types.ts'), types],
    [join(root, 'test/full/generated-use.ts'), application],
  ]);
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  );
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { readFile: readSource, fileExists } = host;
  host.readFile = (path) => texts.get(path) ?? readSource.call(host, path);
  host.fileExists = (path) => texts.has(path) || fileExists.call(host, path);
  const program = ts.createProgram([...texts.keys()], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const application = `
  import type { Transfer, Account } from 'payments-platform-sdk';
  import type { components, operations } from './generated-types.ts';
  type Theirs = components['schemas'];
  export const toTransfer = (theirs: Theirs['Transfer']): Transfer => theirs;
  // @ts-expect-error: an amount is a string.
  export const fromNumber = (theirs: Theirs['Transfer'] & { amount: number }): Transfer => ({ ...theirs, amount: 1 });
  export const toAccount = (theirs: Theirs['Account']): Account => theirs;
  type Body = operations['transfers.create']['requestBody']['content']['application/json'];
  export const payment: Body = { sourceAccountId: 'acc_1', counterpartyId: 'cpty_1', amount: '1' };
`;

test('types generated from openapi.json match the SDK’s Transfer', async () => {
  expect(compile(await generate(), application)).toEqual([]);
});

test('a Python program pays, waits and reads pages with openapi.json alone', async () => {
  const server = await listen(seedDemo(new Sandbox({ autoAdvance: 50 })));
  onTestFinished(() => server.close());
  const program = join(root, 'examples/openapi.py');
  const lines = (await readFile(program, 'utf8')).trim().split('\n');
  expect(lines.filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(40);
  const env = { ...process.env, PAYMENTS_ROOT_URL: server.rootUrl };
  const { stdout } = await promisify(execFile)('python3', [program], { env });
  expect(stdout).toBe('txfr_000006 completed, 6 transfers\n');
});
