#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { seedDemo } from './control/demo.ts';
import { wordsOf } from './platform/problem.ts';
import { Sandbox } from './sandbox.ts';
import { listen } from './server.ts';

const usage = `Usage: payments-sandbox [options]

Starts a payments Platform in memory and keeps it up until it is interrupted.

Options:
  --port <number>  port to listen on; 0 takes any free one (default: 4010)
  --host <name>    address to listen on (default: 127.0.0.1)
  --seed demo      start with a small demo world instead of an empty Platform
  --help           print this text and exit
`;

/** What the command line asks for. */
interface CommandLine {
  port: number;
  host: string;
  demo: boolean;
  help: boolean;
}

/** @throws Error with a sentence for the user. */
function readCommandLine(args: string[]): CommandLine {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: 'string', default: '4010' },
      host: { type: 'string', default: '127.0.0.1' },
      seed: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { host, help, seed } = values;
  const port = Number(values.port);
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) {
    throw new Error(`--port takes a number from 0 to 65535, not "${values.port}".`);
  }
  if (seed !== undefined && seed !== 'demo') {
    throw new Error(`--seed takes "demo", not "${seed}".`);
  }
  return { port, host, demo: seed === 'demo', help };
}

async function run({ port, host, demo }: CommandLine): Promise<void> {
  const sandbox = new Sandbox();
  if (demo) seedDemo(sandbox);
  const server = await listen(sandbox, { port, host });
  // With its server closed, nothing keeps the process alive, and it ends with status 0.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void server.close());
  }
  const { baseUrl, rootUrl, apiKey, jwt } = server.clientOptions;
  process.stdout
    .write(`The payments sandbox is up. Paste these lines into the shell that is to use it:

export PAYMENTS_BASE_URL=${baseUrl}
export PAYMENTS_ROOT_URL=${rootUrl}
export PAYMENTS_API_KEY=${apiKey}
export PAYMENTS_JWT=${jwt}

Everything is kept in memory. Stop it with Ctrl+C.
`);
}

function fail(status: number, message: string): void {
  process.stderr.write(message);
  process.exitCode = status;
}

function main(args: string[]): void {
  let options: CommandLine;
  try {
    options = readCommandLine(args);
  } catch (cause) {
    fail(2, `${wordsOf(cause)}\n\n${usage}`);
    return;
  }
  if (options.help) {
    process.stdout.write(usage);
  } else {
    run(options).catch((cause: unknown) => {
      fail(1, `${wordsOf(cause)}\n`);
    });
  }
}

main(process.argv.slice(2));
