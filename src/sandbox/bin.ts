#!/usr/bin/env node
import { version } from '../version.ts';
import { readFlags, usage, type Flags } from './command/flags.ts';
import { readState, StateFile } from './command/state-file.ts';
import { formatBanner, writeLog } from './command/terminal.ts';
import { seedDemo } from './control/demo.ts';
import { createFailureRules } from './faults/faults.ts';
import { getMessage } from './platform/sandbox-error.ts';
import { Sandbox } from './sandbox.ts';
import { listen } from './server.ts';

async function run(flags: Flags): Promise<void> {
  const { port, host, allowHosts, autoAdvance, latency, seed, state } = flags;
  const sandbox = new Sandbox({ autoAdvance, latency });
  const furnish = () => {
    if (seed === 'demo') seedDemo(sandbox);
    else if (seed !== undefined) readState(sandbox, seed);
  };
  if (state === undefined) furnish();
  const file = state === undefined ? undefined : new StateFile(sandbox, state, furnish);
  if (flags.failures > 0) {
    for (const rule of createFailureRules(flags.failures, flags.failuresSeed))
      sandbox.faults.add(rule);
  }
  const server = await listen(sandbox, { port, host, allowHosts }).catch((cause: unknown) => {
    file?.close();
    throw cause;
  });
  // With its server closed, nothing keeps the process alive, and it ends with status 0.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void server.close().then(() => file?.close()));
  }
  const kept =
    state === undefined ? 'Everything is kept in memory.' : `Everything is kept in ${state}.`;
  // Whoever reads the lines may leave before the sandbox does: `| head`.
  process.stdout.on('error', () => {});
  process.stdout.write(formatBanner(sandbox, server, kept));
  if (!flags.quiet) writeLog(sandbox, process.stdout);
}

function fail(status: number, message: string): void {
  process.stderr.write(message);
  process.exitCode = status;
}

function main(args: string[]): void {
  let flags: Flags;
  try {
    flags = readFlags(args);
  } catch (cause) {
    fail(2, `${getMessage(cause)}\n\n${usage}`);
    return;
  }
  if (flags.help) {
    process.stdout.write(usage);
  } else if (flags.version) {
    process.stdout.write(`${version}\n`);
  } else {
    run(flags).catch((cause: unknown) => {
      fail(1, `${getMessage(cause)}\n`);
    });
  }
}

main(process.argv.slice(2));
