// Errors of Node in test runners, where they come from another realm than the program.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { join } from 'node:path';
import { createCertificate } from '../drivers/certificate.ts';
import { binaries } from './runtimes.mjs';
import { lend, modules, run } from './setup.mjs';

/** The body of a test that has `sdk`, `expect`, `fs` and the addresses. */
const body = `
  const call = (options, callOptions) =>
    new sdk.PaymentsClient({ apiKey: 'sk_realm', ...options }).accounts
      .get('acc_1', callOptions)
      .catch((error) => error);
  const refused = await call({ baseUrl: 'http://127.0.0.1:2/v0', maxRetries: 0 });
  expect([refused.code, refused.cause && refused.cause.code]).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  expect(refused.message).toContain('Nothing listens there');
  expect(refused.toJSON().cause).toMatchObject({ code: 'ECONNREFUSED' });

  const payments = new sdk.PaymentsClient({ baseUrl: secure, apiKey: 'sk_realm' });
  const input = { sourceAccountId: 'acc_1', destinationAccountId: 'acc_2', amount: '1.00' };
  const untrusted = await payments.transfers.create(input).catch((error) => error);
  expect(untrusted).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', outcome: 'not_sent', retryable: false });
  expect(untrusted.attempts).toHaveLength(1);
  expect(untrusted.message).toContain('fix the certificate');

  const late = await call({ baseUrl: silent }, { signal: AbortSignal.timeout(50) });
  expect(late.message).toContain('which timed out');

  const apiKey = () => fs.promises.readFile('/no/such/key', 'utf8');
  const keyless = await call({ baseUrl: silent, apiKey });
  expect(keyless.message).toContain('ENOENT');
  expect(keyless.cause).toMatchObject({ code: 'ENOENT' });

  const due = v8.deserialize(v8.serialize(new Date()));
  const unsent = new sdk.PaymentsClient({ baseUrl: 'http://127.0.0.1:2/v0', apiKey: 'sk_realm', maxRetries: 0 });
  expect(await unsent.transfers.create(input, { body: { due } }).catch((error) => error)).toMatchObject({ name: 'ConnectionError' });
`;

const listen = (server) =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });

/** Runs the same test in each runner, on the packed tarball. */
export async function checkRealms(consumer) {
  const folder = join(consumer, 'realms');
  mkdirSync(folder, { recursive: true });
  lend(consumer, 'vitest');
  const files = createCertificate(folder);
  if (files === undefined) throw new Error('openssl is missing');
  const pair = { key: readFileSync(files.key), cert: readFileSync(files.cert) };
  let handshakes = 0;
  const https = createHttps(pair, (_, response) => response.end('{}'));
  https.on('connection', () => (handshakes += 1)).on('tlsClientError', () => {});
  const http = createHttp(() => {});
  const addresses = `const secure = 'https://127.0.0.1:${await listen(https)}/v0';
const silent = 'http://127.0.0.1:${await listen(http)}/v0';`;
  writeFileSync(
    join(folder, 'jest.cjs'),
    `const fs = require('node:fs');
const v8 = require('node:v8');
const sdk = require('payments-platform-sdk');
${addresses}
test('errors keep what they say', async () => {${body}});\n`,
  );
  writeFileSync(
    join(folder, 'vitest.test.mjs'),
    `import * as fs from 'node:fs';
import * as v8 from 'node:v8';
import * as sdk from 'payments-platform-sdk';
import { expect, test } from 'vitest';
${addresses}
test('errors keep what they say', async () => {${body}});\n`,
  );
  writeFileSync(
    join(folder, 'jest.config.cjs'),
    `module.exports = { testMatch: ['<rootDir>/jest.cjs'], transform: {}, watchman: false };\n`,
  );
  const jest = [join(modules, 'jest/bin/jest.js'), '--ci', '--runInBand'];
  const vitest = [join(modules, 'vitest/vitest.mjs'), 'run', '--root', folder, '--pool'];
  const runners = {
    Jest: ['--no-experimental-require-module', ...jest],
    ...Object.fromEntries(
      ['threads', 'forks', 'vmThreads', 'vmForks'].map((pool) => [pool, [...vitest, pool]]),
    ),
  };
  const checks = [];
  for (const [name, args] of Object.entries(runners)) {
    handshakes = 0;
    const env = { ...process.env, NO_COLOR: '1' };
    const { code, stdout, stderr } = await run(binaries.node24, args, { cwd: folder, env });
    const output = stdout + stderr;
    const ok = code === 0 && /Tests:?\s+1 passed/.test(output) && handshakes === 1;
    const detail = `${handshakes} handshakes\n${output}`;
    checks.push({
      name: `errors of Node keep code, cause and hint in Jest and in the pools of Vitest, ${name}`,
      ok,
      detail,
    });
  }
  for (const server of [https, http]) {
    server.close();
    server.closeAllConnections();
  }
  return checks;
}
