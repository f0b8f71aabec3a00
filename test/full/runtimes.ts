/** A runtime to run a script on. */
export interface Runtime {
  readonly name: string;
  readonly binary: string;
  /** What comes before the script. */
  readonly args: readonly string[];
}

/** Other runtimes by their binaries: PAYMENTS_SDK_RUNTIMES="node22=/path,bun=/path,deno=/path". */
export const givenRuntimes: readonly Runtime[] = (process.env['PAYMENTS_SDK_RUNTIMES'] ?? '')
  .split(',')
  .filter((each) => each.includes('='))
  .map((each) => {
    const at = each.indexOf('=');
    const name = each.slice(0, at);
    const args = name.startsWith('deno') ? ['run', '-A'] : [];
    return { name, binary: each.slice(at + 1), args };
  });
