import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { findSimilar } from '../internal/text.ts';

/** A mistake that the user can fix: wrong arguments, or a package that is not installed. */
export class UsageError extends Error {}

type FlagOptions = NonNullable<ParseArgsConfig['options']>;

/** @throws UsageError for an unknown option, a wrong value or an unexpected argument. */
export function parseFlags<const T extends FlagOptions>(
  args: string[],
  options: T,
  allowPositionals = false,
) {
  // Checks tokens first, because errors of a strict parse name the option only in their message.
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'option') {
      checkOption(token, args[token.index] ?? '', options);
    } else if (token.kind === 'positional' && !allowPositionals) {
      throw new UsageError(`Unexpected argument "${token.value}".`);
    }
  }
  return parseArgs({ args, options, allowPositionals });
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** @throws UsageError for an unknown option, or for an option with a value too many or too few */
function checkOption(token: OptionToken, argument: string, options: FlagOptions): void {
  const { name, rawName, value, inlineValue } = token;
  if (!Object.hasOwn(options, name)) {
    // Node reads -port as -p, -o, -r and -t. Text after `=` may be secret, so the error omits it.
    const [word = ''] = argument.replace(/^-+/, '').split('=');
    const similar = findSimilar(word, Object.keys(options));
    const question = similar === undefined ? '.' : `; did you mean --${similar}?`;
    throw new UsageError(`Unknown option ${rawName}${question}`);
  }
  if (options[name]?.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value.`);
  } else if (value === undefined) {
    throw new UsageError(`${rawName} needs a value.`);
  } else if (inlineValue === false && /^-./.test(value)) {
    throw new UsageError(
      `${rawName} needs a value. If the value begins with a dash, write ${rawName}=<value>.`,
    );
  }
}

/** Runs a program with this process's arguments. Prints an error, and sets the exit status. */
export async function runProgram(
  name: string,
  main: (args: string[]) => Promise<number>,
): Promise<void> {
  // A reader may end before this program, as `head` does in a pipe.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (cause) {
    const isUsage = cause instanceof UsageError;
    const hint = isUsage ? `${name} --help prints the usage.\n` : '';
    process.exitCode = isUsage ? 2 : 1;
    // Exits, because what failed may have left a connection open that keeps the process alive.
    process.stderr.write(`${(cause as Error).message}\n${hint}`, () => process.exit());
  }
}

export function print(text: string): void {
  process.stdout.write(text);
}

/** Asks the operator a question on the terminal. If the input ends, the answer is no. */
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

/** @throws UsageError if nobody can answer the question that comes before a payment or a decision */
export function checkTerminal(asker: string): void {
  if (process.stdin.isTTY) return;
  throw new UsageError(
    `${asker} asks for confirmation on a terminal. Without a terminal, pass --yes.`,
  );
}

export const readVariable = (name: string): string => process.env[name]?.trim() ?? '';

/** A hash that identifies a credential without showing any part of the credential. */
export const fingerprint = (credential: string): string =>
  `sha256:${createHash('sha256').update(credential).digest('hex').slice(0, 12)}`;
