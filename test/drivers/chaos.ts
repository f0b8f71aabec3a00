import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { usual, type Fault } from './faults.ts';
import { applyVariant, variants } from './mutants.ts';
import { findViolations } from './violations.ts';
import { play, type Played, type Sdk } from './play.ts';
import { findFault, plans, sweep, type Plan } from './plans.ts';
import { FaultPlatform } from './server.ts';

/*
 * Plays random plans and checks the outcomes against a ledger:
 * node test/drivers/chaos.ts --runs 300 --seed 7 [--mutant name] [--plan json]
 * Runs on every runtime, so it imports no test runner.
 */

export interface ChaosOptions {
  readonly sdk: Sdk;
  readonly runs: number;
  readonly seed: number;
  /** A plan to repeat instead of random plans. */
  readonly plan?: Plan | undefined;
  /** The number of plans that run at once. @default 8 */
  readonly lanes?: number | undefined;
  /** Whether to end at the first violation, without a search for a smaller plan. */
  readonly bail?: boolean | undefined;
}

export interface ChaosReport {
  readonly runs: number;
  readonly calls: number;
  /** How many calls had each ending: `create ok`, `get rejected` and so on. */
  readonly mix: ReadonlyMap<string, number>;
  /** How often a creation met a fault at each moment. */
  readonly plays: ReadonlyMap<string, number>;
  /** The violations, each with its plan. */
  readonly violations: readonly string[];
}

/** Plays every fault once, then random plans, and compares the outcomes with the ledger. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { sdk, runs, seed, plan: only, lanes = 8, bail = false } = options;
  const platform = new FaultPlatform(usual);
  await platform.start();
  const violations: string[] = [];
  const mix = new Map<string, number>();
  const plays = new Map<string, number>();
  const allResults: Played[] = [];
  const recordUnhandled = (reason: unknown): void => {
    violations.push(`unhandled: ${String(reason)}`);
  };
  process.on('unhandledRejection', recordUnhandled);
  process.on('uncaughtException', recordUnhandled);
  const { random } = Math;
  // Keeps the delays between attempts random, but short.
  Math.random = () => random() * 0.04;
  let playedCount = 0;
  const playPlan = async (plan: Plan): Promise<string[]> => {
    if (bail && violations.length > 0) return [];
    const results = await play(plan, sdk, platform);
    await platform.waitForEffects();
    // A request of an aborted call may still arrive.
    await new Promise((resolve) => setTimeout(resolve, 15));
    allResults.push(...results);
    return results.flatMap((result) => {
      const operation = nameOperation(result);
      count(mix, `${operation} ${nameEnding(result, sdk)}`);
      if (operation === 'create' || operation === 'once') {
        // Each request met one of the faults, in order.
        const met = result.plan.faults.slice(0, result.sent.length);
        for (const name of met) count(plays, nameMoment(findFault(name)));
      }
      return findViolations(result, sdk, platform).map((each) => `${operation}: ${each}`);
    });
  };
  const runLane = async (index: number, share: number, laneSeed: number): Promise<void> => {
    const numRuns = Math.ceil((share - index) / lanes);
    if (numRuns < 1) return;
    for (let at = index; only === undefined && at < sweep.length; at += lanes) {
      const plan = sweep[at];
      const problems = plan === undefined ? [] : await playPlan(plan);
      if (problems.length > 0)
        violations.push(`${problems.join('\n')}\nplan ${JSON.stringify(plan)}`);
    }
    const property = fc.asyncProperty(
      only === undefined ? plans : fc.constant(only),
      async (plan) => {
        if (bail && violations.length > 0) return;
        playedCount += 1;
        const problems = await playPlan(plan);
        if (problems.length > 0) throw new Error(problems.join('\n'));
      },
    );
    const details = await fc.check(property, { numRuns, seed: laneSeed, endOnFailure: bail });
    if (!details.failed) return;
    const { counterexample, errorInstance, counterexamplePath } = details;
    const [what] = String(errorInstance).split('\n    at ');
    violations.push(
      `${what}\nseed ${laneSeed}, path ${counterexamplePath}, plan ${JSON.stringify(counterexample?.[0])}`,
    );
  };
  try {
    const indices = Array.from({ length: lanes }, (_, index) => index);
    await Promise.all(indices.map((index) => runLane(index, runs, seed + index)));
    await platform.waitForEffects();
    await new Promise((resolve) => setTimeout(resolve, 300));
    // Checks all results again, because now no request can still arrive.
    for (const result of violations.length > 0 ? [] : allResults) {
      for (const each of findViolations(result, sdk, platform)) {
        violations.push(`at the end, ${each}: ${JSON.stringify(result.plan)}`);
      }
    }
    violations.push(...platform.trespasses);
  } finally {
    Math.random = random;
    process.off('unhandledRejection', recordUnhandled);
    process.off('uncaughtException', recordUnhandled);
    platform.stop();
  }
  return { runs: playedCount, calls: allResults.length, mix, plays, violations };
}

function count(mix: Map<string, number>, name: string): void {
  mix.set(name, (mix.get(name) ?? 0) + 1);
}

const moments = {
  not_sent: 'before the first byte',
  ok: 'an odd response to what took effect',
  resent: 'asked to come again (425, 429)',
  rejected: 'rejected',
  unknown: 'after the first byte',
};

/** The moment of a fault, in the words of docs/proof.md. */
const nameMoment = ({ name, once }: Fault): string =>
  name.endsWith('not acted on') ? 'after the first byte, without effect' : moments[once];

