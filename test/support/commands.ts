import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/**
 * The file of a command. While coverage is collected this is its source, which Node.js runs as well, because only the
 * source counts.
 */
export function fileOfCommand(name: 'journals' | 'probe' | 'sandbox'): string {
  const sources = {
    journals: 'commands/journal/bin.ts',
    probe: 'commands/probe/bin.ts',
    sandbox: 'sandbox/bin.ts',
  };
  const hasCoverage = process.env['NODE_V8_COVERAGE'] !== undefined;
  const path = hasCoverage ? `src/${sources[name]}` : `dist/${name}/bin.js`;
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

/** How a command ended, and what it printed. */
export interface CommandResult {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the package in a folder. `onEnd` takes what ends a process that still runs. */
export function commandIn(folder: string, bin: string, onEnd: (end: () => void) => void) {
  const start = (
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    cwd = folder,
  ) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
    onEnd(() => {
      child.kill('SIGKILL');
    });
    const output = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.out += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.err += chunk));
    const ended = once(child, 'close').then(([status]): CommandResult => ({
      status: status as number | null,
      ...output,
    }));
    return { child, output, ended };
  };
  return {
    start,
    /** Runs the command without a terminal. */
    run: (args: readonly string[], env?: NodeJS.ProcessEnv): Promise<CommandResult> => {
      const { child, ended } = start(process.execPath, [bin, ...args], env);
      child.stdin.end();
      return ended;
    },
    /** Runs the command on a pseudo-terminal, and types a line after its question. */
    runOnTerminal: async (line: string, args: readonly string[], env?: NodeJS.ProcessEnv) => {
      const command = [process.execPath, bin, ...args].map((each) => `'${each}'`).join(' ');
      const { child, output, ended } = start('script', ['-qefc', command, '/dev/null'], env);
      await expect.poll(() => output.out).toContain('[y/N]');
      child.stdin.write(line);
      return ended;
    },
  };
}
