import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** A mistake in the arguments, or in what is installed. */
export class UsageError extends Error {}

/** @throws UsageError for an unknown option or a missing value. */
export function parseFlags<const T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
  allowPositionals: boolean,
) {
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

/** Runs a program with the arguments of this process; a thrown error is one line, and a status. */
export async function runProgram(
  name: string,
  main: (args: string[]) => Promise<number>,
): Promise<void> {
  // The reader of the lines may end first: `| head`.
  process.stdout.on('error', () => {});
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (cause) {
    const isUsage = cause instanceof UsageError;
    const hint = isUsage ? `${name} --help lists the commands and options.\n` : '';
    process.stderr.write(`${(cause as Error).message}\n${hint}`);
    process.exitCode = isUsage ? 2 : 1;
  }
}

export function print(text: string): void {
  process.stdout.write(text);
}

/** Whether the operator agrees; the end of the input is a no. */
export async function confirm(
  question: string,
  output: NodeJS.WritableStream = process.stdout,
): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output });
  const ended = new Promise<string>((end) => terminal.once('close', () => end('')));
  try {
    return /^y(es)?$/i.test((await Promise.race([terminal.question(question), ended])).trim());
  } finally {
    terminal.close();
  }
}

/** Identifies a credential without a part of it. */
export const fingerprint = (credential: string): string =>
  `sha256:${createHash('sha256').update(credential).digest('hex').slice(0, 12)}`;
