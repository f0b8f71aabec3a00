import { openRegistry } from './doubt-registry.ts';

/**
 * Counts a call that starts only when the caller awaits or iterates its result; run the returned
 * function at the start. At the exit a warning reports calls that never started, because a payroll
 * whose `await` was forgotten looks like one that was paid.
 */
export function expectStart(operation: string): () => void {
  const { unstarted } = openRegistry();
  const change = (by: number): void => {
    unstarted.set(operation, (unstarted.get(operation) ?? 0) + by);
  };
  change(1);
  let left = 1;
  return () => {
    change(-left);
    left = 0;
  };
}
