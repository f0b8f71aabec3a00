import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { usual } from './faults.ts';
import { applyVariant, variants } from './mutants.ts';
import { judge } from './judge.ts';
import { play, type Played, type Sdk } from './play.ts';
import { plans, sweep, type Plan } from './plans.ts';
import { installReplay } from './replaying.ts';
import { FaultPlatform } from './server.ts';

/*
 * Random plans against the truth: node test/full/chaos.ts --runs 300 --seed 7 [--mutant name] [--plan json].
 * Runs on every runtime, so nothing of a test runner is imported here.
 */

export interface ChaosOptions {
  readonly sdk: Sdk;
  readonly runs: number;
  readonly seed: number;
  /** A plan to play over and over, in the place of all others. */
  readonly plan?: Plan | undefined;
  /** Plans that run side by side. @default 8 */
  readonly lanes?: number | undefined;
  /** Whether to end at the first violation, without looking for a smaller plan that shows it. */
  readonly bail?: boolean | undefined;
  /**
   * Whether to play half of the plans with a dispatcher that replays in the place of Node's own. What it
   * does not tell is not believed, so the other half is played with Node's own.
   * @default true
   */
  readonly replays?: boolean | undefined;
}

export interface ChaosReport {
  readonly runs: number;
  readonly calls: number;
  /** How the calls ended: `create ok`, `get rejected` and so on. */
  readonly mix: ReadonlyMap<string, number>;
  /** What was wrong, each with the plan that shows it. */
  readonly violations: readonly string[];
}

/** Plays every fault once, then random plans, and compares what the SDK says with what was done. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { sdk, runs, seed, plan: only, lanes = 8, bail = false, replays = true } = options;
  const platform = new FaultPlatform(usual);
  await platform.start();
  const violations: string[] = [];
  const mix = new Map<string, number>();
  const everything: Played[] = [];
  const stray = (reason: unknown): void => {
    violations.push(`nobody caught: ${String(reason)}`);
  };
  process.on('unhandledRejection', stray);
  process.on('uncaughtException', stray);
  const { random } = Math;
  // Waits between attempts stay as random as they are, and short enough to sit through.
  Math.random = () => random() * 0.04;
  let stopReplays: (() => void) | undefined;
  let played = 0;
  const trial = async (plan: Plan): Promise<string[]> => {
    if (bail && violations.length > 0) return [];
    const results = await play(plan, sdk, platform, stopReplays !== undefined);
    await platform.settled();
    // What a caller gave up on may still be on its way.
    await new Promise((resolve) => setTimeout(resolve, 15));
    everything.push(...results);
    return results.flatMap((result) => {
      const { operation } = result.plan;
      count(mix, `${operation} ${nameOf(result, sdk)}`);
      return judge(result, sdk, platform).map((each) => `${operation}: ${each}`);
    });
  };
  const lane = async (index: number, share: number, laneSeed: number): Promise<void> => {
    const numRuns = Math.ceil((share - index) / lanes);
    if (numRuns < 1) return;
    for (let at = index; only === undefined && at < sweep.length; at += lanes) {
      const plan = sweep[at];
      const found = plan === undefined ? [] : await trial(plan);
      if (found.length > 0) violations.push(`${found.join('\n')}\nplan ${JSON.stringify(plan)}`);
    }
    const property = fc.asyncProperty(
      only === undefined ? plans : fc.constant(only),
      async (plan) => {
        if (bail && violations.length > 0) return;
        played += 1;
        const found = await trial(plan);
        if (found.length > 0) throw new Error(found.join('\n'));
      },
    );
    const details = await fc.check(property, { numRuns, seed: laneSeed, endOnFailure: bail });
    if (!details.failed) return;
    const { counterexample, errorInstance, counterexamplePath } = details;
    const [what] = String(errorInstance).split('\n    at ');
    violations.push(
      `${what}\nseed ${laneSeed}, path ${counterexamplePath}, ${stopReplays === undefined ? '' : 'replaying, '}plan ${JSON.stringify(counterexample?.[0])}`,
    );
  };
  try {
    const side = async (share: number, first: number): Promise<void> => {
      const indices = Array.from({ length: lanes }, (_, index) => index);
      await Promise.all(indices.map((index) => lane(index, share, first + index)));
      await platform.settled();
    };
    const replayed = replays ? Math.floor(runs / 2) : 0;
    await side(runs - replayed, seed);
    // Where there is no dispatcher to replace, the rest is played as the first half was.
    if (replayed > 0) {
      stopReplays = installReplay();
      await side(replayed, seed + lanes);
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    // Once more, now that nothing can be on its way: what was promised must still hold.
    for (const result of violations.length > 0 ? [] : everything) {
      for (const each of judge(result, sdk, platform)) {
        violations.push(`in the end, ${each}: ${JSON.stringify(result.plan)}`);
      }
    }
    violations.push(...platform.trespasses);
  } finally {
    Math.random = random;
    stopReplays?.();
    process.off('unhandledRejection', stray);
    process.off('uncaughtException', stray);
    platform.stop();
  }
  return { runs: played, calls: everything.length, mix, violations };
}

function count(mix: Map<string, number>, name: string): void {
  mix.set(name, (mix.get(name) ?? 0) + 1);
}

function nameOf({ ending }: Played, sdk: Sdk): string {
  if (ending.result !== 'error') return ending.result;
  return ending.error instanceof sdk.PaymentsError ? ending.error.outcome : 'untyped';
}

const byName = ([a]: [string, number], [b]: [string, number]): number => (a < b ? -1 : 1);

/** The mix in lines, one for each operation. */
export function described({ runs, calls, mix }: ChaosReport): string {
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
  const replays = variant?.replays ?? true;
  const plan = values.plan === undefined ? undefined : (JSON.parse(values.plan) as Plan);
  const begun = performance.now();
  const report = await runChaos({
    sdk,
    runs,
    seed,
    plan,
    lanes: Number(values.lanes),
    bail,
    replays,
  });
  console.log(described(report));
  for (const violation of report.violations) console.log(`VIOLATION ${violation}`);
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  console.log(`${report.violations.length} violations in ${seconds} s`);
  process.exit(report.violations.length === 0 ? 0 : 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
