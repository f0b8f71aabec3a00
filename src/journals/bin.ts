#!/usr/bin/env node
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { isObject } from '../internal/guards.ts';
import { version } from '../version.ts';
import { formatComparison, type Candidate } from './command/comparison.ts';
import {
  formatStoreFlags,
  quote,
  readCommand,
  usage,
  UsageError,
  type Command,
  type StoreAddress,
} from './command/flags.ts';
import { describeEntry, formatEntry, formatLine, formatTable } from './command/report.ts';
import { openStore, redactAddress, type OpenedStore } from './command/store.ts';
import { isOpen, type FullJournal, type JournalEntry } from './journal.ts';

type StoreCommand = Extract<Command, { store: unknown }>;
type Client = InstanceType<Awaited<ReturnType<typeof loadClient>>['PaymentsClient']>;

/** The client; the build leaves it in its own file. */
const loadClient = () => import('../index.ts');

async function list(
  { journal, isEmpty, rebuild }: OpenedStore,
  { olderThan, json, isRebuilt }: Extract<Command, { name: 'list' }>,
): Promise<number> {
  if (isRebuilt) await rebuild?.();
  const { PaymentsClient } = await loadClient();
  // A list sends nothing to the platform.
  const noPlatform = { baseUrl: 'https://localhost/v0', apiKey: 'sk_none', jwt: null };
  const payments = new PaymentsClient({ ...noPlatform, journal });
  const open = [];
  for await (const payment of payments.transfers.openOnce({ olderThan })) open.push(payment);
  const [oldest] = open;
  if (json) print(`${JSON.stringify(open, null, 2)}\n`);
  else if (oldest === undefined) print('No payment is open.\n');
  else print(formatTable(open, await journal.now(oldest.reference)));
  if (oldest === undefined && (await isEmpty())) {
    process.stderr.write('The store holds no entry at all. Check its address.\n');
  }
  return open.length > 0 ? 3 : 0;
}

async function show(
  { journal }: OpenedStore,
  command: Extract<Command, { name: 'show' }>,
): Promise<number> {
  const { reference, json } = command;
  const entry = await readEntry(journal, reference);
  if (json) print(`${JSON.stringify(describeEntry(reference, entry), null, 2)}\n`);
  else print(await describePayment(command, entry, journal, await findClient(journal)));
  return 0;
}

