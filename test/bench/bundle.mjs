/*
 * The size of a bundle, minified and gzipped: what a program loads first, and what it loads later,
 * when a method is first called.
 */
import { build } from 'esbuild';
import { gzipSync } from 'node:zlib';

export async function measureBundle(program) {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    outdir: 'out',
    write: false,
    logLevel: 'silent',
    // Some SDKs import Node modules conditionally; a bundler for browsers excludes them.
    external: ['node:*', 'fs', 'path', 'crypto', 'http', 'https', 'stream', 'util', 'os'],
  });
  const sizes = outputFiles.map(({ contents }) => gzipSync(contents, { level: 9 }).length / 1_000);
  return { bundle: sizes.reduce((sum, size) => sum + size, 0) };
}
