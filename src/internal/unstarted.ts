import { onExit, warn } from './runtime.ts';

/** How many calls of each operation have not started, because nobody awaited or iterated them. */
const waiting = new Map<string, number>();

function report(): void {
  for (const [operation, count] of waiting) {
    if (count === 0) continue;
    const calls = count === 1 ? '1 call' : `${count} calls`;
    warn(
      `payments-platform-sdk: ${calls} of ${operation} did nothing, because the result was not awaited or iterated. Write: await ${operation}(inputs).`,
    );
  }
}

/**
 * Counts a call that starts only when the caller awaits or iterates its result. Run the returned
 * function when the call starts. When the process exits, a warning reports the calls that never
 * started, because a payroll whose `await` was forgotten looks like one that was paid.
 */
export function expectStart(operation: string): () => void {
  if (waiting.size === 0) onExit(report);
  const change = (by: number): void => {
    waiting.set(operation, (waiting.get(operation) ?? 0) + by);
  };
  change(1);
  let hasStarted = false;
  return () => {
    if (!hasStarted) change(-1);
    hasStarted = true;
  };
}
