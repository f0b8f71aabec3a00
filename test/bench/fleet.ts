import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { policies, type Policy } from './fleet-policies.ts';
import { sumBetween, brownOut, Timeline, World, type Scenario } from './fleet-world.ts';

/*
 * A thousand clients and a platform that browns out for a minute, in virtual time: how much load do
 * retries add, and how long does the recovery take?
 * node test/bench/fleet.ts [--write] updates docs/decisions/what-a-storm-costs.md.
 */

const seed = 20_260_101;
const durationSeconds = 105;

const scenarios: readonly Scenario[] = [
  { name: 'sheds load with 503', shed: 503, writes: 0.2, clients: 1_000, rate: 10 },
  {
    name: 'sheds load with 429 and Retry-After: 2',
    shed: 429,
    writes: 0.2,
    clients: 1_000,
    rate: 10,
  },
];

interface Result {
  readonly policy: string;
  readonly amplification: number;
  /** Requests a second, for each second. */
  readonly load: readonly number[];
  /** Seconds from the end of the brown-out to normal service; undefined if not observed. */
  readonly recovery: number | undefined;
  /** The share of the calls started during the brown-out that succeeded. */
  readonly served: number;
  /** The same share for reads only, because only reads are sent again after a 503. */
  readonly readsServed: number;
}

async function simulate(policy: Policy, scenario: Scenario): Promise<Result> {
  const random = createRandom(seed);
  const timeline = new Timeline();
  const world = new World(timeline, scenario, random);
  const startedCounts = Array.from({ length: durationSeconds }, () => 0);
  const successCounts = Array.from({ length: durationSeconds }, () => 0);
  const reads = { started: 0, succeeded: 0 };
  for (let index = 0; index < scenario.clients; index += 1) {
    const call = policy.client(world, timeline, random);
    const next = (): void => {
      const second = Math.floor(timeline.elapsed() / 1_000);
      startedCounts[second] = (startedCounts[second] ?? 0) + 1;
      const isWrite = random() < scenario.writes;
      const counts = !isWrite && second >= brownOut.from && second < brownOut.until;
      if (counts) reads.started += 1;
      void call(isWrite).then((ok) => {
        if (!ok) return;
        successCounts[second] = (successCounts[second] ?? 0) + 1;
        if (counts) reads.succeeded += 1;
      });
      timeline.setTimeout(next, randomPause(scenario.rate, random));
    };
    timeline.setTimeout(next, randomPause(scenario.rate, random));
  }
  await timeline.run(durationSeconds * 1_000, () => {
    world.work();
  });
  const during = (counts: readonly number[]): number =>
    sumBetween(counts, brownOut.from, brownOut.until);
  // Calls of the last seconds cannot have ended.
  const observedSeconds = durationSeconds - 15;
  let recovered = observedSeconds;
  while (
    recovered > brownOut.until &&
    (successCounts[recovered - 1] ?? 0) >= 0.99 * (startedCounts[recovered - 1] ?? 0)
  ) {
    recovered -= 1;
  }
  return {
    policy: policy.name,
    amplification: during(world.arrivals) / during(startedCounts),
    load: world.arrivals,
    recovery: recovered === observedSeconds ? undefined : recovered - brownOut.until,
    served: during(successCounts) / during(startedCounts),
    readsServed: reads.succeeded / reads.started,
  };
}

/** The random delay until the next call at an average rate. */
const randomPause = (rate: number, random: () => number): number =>
  (-Math.log(1 - random()) * 1_000) / rate;

