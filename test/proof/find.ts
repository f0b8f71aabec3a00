/*
 * Explores within the bounds of its argument, and prints the finding as JSON. run.ts also starts
 * this script in a copy of the source with a planted mistake.
 */
import type { Explored } from './explored.ts';
import { explore, replay, shorten, walk, type Violation } from './explorer.ts';

/** What an exploration has found. */
export interface Finding {
  readonly runs: number;
  readonly states: number;
  /** The first violation, shortened, and its steps in words. */
  readonly violation?: Violation | undefined;
  readonly trace?: readonly string[] | undefined;
}

if (import.meta.main) {
  // The SDK would print the first failure of each journal.
  console.warn = () => undefined;
  const { bounds, walks } = JSON.parse(process.argv[2] ?? '') as Explored;
  const seed = Number(process.argv[3] ?? 67);
  const found = walks === undefined ? explore(bounds) : walk(bounds, walks, seed);
  const { runs, states, violation: first } = await found;
  const violation = first && (await shorten(first, bounds));
  const trace = violation && (await replay(violation.choices, bounds)).trace;
  console.log(JSON.stringify({ runs, states, violation, trace } satisfies Finding));
  process.exit();
}
