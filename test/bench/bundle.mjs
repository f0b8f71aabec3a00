/* What a program that uses a whole SDK ships: bundled for the web, minified, gzipped. */
import { build } from 'esbuild';
import { gzipSync } from 'node:zlib';

export async function bundled(program) {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    minify: true,
    // What is loaded later lands in files of its own; it is shipped all the same, so all count.
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    outdir: 'out',
    write: false,
    logLevel: 'silent',
    // Some SDKs reach for Node where there is one; a browser's bundler leaves that out.
    external: ['node:*', 'fs', 'path', 'crypto', 'http', 'https', 'stream', 'util', 'os'],
  });
  return outputFiles.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0);
}
