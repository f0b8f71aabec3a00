/*
 * Installs the two contenders that npm cannot install: this package, packed and unpacked, and the
 * generated client of hey-api, built as an application builds it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const here = import.meta.dirname;
export const root = join(here, '../..');
const modules = join(here, 'node_modules');

/** The version of a package, read from its file, because not every package exports its package.json. */
export async function versionOf(name) {
  const text = await readFile(join(modules, name, 'package.json'), 'utf8');
  return JSON.parse(text).version;
}

const npm = (...args) => execFileSync('npm', args, { cwd: root, encoding: 'utf8' });

export function prepareOurs() {
  const built = join(root, 'dist/index.js');
  const lastChange = Math.max(
    ...globSync('src/**/*.ts', { cwd: root }).map((file) => statSync(join(root, file)).mtimeMs),
  );
  if (!existsSync(built) || statSync(built).mtimeMs < lastChange) npm('run', '--silent', 'build');
  const target = join(modules, 'payments-platform-sdk');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  // The build is current, so the scripts that would build again are skipped.
  const packed = npm('pack', '--silent', '--ignore-scripts', '--pack-destination', modules).trim();
  execFileSync('tar', ['-xzf', join(modules, packed), '-C', target, '--strip-components=1']);
  rmSync(join(modules, packed));
}

/** The size of this package when it is installed, in MB. */
export const measureInstalled = () =>
  globSync('payments-platform-sdk/**/*', { cwd: modules, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6;

export async function prepareHeyApi() {
  const target = join(modules, '.generated');
  const [{ createClient }, esbuild] = await Promise.all([
    import('@hey-api/openapi-ts'),
    import('esbuild'),
  ]);
  await createClient({
    input: join(here, 'api.json'),
    output: { path: join(target, 'hey-api'), clean: true },
    logs: { level: 'silent' },
    plugins: ['@hey-api/client-ky', 'zod', { name: '@hey-api/sdk', validator: true }],
  });
  await esbuild.build({
    stdin: {
      contents: "export * from './hey-api/sdk.gen'; export { client } from './hey-api/client.gen';",
      resolveDir: target,
    },
    outfile: join(target, 'hey-api.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'error',
  });
}