/** The same numbers on every machine. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const cells = (row: readonly string[]): string => `| ${row.join(' | ')} |`;

function formatTable(results: readonly Result[]): string {
  return [
    cells(['policy', 'requests for each call', 'calls served', 'well again after']),
    cells(['---', '---:', '---:', '---:']),
    ...results.map(({ policy, amplification, served, recovery }) =>
      cells([
        policy,
        amplification.toFixed(3),
        percent(served),
        recovery === undefined
          ? `not within ${durationSeconds - 15 - brownOut.until} s`
          : `${recovery} s`,
      ]),
    ),
  ].join('\n');
}

const bars = '▁▂▃▄▅▆▇█';
const step = 5;
const steps = Math.floor((durationSeconds - 15) / step);

/** Requests a second over time, relative to the rate without retries. */
function formatChart(results: readonly Result[], { clients, rate }: Scenario): string {
  const width = Math.max(...results.map(({ policy }) => policy.length));
  const line = (name: string, sign: (at: number) => string): string =>
    `${name.padEnd(width)} ${Array.from({ length: steps }, (_, index) => sign(index * step)).join('')}`;
  const height = (load: readonly number[], at: number): number =>
    Math.round((sumBetween(load, at, at + step) / step / clients / rate) * (bars.length / 3)) - 1;
  return [
    '```text',
    ...results.map(({ policy, load }) => line(policy, (at) => bars[height(load, at)] ?? '█')),
    line('brown-out', (at) => (at >= brownOut.from && at < brownOut.until ? '^' : ' ')),
    '',
    `each sign is ${step} s; ${bars[2]} is the load without retries, ${bars[7]} three times as much`,
    '```',
  ].join('\n');
}

async function measureSensitivity(): Promise<string> {
  const rates = [0.3, 1, 3, 10, 30];
  const rows: string[][] = [];
  for (const policy of policies) {
    const row: string[] = [];
    for (const rate of rates) {
      const scenario = { name: '', shed: 503, writes: 0.2, clients: 100, rate } as const;
      row.push((await simulate(policy, scenario)).amplification.toFixed(3));
    }
    rows.push([policy.name, ...row]);
  }
  return [
    cells(['policy', ...rates.map((rate) => `${rate} a second`)]),
    cells(['---', ...rates.map(() => '---:')]),
    ...rows.map(cells),
  ].join('\n');
}

/** The cost of bounded retries when most requests would succeed. */
async function measurePartialFailure(): Promise<string> {
  const troubles = ([503, 429] as const).flatMap((shed) =>
    [0.05, 0.3].map((atRandom) => ({ shed, atRandom })),
  );
  const rows: string[][] = [];
  for (const policy of policies) {
    const row: string[] = [];
    for (const trouble of troubles) {
      const scenario = { name: '', writes: 0.2, clients: 100, rate: 10, ...trouble };
      row.push(percent((await simulate(policy, scenario)).readsServed));
    }
    rows.push([policy.name, ...row]);
  }
  return [
    cells(['policy', ...troubles.map(({ shed, atRandom }) => `${percent(atRandom)} are ${shed}`)]),
    cells(['---', ...troubles.map(() => '---:')]),
    ...rows.map(cells),
  ].join('\n');
}

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const parts: string[] = [];
for (const scenario of scenarios) {
  const results: Result[] = [];
  for (const policy of policies) results.push(await simulate(policy, scenario));
  parts.push(`**The platform ${scenario.name}**`, formatTable(results));
  if (scenario === scenarios[0]) parts.push(formatChart(results, scenario));
}
parts.push(
  '**Requests for each call during the brown-out (503), by how often each client calls**',
  await measureSensitivity(),
  '**Reads that succeed while a share of all requests is rejected at random**',
  await measurePartialFailure(),
);
const text = parts.join('\n\n');
console.log(text);
if (values.write) {
  const file = new URL('../../docs/decisions/what-a-storm-costs.md', import.meta.url);
  const document = readFileSync(file, 'utf8');
  const [startMarker, endMarker] = ['<!-- fleet:start -->', '<!-- fleet:end -->'];
  const [before, rest] = document.split(startMarker);
  const [, after] = rest?.split(endMarker) ?? [];
  if (before === undefined || after === undefined) throw new Error('the markers are missing');
  writeFileSync(file, `${before}${startMarker}\n\n${text}\n\n${endMarker}${after}`);
}
