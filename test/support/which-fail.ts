/**
 * Runs a check with each row and returns the names of the failed rows with their errors. A test
 * that expects none fails once and names its cause.
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