/** The client of the environment, or the error of its options. */
async function findClient(journal: FullJournal): Promise<Client | Error> {
  const { ConfigurationError, PaymentsClient } = await loadClient();
  try {
    return new PaymentsClient({ journal });
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

/** What an operator needs to decide: the entry, and its terms beside those of each transfer that may be it. */
async function describePayment(
  { reference, store }: Extract<Command, { name: 'show' | 'resolve' }>,
  entry: JournalEntry,
  journal: FullJournal,
  client: Client | Error,
  chosen: readonly string[] = [],
): Promise<string> {
  const listed = entry.state === 'ambiguous' ? entry.candidates : [];
  const paid = entry.state === 'paid' ? [entry.transferId] : [];
  const ids = [...new Set<string>([...listed, ...paid, ...chosen])];
  const candidates = client instanceof Error ? [] : await readCandidates(client, ids);
  const lines = [
    formatEntry(reference, entry, await journal.now(reference)),
    client instanceof Error ? '' : formatLine('client', describeClient(client)),
    '\n',
    formatComparison(entry.input, candidates),
  ];
  if (client instanceof Error && ids.length > 0) {
    lines.push(
      '\nPAYMENTS_BASE_URL and PAYMENTS_API_KEY are needed to show the transfers beside the payment.\n',
    );
  }
  if (isOpen(entry)) lines.push(describeDecisions(reference, store, ids));
  return lines.join('');
}

const readCandidates = (client: Client, ids: readonly string[]): Promise<Candidate[]> =>
  Promise.all(
    ids.map(async (id): Promise<Candidate> => {
      try {
        const { transferId } = await loadClient();
        return { id, transfer: await client.transfers.get(transferId(id)) };
      } catch (error) {
        const [problem = ''] = messageOf(error).split('\n');
        return { id, problem };
      }
    }),
  );

/** Which platform the transfers come from, and by which key: its fingerprint shows nothing of it. */
function describeClient(client: Client): string {
  const key = process.env['PAYMENTS_API_KEY'] ?? '';
  const fingerprint = createHash('sha256').update(key.trim()).digest('hex').slice(0, 12);
  return `${client.toJSON().baseUrl}, key sha256:${fingerprint}`;
}

/** The commands that decide a payment. */
function describeDecisions(reference: string, store: StoreAddress, ids: readonly string[]): string {
  const command = (verdict: string): string =>
    `  npx payments-journal resolve ${quote(reference)} ${verdict} ${formatStoreFlags(store)}\n`;
  return `
If a transfer is the payment, record its id:
${command(ids[0] ?? 'txfr_…')}If none is, record that, and the next createOnce sends the payment:
${command('not_paid')}`;
}

async function resolve(
  { journal }: OpenedStore,
  command: Extract<Command, { name: 'resolve' }>,
): Promise<number> {
  const { reference, verdict, by, force, yes } = command;
  if (!yes && !process.stdin.isTTY) {
    throw new UsageError('resolve asks on a terminal; without one, it needs --yes.');
  }
  const { transferId } = await loadClient();
  const payments = await findClient(journal);
  if (payments instanceof Error) throw new UsageError(payments.message, { cause: payments });
  const entry = await readEntry(journal, reference);
  const decision =
    verdict === 'not_paid' ? 'not paid; the next createOnce sends it' : `paid by ${verdict}`;
  if (!yes) {
    const chosen = verdict === 'not_paid' ? [] : [verdict];
    print(await describePayment(command, entry, journal, payments, chosen));
    if (!(await confirm(`\nRecord ${reference} as ${decision}? [y/N] `))) {
      throw new Error('Nothing was recorded.');
    }
  }
  const id = verdict === 'not_paid' ? verdict : transferId(verdict);
  await payments.transfers.resolveOnce(reference, id, { by, force });
  print(`${reference} is recorded as ${decision}.\n`);
  return 0;
}

async function prune(
  { journal }: OpenedStore,
  { paidBefore, json }: Extract<Command, { name: 'prune' }>,
): Promise<number> {
  const pruned = await journal.prune({ paidBefore });
  if (json) print(`${JSON.stringify({ pruned })}\n`);
  else print(`${pruned} paid ${pruned === 1 ? 'entry was' : 'entries were'} removed.\n`);
  return 0;
}

function runOnStore(store: OpenedStore, command: StoreCommand): Promise<number> {
  switch (command.name) {
    case 'list':
      return list(store, command);
    case 'show':
      return show(store, command);
    case 'resolve':
      return resolve(store, command);
    case 'prune':
      return prune(store, command);
  }
}

async function readEntry(journal: FullJournal, reference: string): Promise<JournalEntry> {
  const entry = await journal.read(reference);
  if (isObject(entry) && isObject(entry.input)) return entry;
  if (entry !== undefined) {
    throw new Error(
      `The entry of "${reference}" cannot be read: another program has written or changed it. docs/on-call.md says what to do.`,
    );
  }
  throw new Error(
    `The journal has no entry for "${reference}". Check its spelling and the journal.`,
  );
}

/** Whether the operator agrees; the end of the input is a no. */
async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const ended = new Promise<string>((end) => terminal.once('close', () => end('')));
  try {
    return /^y(es)?$/i.test((await Promise.race([terminal.question(question), ended])).trim());
  } finally {
    terminal.close();
  }
}

function print(text: string): void {
  process.stdout.write(text);
}

async function main(args: string[]): Promise<number> {
  const command = readCommand(args);
  if (command.name === 'help') print(usage);
  else if (command.name === 'version') print(`${version}\n`);
  else {
    try {
      const store = await openStore(command.store);
      try {
        return await runOnStore(store, command);
      } finally {
        await store.close();
      }
    } catch (cause) {
      throw withoutPasswords(cause, command.store.address);
    }
  }
  return 0;
}

/** The message of a failure with that of its cause, as an error of the same status. */
function withoutPasswords(failure: unknown, address: string): Error {
  const { cause } = failure as Error;
  const causeLine = cause instanceof Error ? `\nThe cause: ${messageOf(cause)}` : '';
  const text = redactAddress(`${messageOf(failure)}${causeLine}`, address);
  return failure instanceof UsageError ? new UsageError(text) : new Error(text);
}

/** A failure to connect to several addresses has no message, but the failures of each. */
function messageOf(failure: unknown): string {
  if (failure instanceof AggregateError) return failure.errors.map(messageOf).join('; ');
  return failure instanceof Error ? failure.message : String(failure);
}

// The reader of the lines may end first: `| head`.
process.stdout.on('error', () => {});
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (cause) {
  const isUsage = cause instanceof UsageError;
  const hint = isUsage ? 'payments-journal --help lists the commands and options.\n' : '';
  process.stderr.write(`${(cause as Error).message}\n${hint}`);
  process.exitCode = isUsage ? 2 : 1;
}
