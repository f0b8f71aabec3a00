/*
 * Explores within the bounds of its argument, and prints the finding as JSON. run.ts also starts
 * this script in a copy of the source with a planted mistake.
 */
import { explore, replay, shorten, type Bounds, type Violation } from '../money/once-explorer.ts';

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
  const bounds = JSON.parse(process.argv[2] ?? '') as Bounds;
  const { runs, states, violation: first } = await explore(bounds);
  const violation = first && (await shorten(first, bounds));
  const trace = violation && (await replay(violation.choices, bounds)).trace;
  console.log(JSON.stringify({ runs, states, violation, trace } satisfies Finding));
  process.exit();
}
