/*
 * Explores within bounds, and prints what it finds as JSON. run.ts starts it in a copy of the source, too.
 */
import { explore, replay, shorten, type Bounds, type Violation } from '../money/once-explorer.ts';

/** What an exploration has found. */
export interface Finding {
  readonly runs: number;
  readonly states: number;
  /** The shortest one that it has found, and its steps in words. */
  readonly violation?: Violation | undefined;
  readonly trace?: readonly string[] | undefined;
}

if (import.meta.main) {
  // A journal that fails prints its first failure.
  console.warn = () => undefined;
  const bounds = JSON.parse(process.argv[2] ?? '') as Bounds;
  const { runs, states, violation: first } = await explore(bounds);
  const violation = first && (await shorten(first, bounds));
  const trace = violation && (await replay(violation.choices, bounds)).trace;
  console.log(JSON.stringify({ runs, states, violation, trace } satisfies Finding));
  process.exit();
}
