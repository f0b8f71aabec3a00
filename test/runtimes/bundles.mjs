// The story as an application bundles it: esbuild, Vite and webpack, for Node and for browsers. And a bundled
// sandbox.
import { deepStrictEqual } from 'node:assert';
import { isBuiltin } from 'node:module';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binaries, readResults } from './runtimes.mjs';
import { mustRun } from './setup.mjs';

const bundlers = {
  async esbuild({ entry, folder, file, browser }) {
    const { build } = await import('esbuild');
    await build({
      entryPoints: [entry],
      outfile: join(folder, file),
      bundle: true,
      format: file.endsWith('.cjs') ? 'cjs' : 'esm',
      platform: browser ? 'browser' : 'node',
      logLevel: 'error',
    });
  },

  async vite({ entry, folder, file, browser }) {
    const { build } = await import('vite');
    const warnings = [];
    await build({
      root: join(entry, '..'),
      configFile: false,
      logLevel: 'silent',
      build: {
        outDir: folder,
        emptyOutDir: true,
        minify: false,
        modulePreload: false,
        ssr: browser ? false : entry,
        rollupOptions: {
          input: entry,
          output: { entryFileNames: file },
          onwarn: ({ message }) => warnings.push(message),
        },
      },
      ...(browser ? {} : { ssr: { noExternal: true } }),
    });
    if (warnings.length > 0) throw new Error(warnings.join('\n'));
  },

  async webpack({ entry, folder, file, browser }) {
    const { default: webpack } = await import('webpack');
    const stats = await new Promise((resolve, reject) => {
      webpack(
        {
          mode: 'production',
          target: browser ? 'web' : 'node',
          entry,
          output: { path: folder, filename: file },
          // One file, because webpack's loader of chunks sets timers during the import.
          module: { parser: { javascript: { dynamicImportMode: 'eager' } } },
          // Disables the warning about the size.
          performance: false,
        },
        (error, done) => (error === null ? resolve(done) : reject(error)),
      );
    });
    if (stats.hasErrors() || stats.hasWarnings()) {
      throw new Error(stats.toString({ all: false, errors: true, warnings: true }));
    }
  },
};

const importOf = /\b(?:from|import|require)\s*\(?\s*["']([\w@:/.-]+)["']/g;

/** Names of the packages that a script imports. */
export const findImports = (text) =>
  [...text.matchAll(importOf)].map(([, name]) => name).filter((name) => !name.startsWith('.'));

/** Modules of Node that a script imports, with or without `node:`. */
export const findNodeImports = (text) => findImports(text).filter((name) => isBuiltin(name));

/** Every script of a bundle, as one string. */
const readBundle = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name.endsWith('.js'))
    .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
    .join('\n');

/**
 * A browser repeats a POST after a reset of its reused connection, and no option of fetch prevents that, so
 * the SDK rejects writes there. The page sends one with a custom fetch to prove the reason.
 */
const expectedInBrowsers = {
  create: 'rejected',
  'unknown write': 'rejected',
  'GET with body': 'rejected',
  'User-Agent': "browser's",
};

/** Rows of the matrix for the bundles, and checks of what is in them. */
export async function bundleRows({ consumer, folder }, platform, openPage) {
  const rows = [];
  const checks = [];
  for (const [name, bundle] of Object.entries(bundlers)) {
    for (const browser of [false, true]) {
      const kind = browser ? 'browser' : 'node';
      const label = browser ? `Chromium, bundled by ${name}` : `Node 24.21.0, bundled by ${name}`;
      const entry = join(consumer, `story/entries/${kind}.mjs`);
      // Outside the folder of the package, so that modules missing in the bundle are not found.
      const target = join(folder, `bundle-${name}-${kind}`);
      mkdirSync(target);
      const expected = browser ? expectedInBrowsers : {};
      let results;
      try {
        const nodeFile = name === 'webpack' ? 'bundle.cjs' : 'bundle.mjs';
        const file = browser ? 'bundle.js' : nodeFile;
        await bundle({ entry, folder: target, file, browser });
        results = browser
          ? await openPage(target)
          : await readResults(binaries.node24, [file], {
              world: await platform.open(),
              cwd: target,
            });
        if (browser) {
          const { inWorker, despite } = results;
          checks.push(
            {
              name: `a worker of Chromium rejects writes, bundled by ${name}`,
              ok: inWorker === 'rejected',
              detail: String(inWorker),
            },
            {
              name: `Chromium repeats a POST that is sent in spite of it, bundled by ${name}`,
              ok: despite > 1,
              detail: `it took effect ${despite} times`,
            },
          );
          const imports = findNodeImports(readBundle(target));
          checks.push({
            name: `a browser bundle imports nothing of Node, bundled by ${name}`,
            ok: imports.length === 0,
            detail: imports.join(', '),
          });
        }
      } catch (error) {
        results = { import: String(error) };
      }
      rows.push({ label, results, expected });
    }
  }
  return { rows, checks };
}

/** The programs that a sandbox is bundled to, each with the command that runs it in its folder. */
const sandboxes = {
  'esbuild, ESM': ['esbuild', 'bundle.mjs'],
  'esbuild, CJS': ['esbuild', 'bundle.cjs'],
  vite: ['vite', 'bundle.mjs'],
  webpack: ['webpack', 'bundle.cjs'],
  'esbuild, executable': ['esbuild', 'bundle.cjs'],
};

/** Builds a single executable from a script, by Node 26, because Node 24 cannot do it alone. */
async function buildExecutable(folder, file) {
  const settings = { main: file, output: 'program', disableExperimentalSEAWarning: true };
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
  await mustRun(binaries.node26, ['--build-sea', 'settings.json'], { cwd: folder });
  return join(folder, settings.output);
}

/** Bundles a sandbox with its server, and runs it where its package is not found. */
export async function checkSandboxes({ consumer, folder }) {
  const entry = join(consumer, 'story/entries/sandbox.mjs');
  const checks = [];
  for (const [place, [bundler, file]] of Object.entries(sandboxes)) {
    const name = `a bundled sandbox serves openapi.json and pays once, ${place}`;
    const target = join(folder, `sandbox-${checks.length}`);
    mkdirSync(target);
    try {
      await bundlers[bundler]({ entry, folder: target, file, browser: false });
      const command = place.endsWith('executable')
        ? [await buildExecutable(target, file), []]
        : [binaries.node24, [file]];
      const results = await readResults(...command, { world: {}, cwd: target });
      deepStrictEqual(results, { status: 200, operations: 20, result: 'created' });
      checks.push({ name, ok: true });
    } catch (error) {
      checks.push({ name, ok: false, detail: String(error) });
    }
  }
  return checks;
}
