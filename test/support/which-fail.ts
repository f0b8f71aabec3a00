/**
 * Runs a check with each row and tells which rows fail it, by the name that stands first in each. A
 * test that expects none is one red for one cause, and says what the cause concerns.
 */
export async function whichFail<Values extends unknown[]>(
  rows: readonly (readonly [name: string, ...values: Values])[],
  check: (...values: NoInfer<Values>) => Promise<void>,
): Promise<string[]> {
  const failures: string[] = [];
  for (const [name, ...values] of rows) {
    try {
      await check(...values);
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failures;
}
