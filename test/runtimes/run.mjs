/*
 * Runs the packed tarball on every supported runtime, and lists the results in docs/runtimes.md.
 *
 *   npm run test:runtimes               everything; exits with 1 if a result is unexpected, or if
 *                                       docs/runtimes.md differs
 *   node test/runtimes/run.mjs --update the same, and writes docs/runtimes.md and test/types/mistakes.txt
 *   node test/runtimes/run.mjs --install installs the tools only
 *   node test/runtimes/run.mjs --only=matrix,sealing,transports,mocks,realms,bundles,modules,types,examples
 *
 * The tools come from the lockfile of this folder and are installed if they are missing.
 * Every runtime is the binary that npm serves for 64-bit Linux; Chromium is the distribution's.
 */
import { parseArgs } from 'node:util';
import { installPackage, installTools, startPlatform } from './setup.mjs';

const { values: flags } = parseArgs({
  options: {
    update: { type: 'boolean', default: false },
    install: { type: 'boolean', default: false },
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
// Settings of this machine must not affect the children.
for (const name of Object.keys(process.env)) {
  if (/^(FORCE_COLOR|NODE_USE_ENV_PROXY|PAYMENTS_(BASE_URL|ROOT_URL|API_KEY|JWT))$/.test(name)) {
    delete process.env[name];
  }
}

/** Both lanes run at the same time, because the first mostly waits and the second computes. */
const lanes = [
  ['matrix', 'bundles', 'modules', 'realms', 'sealing', 'transports', 'mocks'],
  ['types', 'examples'],
];
const allParts = lanes.flat();
const selected = flags.only?.split(',') ?? allParts;
const unknown = selected.filter((part) => !allParts.includes(part));
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}`);

await installTools();
if (flags.install) process.exit();
// These modules import tools that have just been installed.
const { checkSealing, checkTransports, copyStory, processRows, workerRow } =
  await import('./runtimes.mjs');
const { bundleRows, checkSandboxes } = await import('./bundles.mjs');
const { runInBrowser } = await import('./browser.mjs');
const { checkAutomock, checkBothCopies, checkContents, checkNewUser, jestRow, runPackageTools } =
  await import('./modules.mjs');
const { checkDeclarations, checkHovers, checkMistakes, compilerRows } = await import('./types.mjs');
const { zodRows } = await import('./zods.mjs');
const { checkMocks } = await import('./mocks.mjs');
const { checkRealms } = await import('./realms.mjs');
const { runExamples } = await import('./examples.mjs');
const { cell, formatChecks, formatMatrix, updateDocument } = await import('./table.mjs');
const { featureNames } = await import('./story.mjs');

const place = await installPackage();
const { consumer, installed, tarball } = place;
await copyStory(consumer);
const platform = await startPlatform(consumer);
const rows = [];

/** Each part returns its checks. */
const parts = {
  matrix: async () => {
    rows.push(...(await processRows(consumer, platform)));
    rows.push(...(await workerRow(consumer, platform)));
    return [];
  },
  bundles: async () => {
    const openPage = (folder) => runInBrowser(folder, platform);
    const bundled = await bundleRows(place, platform, openPage);
    rows.push(...bundled.rows);
    return [...bundled.checks, ...(await checkSandboxes(place))];
  },
  modules: async () => {
    rows.push(await jestRow(consumer, platform));
    return [
      ...(await checkAutomock(consumer)),
      ...(await checkBothCopies(consumer)),
      ...checkContents(installed),
      ...(await runPackageTools(tarball)),
      ...(await checkNewUser(place)),
    ];
  },
  mocks: () => checkMocks(consumer),
  realms: () => checkRealms(consumer),
  sealing: () => checkSealing(consumer),
  transports: () => checkTransports(consumer),
  types: async () => [
    ...(await compilerRows(consumer)),
    ...checkDeclarations(installed),
    ...(await checkHovers(consumer)),
    await checkMistakes(consumer, flags.update),
    ...(await zodRows(place)),
  ],
  examples: () => runExamples(place),
};
const checksByPart = {};
const runLane = async (names) => {
  for (const name of names.filter((each) => selected.includes(each))) {
    const start = performance.now();
    checksByPart[name] = await parts[name]();
    console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  }
};
// Both lanes have ended before their folder is removed.
const ends = await Promise.allSettled(lanes.map(runLane));
platform.stop();
if (flags.keep) console.log(`kept ${place.folder}`);
else place.remove();
for (const { status, reason } of ends) if (status === 'rejected') throw reason;

let failed = 0;
let passed = 0;
const report = (ok, title, detail) => {
  if (ok) passed += 1;
  else failed += 1;
  console.log(ok ? `ok      ${title}` : `FAILED  ${title}: ${detail}`);
};
for (const row of rows) {
  const cells = featureNames.map((feature) => ({ feature, ...cell(row, feature) }));
  const wrong = cells.filter(({ ok }) => !ok);
  const others = cells.filter(({ ok, got }) => ok && got !== 'yes');
  const notes = others.map(({ feature, got }) => `${feature}: ${got}`).join(', ');
  console.log(`${row.label}: ${cells.length - wrong.length} of ${cells.length} ${notes}`);
  passed += cells.length - wrong.length;
  for (const { feature, got, expected } of wrong) {
    report(false, `${row.label}, ${feature}`, `expected ${expected}, got ${got}`);
  }
}
const checks = allParts.flatMap((name) => checksByPart[name] ?? []);
for (const { name, ok, detail } of checks) report(ok, name, detail);

if (selected.length === allParts.length && failed === 0) {
  const generated = { matrix: formatMatrix(rows), checks: formatChecks(checks) };
  const isCurrent = await updateDocument(generated, flags);
  if (!flags.update) {
    report(
      isCurrent,
      'docs/runtimes.md shows these results',
      'run with --update and review the change',
    );
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
