/*
 * Runs the packed tarball wherever its users run it, and shows it in docs/runtimes.md.
 *
 *   npm run test:runtimes               everything; exits with 1 when a cell is not as it has to be,
 *                                       or when docs/runtimes.md says something else
 *   node test/runtimes/run.mjs --update the same, and writes docs/runtimes.md and test/types/mistakes.txt
 *   node test/runtimes/run.mjs --only=matrix,sealing,wires,bundles,modules,types,examples
 *
 * The tools come from the lockfile of this folder and are installed when they are not there.
 * Every runtime is the binary that npm serves for 64-bit Linux; Chromium is the distribution's.
 */
import { parseArgs } from 'node:util';
import { installPackage, installTools, startPlatform } from './setup.mjs';

const { values: flags } = parseArgs({
  options: {
    update: { type: 'boolean', default: false },
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
// What this machine says of colours, proxies and a real platform is not for the children.
for (const name of Object.keys(process.env)) {
  if (/^(FORCE_COLOR|NODE_USE_ENV_PROXY|PAYMENTS_(BASE_URL|ROOT_URL|API_KEY|JWT))$/.test(name)) {
    delete process.env[name];
  }
}

const all = ['matrix', 'sealing', 'transports', 'bundles', 'modules', 'types', 'examples'];
const wanted = flags.only?.split(',') ?? all;
const unknown = wanted.filter((part) => !all.includes(part));
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}`);

await installTools();
// These need what has just been installed.
const { copyStory, processRows, sealing, transports, workerRow } = await import('./runtimes.mjs');
const { bundleRows } = await import('./bundles.mjs');
const { tellInBrowser } = await import('./browser.mjs');
const { asNewUser, bothCopies, contents, jestRow, packageTools } = await import('./modules.mjs');
const { compilerRows, declarations, hovers, mistakes } = await import('./types.mjs');
const { zodRows } = await import('./zods.mjs');
const { runExamples } = await import('./examples.mjs');
const { cell, document, list, matrix } = await import('./table.mjs');
const { featureNames } = await import('./story.mjs');

const place = await installPackage();
const { consumer, installed, tarball } = place;
await copyStory(consumer);
const platform = await startPlatform(consumer);
const rows = [];
const checks = [];

const parts = {
  matrix: async () => {
    rows.push(...(await processRows(consumer, platform)));
    rows.push(...(await workerRow(consumer, platform)));
  },
  bundles: async () => {
    const openPage = (folder) => tellInBrowser(folder, platform);
    const bundled = await bundleRows(place, platform, openPage);
    rows.push(...bundled.rows);
    checks.push(...bundled.checks);
  },
  modules: async () => {
    rows.push(await jestRow(consumer, platform));
    checks.push(...(await bothCopies(consumer)), ...contents(installed));
    checks.push(...(await packageTools(tarball)), ...(await asNewUser(place)));
  },
  sealing: async () => checks.push(...(await sealing(consumer))),
  transports: async () => checks.push(...(await transports(consumer))),
  types: async () => {
    checks.push(...(await compilerRows(consumer)));
    checks.push(...declarations(installed), ...(await hovers(consumer)));
    checks.push(await mistakes(consumer, flags.update), ...(await zodRows(place)));
  },
  examples: async () => checks.push(...(await runExamples(place))),
};

try {
  for (const [name, part] of Object.entries(parts)) {
    if (!wanted.includes(name)) continue;
    const start = performance.now();
    await part();
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
} finally {
  platform.stop();
  if (flags.keep) console.log(`kept ${place.folder}`);
  else place.remove();
}

let failed = 0;
let passed = 0;
const tell = (ok, text, detail) => {
  if (ok) passed += 1;
  else failed += 1;
  console.log(ok ? `ok      ${text}` : `FAILED  ${text}: ${detail}`);
};
for (const row of rows) {
  const cells = featureNames.map((feature) => ({ feature, ...cell(row, feature) }));
  const wrong = cells.filter(({ ok }) => !ok);
  const others = cells.filter(({ ok, got }) => ok && got !== 'yes');
  const notes = others.map(({ feature, got }) => `${feature}: ${got}`).join(', ');
  console.log(`${row.label}: ${cells.length - wrong.length} of ${cells.length} ${notes}`);
  passed += cells.length - wrong.length;
  for (const { feature, got, wanted: word } of wrong) {
    tell(false, `${row.label}, ${feature}`, `expected ${word}, got ${got}`);
  }
}
for (const { name, ok, detail } of checks) tell(ok, name, detail);

if (wanted.length === all.length && failed === 0) {
  const generated = { matrix: matrix(rows), checks: list(checks) };
  const same = await document(generated, flags);
  if (!flags.update) {
    tell(same, 'docs/runtimes.md is what was seen', 'run it with --update and look at the change');
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
