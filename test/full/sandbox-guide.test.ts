import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { tarballIn } from '../support/tarball.ts';

// The lines of docs/sandbox.md, in an empty folder, in the order in which they stand there, and with
// the tarball in place of the package's name.

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const [command = '', ...lines] = [
  ...readFileSync(file('docs/sandbox.md'), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm),
].map(([, block = '']) => block);

test('curl alone takes a payment from an entity to its end, and does all the rest', async () => {
  expect(command).toMatch(/^npx -p payments-platform-sdk payments-sandbox --seed demo\n$/);
  expect(lines).toHaveLength(2);
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-guide-'));
  const start = command
    .replace('payments-platform-sdk', await tarballIn(folder))
    .replace('--seed demo', '--port 0');
  const npm = { yes: 'true', offline: 'true', cache: join(folder, 'cache'), loglevel: 'error' };
  const settings = Object.entries(npm).map(([name, value]) => [`npm_config_${name}`, value]);
  const sandbox = spawn('sh', ['-c', start], {
    cwd: folder,
    env: { ...process.env, ...Object.fromEntries(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own, which ends as a whole.
    detached: true,
  });
  onTestFinished(async () => {
    process.kill(-Number(sandbox.pid), 'SIGINT');
    await once(sandbox, 'close');
    rmSync(folder, { recursive: true });
  });
  let out = '';
  sandbox.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  await expect.poll(() => out, { timeout: 30_000 }).toContain('Stop it');
  const root = /^export PAYMENTS_ROOT_URL=(.+)$/m.exec(out)?.[1] ?? '';
  expect(out).toContain('sk_sandbox_0000000000000000');

  // One line for each response, and an end at the first mistake.
  const script = `set -e\ncurl() { command curl -s --fail-with-body -w '\\n' "$@"; }\n${lines.join('')}`;
  const shell = spawn('sh', ['-s'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  shell.stdin.end(script.replaceAll('http://127.0.0.1:4010', root));
  const closed = once(shell, 'close');
  const output = await text(shell.stdout);
  expect([output, await closed]).toEqual([output, [0, null]]);
  const responses = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
  expect(responses).toMatchObject([
    { id: 'ent_000001', kycStatus: 'not_started' },
    { id: 'ent_000001', kycStatus: 'approved', tosStatus: 'approved' },
    { id: 'acc_000001' },
    { availableBalance: '100.00' },
    { id: 'cpty_000001', name: 'Roaster' },
    { id: 'txfr_000001', status: 'pending' },
    { id: 'txfr_000001', status: 'completed' },
    { id: 'acc_000001', availableBalance: '87.50', lockedBalance: '0.00' },
    { id: 'iban_000001' },
    { availableBalance: '107.50' },
    { id: 'txfr_000002', status: 'pending' },
    { offsetMs: 3_600_000 },
    { id: 'txfr_000002', status: 'failed' },
    { id: 'txfr_000003', status: 'pending' },
    { id: 'txfr_000003', status: 'processing' },
    { id: 'txfr_000003', status: 'completed' },
    { operation: 'transfers.create', times: 1 },
    [{ operation: 'transfers.create', times: 1 }],
    [{ id: 4 }, { id: 5 }, { id: 6 }, { id: 7 }, { id: 8 }],
  ]);
  expect(JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'))).toMatchObject({
    version: 1,
    transfers: [{ status: 'completed' }, { status: 'failed' }, { status: 'completed' }],
  });
});
