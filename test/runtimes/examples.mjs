// Examples that need other packages, run unchanged with the installed tarball.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { lend, modules, redisServer, root, run, startPlatform } from './setup.mjs';
import { recipePackages, runRecipes, writeRecipes } from './recipes.mjs';
import { binaries } from './runtimes.mjs';

/** The responses of the service, one a line. */
const responses = [
  /^201 .*"id":"txfr_/,
  /^400 .*ValidationError.*not_sent/,
  /^422 .*UnprocessableEntityError.*rejected/,
  /^503 .*RateLimitError.*rejected/,
  /^202 .*PaymentInDoubtError.*unknown/,
];

const packages = [
  '@dbos-inc/dbos-sdk',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/instrumentation',
  '@opentelemetry/instrumentation-http',
  '@opentelemetry/sdk-trace-base',
  '@opentelemetry/sdk-trace-node',
  '@types/node',
  'bullmq',
  'fastify',
  'ioredis',
  'msw',
  'pg-boss',
  'pino',
  'vitest',
];

export async function runExamples({ consumer }) {
  const folder = join(consumer, 'examples');
  mkdirSync(folder);
  cpSync(join(root, 'examples/services'), folder, { recursive: true });
  // The examples are ES modules, as they are in the repository.
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  lend(consumer, ...packages, ...recipePackages);
  writeRecipes(folder);
  return [
    await checkTypes(folder),
    await fastify(folder),
    await webhook(folder),
    await vitest(folder),
    await worker(folder),
    await tracing(folder),
    await logging(folder),
    ...(await runRecipes(folder)),
    ...(await payouts(folder)),
  ];
}

async function checkTypes(folder) {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    // msw and vitest need the DOM library.
    lib: ['ES2024', 'DOM'],
    types: ['node'],
    typeRoots: ['../node_modules/@types'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = join(modules, 'typescript60/bin/tsc');
  const { code, stdout, stderr } = await run(process.execPath, [tsc, '-p', folder]);
  return { name: 'the examples of services compile', ok: code === 0, detail: stdout + stderr };
}

async function fastify(folder) {
  const { code, stdout, stderr } = await run(binaries.node24, ['fastify.ts'], { cwd: folder });
  const lines = stdout.trim().split('\n');
  const isComplete =
    lines.length === responses.length && responses.every((each, at) => each.test(lines[at]));
  const name = 'examples/services/fastify.ts responds for every outcome';
  return { name, ok: code === 0 && isComplete, detail: stdout + stderr };
}

async function webhook(folder) {
  const { code, stdout, stderr } = await run(binaries.node24, ['webhook.ts'], { cwd: folder });
  const ok =
    code === 0 &&
    /^receipt: txfr_000001 completed\nreceipt: txfr_000002 completed\nlost notifications: [1-9]/.test(
      stdout,
    );
  const name = 'examples/services/webhook.ts sends each receipt once';
  return { name, ok, detail: stdout + stderr };
}

async function vitest(folder) {
  const args = [join(modules, 'vitest/vitest.mjs'), 'run', '--root', folder];
  const { code, stdout, stderr } = await run(binaries.node24, args, {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1' },
  });
  const ok = code === 0 && /Tests\s+11 passed/.test(stdout);
  return { name: 'the tests of examples/services pass', ok, detail: stdout + stderr };
}

async function worker(folder) {
  const name = 'examples/services/worker.ts responds in workerd';
  const [{ build }, { Miniflare }] = await Promise.all([import('esbuild'), import('miniflare')]);
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'worker.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'error',
  });
  const platform = await startPlatform(join(folder, '..'));
  const world = await platform.open();
  const deployed = new Miniflare({
    modules: true,
    script: outputFiles[0].text,
    compatibilityDate: '2026-07-30',
    bindings: {
      PAYMENTS_BASE_URL: world.clientOptions.baseUrl,
      PAYMENTS_API_KEY: world.clientOptions.apiKey,
    },
  });
  try {
    const results = [];
    for (const path of [world.sourceAccountId, 'acc_nowhere', 'nonsense']) {
      const response = await deployed.dispatchFetch(`http://worker/${path}`);
      results.push(`${response.status} ${await response.text()}`);
    }
    const ok =
      /^200 .*"available":"\d+\.?\d*"/.test(results[0]) &&
      results[1].startsWith('404 ') &&
      results[2].startsWith('400 ');
    return { name, ok, detail: results.join('\n') };
  } finally {
    await deployed.dispose();
    platform.stop();
  }
}

