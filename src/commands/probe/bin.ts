#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { ConfigurationError, PaymentsClient, type RequestEvent } from '../../index.ts';
import { redactDeep, redactor } from '../../errors/redact.ts';
import { version } from '../../version.ts';
import { confirm, fingerprint, print, runProgram, UsageError } from '../program.ts';
import { readCommand, usage, type Command } from './flags.ts';
import type { PaymentOrder } from './payment.ts';
import { compareReports, formatChanges, formatReport } from './report.ts';
import { runProbe, type Report } from './run.ts';
import { readTls } from './tls.ts';

const clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  wait: async (ms: number) => {
    await wait(ms);
  },
};

async function main(args: string[]): Promise<number> {
  const command = readCommand(args);
  if (command.name === 'probe') return probe(command);
  print(command.name === 'help' ? usage : `${version}\n`);
  return 0;
}

/**
 * Runs the probe and prints its report, or the changes since the report that `--compare` names.
 * Resolves to the exit status, 3 if the platform contradicts an assumption of the client.
 */
async function probe(command: Extract<Command, { name: 'probe' }>): Promise<number> {
  const { order, yes, compare, json } = command;
  if (order !== undefined && !yes && !process.stdin.isTTY) {
    throw new UsageError(
      '--pay asks for confirmation on a terminal. Without a terminal, pass --yes.',
    );
  }
  const earlier = compare === undefined ? undefined : readReport(compare);
  const payments = createClient();
  if (order !== undefined && !yes) await confirmOrder(payments, order);
  const hasJwt = readVariable('PAYMENTS_JWT') !== '';
  // Removes credentials from the report, because a platform may send one back in any field.
  const redact = redactor(credentials().filter((credential) => credential !== ''));
  const options = { payments, clock, readTls, hasJwt, order, onPaying: nameTransferAtExit };
  const probed = redactDeep(await runProbe(options).finally(clearProgress), redact);
  const { report } = probed;
  const changes = earlier === undefined ? undefined : compareReports(earlier, report);
  if (json) print(`${JSON.stringify({ ...report, changes }, null, 2)}\n`);
  else if (changes !== undefined && earlier !== undefined) {
    print(formatChanges(changes, earlier.startedAt));
  } else {
    print(formatReport(probed, process.stdout.isTTY && !process.env['NO_COLOR']));
  }
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
    return new PaymentsClient({ validation: 'report', maxRetries: 0, hooks });
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

const readVariable = (name: string): string => process.env[name]?.trim() ?? '';
const credentials = (): string[] => ['PAYMENTS_API_KEY', 'PAYMENTS_JWT'].map(readVariable);

function readReport(file: string): Report {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    if (!Array.isArray(report.rows)) throw new Error('It has no rows.');
    return report;
  } catch (cause) {
    const why = (cause as Error).message;
    throw new UsageError(`--compare takes a report of --json, and ${file} is none: ${why}`, {
      cause,
    });
  }
}

await runProgram('payments-probe', main);
