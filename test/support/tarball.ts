import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The tarball that .ci/run has packed, or a new one of the current build. */
export async function tarballIn(folder: string): Promise<string> {
  const prebuilt = process.env['PAYMENTS_SDK_TARBALL'];
  if (prebuilt !== undefined) return prebuilt;
  const options = ['--silent', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', ...options, '--cache', join(folder, 'cache')],
    { cwd: root },
  );
  return join(folder, stdout.trim());
}

/** Installs the tarball and its peer dependency into a folder with npm, and returns its files. */
export async function installTarball(folder: string): Promise<string[]> {
  const tarball = await tarballIn(folder);
  const installed = join(folder, 'node_modules', 'payments-platform-sdk');
  await mkdir(installed, { recursive: true });
  const run = promisify(execFile);
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);
  await symlink(join(root, 'node_modules', 'msw'), join(folder, 'node_modules', 'msw'));
  const { stdout } = await run('tar', ['-tzf', tarball]);
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}
