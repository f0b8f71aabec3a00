import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The tarball: what .ci/run has packed, or the build as it is, packed into a folder of the test's. */
export async function tarballIn(folder: string): Promise<string> {
  const given = process.env['PAYMENTS_SDK_TARBALL'];
  if (given !== undefined) return given;
  const options = ['--silent', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', ...options, '--cache', join(folder, 'cache')],
    { cwd: root },
  );
  return join(folder, stdout.trim());
}
