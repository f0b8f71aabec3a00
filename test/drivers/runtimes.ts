/** A JavaScript runtime that can run a script. */
export interface Runtime {
  readonly name: string;
  readonly binary: string;
  /** Arguments before the script. */
  readonly args: readonly string[];
}

/** Other runtimes and their binaries: PAYMENTS_SDK_RUNTIMES="node22=/path,bun=/path,deno=/path". */
export const otherRuntimes: readonly Runtime[] = (process.env['PAYMENTS_SDK_RUNTIMES'] ?? '')
  .split(',')
  .filter((entry) => entry.includes('='))
  .map((entry) => {
    const at = entry.indexOf('=');
    const name = entry.slice(0, at);
    const args = name.startsWith('deno') ? ['run', '-A'] : [];
    return { name, binary: entry.slice(at + 1), args };
  });
