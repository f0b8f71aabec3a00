/* The size of a bundle with the whole SDK in kB: for the web, minified and gzipped. */
import { build } from 'esbuild';
import { gzipSync } from 'node:zlib';

export async function measureBundle(program) {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    minify: true,
    // Code that is loaded later is in other files, which count, too.
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    outdir: 'out',
    write: false,
    // The paths of this project's tsconfig.json would replace the package by its source.
    tsconfigRaw: {},
    logLevel: 'silent',
    // Some SDKs import Node modules conditionally; a bundler for browsers excludes them.
    external: ['node:*', 'fs', 'path', 'crypto', 'http', 'https', 'stream', 'util', 'os'],
  });
  const sizes = outputFiles.map(({ contents }) => gzipSync(contents, { level: 9 }).length / 1_000);
  return sizes.reduce((sum, size) => sum + size, 0);
}
