#!/usr/bin/env node
import { version } from '../version.ts';
import { readFlags, usage, type Flags } from './command/flags.ts';
import { readState, StateFile } from './command/state-file.ts';
import { formatBanner, writeLog } from './command/terminal.ts';
import { loadWebhookShape } from './command/webhook-module.ts';
import { seedDemo } from './control/demo.ts';
import { createFailureRules } from './faults/faults.ts';
import { getMessage } from './platform/sandbox-error.ts';
import { Sandbox } from './sandbox.ts';
import { listen } from './server.ts';

async function run(flags: Flags): Promise<void> {
  const { port, host, allowHosts, autoAdvance, latency, seed, state } = flags;
  const webhook = flags.webhook === undefined ? undefined : await loadWebhookShape(flags.webhook);
  const { webhookHosts } = flags;
  const sandbox = new Sandbox({ autoAdvance, latency, webhook, webhookHosts });
  const seedState = () => {
    if (seed === 'demo') seedDemo(sandbox);
    else if (seed !== undefined) readState(sandbox, seed);
  };
  if (state === undefined) seedState();
  const file = state === undefined ? undefined : new StateFile(sandbox, state, seedState);
  if (flags.failures > 0) {
    for (const failureRule of createFailureRules(flags.failures, flags.failuresSeed)) {
      sandbox.faults.add(failureRule);
    }
  }
  const server = await listen(sandbox, { port, host, allowHosts }).catch((cause: unknown) => {
    file?.close();
    throw cause;
  });
  // After its server is closed, nothing keeps the process alive, and it ends with status 0.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void server.close().then(() => file?.close()));
  }
  const storageNote =
    state === undefined ? 'Everything is kept in memory.' : `Everything is kept in ${state}.`;
  // The reader of the lines may end before the sandbox: `| head`.
  process.stdout.on('error', () => {});
  process.stdout.write(formatBanner(sandbox, server, storageNote));
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