/** Secrets that no span and no log line may hold. The key of the sandbox has the prefix of a real one. */
const secret = /sk_|bearer|authorization/i;

/** Parses lines of JSON. */
const parseLines = (stdout) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** A trace with the ids, ports and page size of another run. */
function normalizeTrace(text) {
  const names = new Map();
  const nameOf = (id) => {
    if (!names.has(id)) names.set(id, `id ${names.size + 1}`);
    return names.get(id);
  };
  return text
    .trim()
    .replaceAll(/\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b/g, nameOf)
    .replaceAll(/127\.0\.0\.1:\d+|server\.port \d+|limit=\d+/g, 'varies');
}

async function tracing(folder) {
  const { code, stdout, stderr } = await run(binaries.node24, ['tracing.ts'], { cwd: folder });
  const guide = readFileSync(join(root, 'docs/operate.md'), 'utf8');
  const [, guideTrace = ''] = /```text\n(transfers\.createOnce.*?)```/s.exec(guide) ?? [];
  const traces = new Set(stdout.match(/(?<=trace )[0-9a-f]{32}/g));
  const isShown = normalizeTrace(stdout) === normalizeTrace(guideTrace);
  return {
    name: 'examples/services/tracing.ts prints the trace of docs/operate.md, and no secret',
    ok: code === 0 && isShown && traces.size === 1 && !secret.test(stdout),
    detail: `${normalizeTrace(stdout)}${stderr}`,
  };
}

async function logging(folder) {
  const { code, stdout, stderr } = await run(binaries.node24, ['logging.ts'], { cwd: folder });
  const lines = code === 0 ? parseLines(stdout) : [];
  const messages = lines.map(({ msg }) => msg).join();
  const expected =
    'request,response,sent again,request,response,request,response,the payment is in doubt';
  const { err } = lines.at(-1) ?? {};
  return {
    name: 'examples/services/logging.ts logs every request and the doubt, and no secret',
    ok: messages === expected && err.outcome === 'unknown' && !secret.test(stdout),
    detail: `${messages}\n${stdout}${stderr}`,
  };
}

/** What the batch prints at its end: numbers by what they count. */
const parseCounts = (stdout) =>
  Object.fromEntries(
    [...stdout.matchAll(/^(\d+) (.*)$/gm)].map(([, number, what]) => [what, Number(number)]),
  );

/** Runs the batch, and a smaller one with workers that call `create` and retry every error. */
async function payouts(folder) {
  const path = [dirname(await redisServer()), process.env['PATH']].join(delimiter);
  const batch = (place, count) =>
    run(binaries.node24, [join(folder, place, 'batch.ts'), String(count)], {
      env: { ...process.env, PATH: path },
    });

  const { code, stdout, stderr } = await batch('payouts', 500);
  console.log(stdout);
  const counts = parseCounts(stdout);
  const isComplete =
    code === 0 &&
    counts['payouts'] === 500 &&
    counts['transfers in the ledger'] === 500 &&
    counts['workers killed'] >= 8 &&
    counts['faults in these requests'] >= 45 &&
    counts['jobs taken from a dead or suspended worker'] >= 1;

  const carelessFolder = join(folder, 'careless');
  cpSync(join(folder, 'payouts'), carelessFolder, { recursive: true });
  const file = join(carelessFolder, 'worker.ts');
  const text = readFileSync(file, 'utf8');
  const [once, certain] = ['createOnce(job.data, { since })', '!error.retryable'];
  if (!text.includes(once) || !text.includes(certain)) throw new Error('worker.ts has changed');
  const careless = "!error.retryable && error.outcome !== 'unknown'";
  writeFileSync(file, text.replace(once, 'create(job.data)').replace(certain, careless));
  const wrong = await batch('careless', 60);
  return [
    {
      name: 'examples/services/payouts pays 500 once each, with workers killed',
      ok: isComplete,
      detail: stdout + stderr,
    },
    {
      name: 'and more than once when its workers call create',
      ok: wrong.code === 1 && /^WRONG .* was paid 2 times$/m.test(wrong.stdout),
      detail: wrong.stdout + wrong.stderr,
    },
  ];
}