const nameOperation = ({ plan }: Played): string =>
  (plan.payments ?? 0) > 0 ? 'batch' : plan.operation;

function nameEnding({ ending }: Played, sdk: Sdk): string {
  if (ending.result !== 'error') return ending.result;
  return ending.error instanceof sdk.PaymentsError ? ending.error.outcome : 'untyped';
}

const byName = ([a]: [string, number], [b]: [string, number]): number => (a < b ? -1 : 1);

/** Formats the counts of a report. */
export function describeReport({ runs, calls, mix }: ChaosReport): string {
  const total = new Map<string, number>();
  for (const [name, times] of mix) {
    const [, outcome = ''] = name.split(' ');
    total.set(outcome, (total.get(outcome) ?? 0) + times);
  }
  const share = (times: number): string => `${((100 * times) / calls).toFixed(1)} %`;
  const lines = [...total].toSorted(byName).map(([name, times]) => `${name} ${share(times)}`);
  const each = [...mix].toSorted(byName).map(([name, times]) => `${name} ${times}`);
  return `${runs} plans, ${calls} calls: ${lines.join(', ')}\n(${each.join(', ')})`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '300' },
      seed: { type: 'string' },
      lanes: { type: 'string', default: '8' },
      mutant: { type: 'string' },
      plan: { type: 'string' },
      bail: { type: 'boolean', default: false },
    },
  });
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const runs = Number(values.runs);
  const { mutant, bail } = values;
  console.log(`seed ${seed}, ${runs} plans${mutant === undefined ? '' : `, ${mutant}`}`);
  const variant = variants.find(({ name }) => name === mutant);
  if (mutant !== undefined && variant === undefined) throw new Error(`no mutant called ${mutant}`);
  const sdk = (await import(variant ? applyVariant(variant) : '../../src/index.ts')) as Sdk;
  const plan = values.plan === undefined ? undefined : (JSON.parse(values.plan) as Plan);
  const startedAt = performance.now();
  const report = await runChaos({
    sdk,
    runs,
    seed,
    plan,
    lanes: Number(values.lanes),
    bail,
  });
  console.log(describeReport(report));
  console.log(`plays ${JSON.stringify(Object.fromEntries(report.plays))}`);
  for (const violation of report.violations) console.log(`VIOLATION ${violation}`);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${report.violations.length} violations in ${seconds} s`);
  process.exit(report.violations.length === 0 ? 0 : 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
