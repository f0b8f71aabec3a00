#!/usr/bin/env node
import { print, runProgram } from '../commands/program.ts';
import { version } from '../version.ts';
import { readFlags, usage, type Flags } from './command/flags.ts';
import { readState, StateFile } from './command/state-file.ts';
import { formatBanner, writeLog } from './command/terminal.ts';
import { loadWebhookShape } from './command/webhook-module.ts';
import { seedDemo } from './control/demo.ts';
import { createFailureRules } from './faults/faults.ts';
import { Sandbox } from './sandbox.ts';
import { listen, type SandboxServer } from './server.ts';

/** Starts the server that the flags describe. SIGINT and SIGTERM stop the server. */
async function run(flags: Flags): Promise<void> {
  const { port, host, allowHosts, autoAdvance, latency, seed, state } = flags;
  const webhook = flags.webhook === undefined ? undefined : await loadWebhookShape(flags.webhook);
  const { webhookHosts } = flags;
  // Read the seed in a second sandbox, because its changes must not appear in the served sandbox.
  const seedSandbox = new Sandbox();
  if (seed === 'demo') seedDemo(seedSandbox);
  else if (seed !== undefined) readState(seedSandbox, seed);
  const seedState = seedSandbox.exportState();
  const failureRules =
    flags.failures > 0 ? createFailureRules(flags.failures, flags.failuresSeed) : [];
  const sandbox = new Sandbox({ autoAdvance, latency, webhook, webhookHosts });
  sandbox.setStart({ ...seedState, faults: [...seedState.faults, ...failureRules] });
  sandbox.restoreStart();
  const file = state === undefined ? undefined : new StateFile(sandbox, state);
  let server: SandboxServer;
  try {
    server = await listen(sandbox, { port, host, allowHosts });
  } catch (cause) {
    file?.close();
    throw cause;
  }
  // After `server.close`, nothing keeps the process running, so the process ends with status 0.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void server.close().then(() => file?.close()));
  }
  const storageNote =
    state === undefined ? 'Everything is kept in memory.' : `Everything is kept in ${state}.`;
  print(formatBanner(sandbox, server, storageNote));
  if (!flags.quiet) writeLog(sandbox, process.stdout);
}

async function main(args: string[]): Promise<number> {
  const flags = readFlags(args);
  if (flags.help) print(usage);
  else if (flags.version) print(`${version}\n`);
  else await run(flags);
  return 0;
}

await runProgram('payments-sandbox', main);
