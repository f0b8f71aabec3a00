#!/usr/bin/env node
import { setTimeout as wait } from 'node:timers/promises';
import { ConfigurationError, PaymentsClient } from '../../index.ts';
import { redactDeep, redactor } from '../../errors/redact.ts';
import { version } from '../../version.ts';
import {
  checkTerminal,
  confirm,
  fingerprint,
  print,
  readVariable,
  runProgram,
  UsageError,
} from '../program.ts';
import { readCommand, usage, type Command } from './flags.ts';
import type { PaymentOrder } from './payment.ts';
import { formatReport } from './report.ts';
import { runProbe } from './run.ts';
import type { RequestEvent } from '../../calls/hooks.ts';

const clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  wait: (ms: number) => wait(ms),
};

async function main(args: string[]): Promise<number> {
  const command = readCommand(args);
  if (command.name === 'probe') return probe(command);
  print(command.name === 'help' ? usage : `${version}\n`);
  return 0;
}

/**
 * Runs the probe and prints its report. Resolves to the exit status, 3 if the platform contradicts
 * an assumption of the client.
 */
async function probe(command: Extract<Command, { name: 'probe' }>): Promise<number> {
  const { order, yes, json } = command;
  const isAsked = order !== undefined && !yes;
  if (isAsked) checkTerminal('--pay');
  const payments = createClient();
  if (isAsked) await confirmOrder(payments, order);
  // Removes the key from the report, because a platform may send the key back in any field.
  const redact = redactor([readVariable('PAYMENTS_API_KEY')]);
  const options = { payments, clock, order, onPaying: nameTransferAtExit };
  const probed = redactDeep(await runProbe(options).finally(clearProgress), redact);
  const { report } = probed;
  print(
    json
      ? `${JSON.stringify(report, null, 2)}\n`
      : formatReport(probed, process.stdout.isTTY && !process.env['NO_COLOR']),
  );
  hasReported = true;
  return report.rows.some(({ result }) => result === 'contradicted') ? 3 : 0;
}

let hasReported = false;

/** If the probe ends before its report, prints how to find the transfer that it may have made. */
function nameTransferAtExit(search: string): void {
  process.once('exit', () => {
    if (!hasReported) process.stderr.write(`A transfer may have been made. ${search}\n`);
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
}

function createClient(): PaymentsClient {
  try {
    // The client makes no retries, because the probe paces and repeats its requests itself.
    const hooks = process.stderr.isTTY ? { onRequest: showProgress } : {};
    return new PaymentsClient({ jwt: null, maxRetries: 0, hooks });
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw new UsageError(cause.message, { cause });
    throw cause;
  }
}

let requests = 0;

/** Shows the number of requests on one line, because the probe takes a minute or longer. */
function showProgress({ method, path }: RequestEvent): void {
  requests += 1;
  process.stderr.write(`\r\u001B[K${requests} requests, now ${method} ${path}`);
}

function clearProgress(): void {
  if (requests > 0) process.stderr.write('\r\u001B[K');
}

async function confirmOrder(payments: PaymentsClient, order: PaymentOrder): Promise<void> {
  const { amount, from, to, twice } = order;
  const key = fingerprint(readVariable('PAYMENTS_API_KEY'));
  const second = twice ? ', and up to two more transfers to try Idempotency-Key' : '';
  const question = `Pay ${amount} from ${from} to ${to} on ${payments.toJSON().baseUrl} (key ${key})${second}? [y/N] `;
  if (!(await confirm(question, process.stderr))) throw new Error('Nothing was paid.');
}

await runProgram('payments-probe', main);
