#!/usr/bin/env node
import { journalKey } from '../../internal/formats.ts';
import { isObject } from '../../internal/objects.ts';
import { fieldOf, isError } from '../../internal/thrown.ts';
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
import { readCommand, usage, type Command, type StoreAddress } from './flags.ts';
import { describeEntry, formatEntry, formatTable } from './report.ts';
import { formatReport } from './migrate.ts';
import { migrateStore, openStore, redactAddress, type OpenedStore } from './store.ts';
import { formatCommands, formatTerms, type Candidate } from './terms.ts';
import type { PaymentsClient } from '../../client.ts';
import type { FullJournal, JournalEntry } from '../../journals/journal.ts';

type Client = InstanceType<typeof PaymentsClient>;

const candidateTimeoutMs = 10_000;

type StoreCommand = Exclude<Extract<Command, { store: unknown }>, { name: 'migrate' }>;

/** Loads the client, a separate file of the build, only when a command needs the client. */
const loadClient = () => import('../../index.ts');

/** Prints the open payments. Resolves to the exit status, which is 3 if there are any. */
async function list(
  { journal, isEmpty }: OpenedStore,
  { olderThan, json }: Extract<Command, { name: 'list' }>,
): Promise<number> {
  const { PaymentsClient } = await loadClient();
  // Listing the open payments needs no platform, because listUndecided reads only the journal.
  const noPlatform = { baseUrl: 'https://localhost/v0', apiKey: 'sk_none', jwt: null };
  const payments = new PaymentsClient({ ...noPlatform, journal });
  const open = [];
  for await (const payment of payments.transfers.listUndecided({ olderThan })) open.push(payment);
  const [oldest] = open;
  if (oldest === undefined && (await isEmpty())) {
    process.stderr.write(
      'The store has no entry at all. Check that your journal uses this store, and check --table or --prefix.\n',
    );
  }
  if (json) print(`${JSON.stringify(open, null, 2)}\n`);
  else if (oldest === undefined) print('No payment is open.\n');
  else print(formatTable(open, await journal.now(journalKey(oldest.reference))));
  return open.length > 0 ? 3 : 0;
}

async function show(
  journal: FullJournal,
  { reference, json, store }: Extract<Command, { name: 'show' }>,
): Promise<number> {
  const entry = await readEntry(journal, reference);
  if (json) print(`${JSON.stringify(describeEntry(reference, entry), null, 2)}\n`);
  else {
    const payments = await createClient(journal);
    print(await describeDecision(journal, { reference, store }, entry, payments));
  }
  return 0;
}

/**
 * Records the operator's decision, which is the id of the transfer that is the payment, or
 * `not_paid`. Without `yes`, first shows what the operator needs to decide, and asks. Resolves to
 * the exit status.
 */
async function decide(
  journal: FullJournal,
  command: Extract<Command, { name: 'decide' }>,
): Promise<number> {
  const { reference, verdict, by, force, yes, store, transfersFilter } = command;
  if (!yes) checkTerminal('decide');
  const payments = await createClient(journal, transfersFilter);
  if (isError(payments)) throw new UsageError(payments.message, { cause: payments });
  // A payment that was made by hand may have no entry yet.
  const isPaid = verdict !== 'not_paid';
  const entry = await (isPaid ? findEntry(journal, reference) : readEntry(journal, reference));
  const decision = isPaid ? `paid by ${verdict}` : 'not paid; its next job pays it';
  if (!yes) {
    const chosenIds = isPaid ? [verdict] : [];
    const place = { reference, store };
    const shown = entry && (await describeDecision(journal, place, entry, payments, chosenIds));
    print(shown ?? `The journal has no entry for "${reference}".\n`);
    if (!(await confirm(`\nRecord ${reference} as ${decision}? [y/N] `))) {
      throw new Error('Nothing was recorded.');
    }
  }
  await payments.transfers.decide(reference, verdict, { by, force });
  print(`${reference} is recorded as ${decision}.\n`);
  return 0;
}

/** Resolves to the exit status, which is 3 if an operator has to look at entries. */
async function migrate({
  store,
  isDryRun,
}: Extract<Command, { name: 'migrate' }>): Promise<number> {
  const report = await migrateStore(store, isDryRun);
  print(formatReport(report, isDryRun));
  return report.collisions.length + report.shared.size > 0 ? 3 : 0;
}

async function prune(
  journal: FullJournal,
  { paidBefore, json }: Extract<Command, { name: 'prune' }>,
): Promise<number> {
  const pruned = await journal.prune({ paidBefore });
  if (json) print(`${JSON.stringify({ pruned })}\n`);
  else print(`${pruned} paid ${pruned === 1 ? 'entry was' : 'entries were'} removed.\n`);
  return 0;
}

function runOnStore(store: OpenedStore, command: StoreCommand): Promise<number> {
  const { journal } = store;
  switch (command.name) {
    case 'list':
      return list(store, command);
    case 'show':
      return show(journal, command);
    case 'decide':
      return decide(journal, command);
    case 'prune':
      return prune(journal, command);
  }
}

/** Creates the client from environment variables, or returns an error that says what is missing. */
async function createClient(
  journal: FullJournal,
  transfersFilter?: string | false,
): Promise<Client | Error> {
  const { ConfigurationError, PaymentsClient } = await loadClient();
  try {
    return new PaymentsClient({ journal, platform: { transfersFilter } });
  } catch (cause) {
    if (cause instanceof ConfigurationError) return cause;
    throw cause;
  }
}

/**
 * What an operator needs to decide about a payment: its entry, the client, possible transfers, and
 * for an ambiguous payment the commands that decide.
 */
async function describeDecision(
  journal: FullJournal,
  { reference, store }: { reference: string; store: StoreAddress },
  entry: JournalEntry,
  payments: Client | Error,
  chosenIds: readonly string[] = [],
): Promise<string> {
  const listed = entry.state === 'ambiguous' ? entry.candidates : [];
  const ids = [...new Set([...listed, ...chosenIds])];
  const candidates = isError(payments)
    ? []
    : await Promise.all(ids.map((id) => readCandidate(payments, id)));
  const client = describeClient(payments);
  const fields = formatEntry(reference, entry, await journal.now(journalKey(reference)), client);
  const commands =
    entry.state === 'ambiguous' ? formatCommands(reference, entry.candidates, store) : '';
  return fields + formatTerms(entry.input, candidates) + commands;
}

function describeClient(payments: Client | Error): string {
  const variables = ['PAYMENTS_BASE_URL', 'PAYMENTS_API_KEY'];
  const missing = variables.filter((name) => readVariable(name) === '');
  if (isError(payments)) {
    const cause = missing.length > 0 ? `set ${missing.join(' and ')}` : payments.message;
    return `none, so no candidate was read: ${cause}`;
  }
  return `${payments.toJSON().baseUrl}, key ${fingerprint(readVariable('PAYMENTS_API_KEY'))}`;
}

async function readCandidate(payments: Client, id: string): Promise<Candidate> {
  try {
    const options = { totalTimeout: candidateTimeoutMs };
    return { id, transfer: await payments.transfers.get(id, options) };
  } catch (cause) {
    return { id, problem: messageOf(cause) };
  }
}

/** Reads an entry. Throws if the commands could not print its fields. */
async function findEntry(
  journal: FullJournal,
  reference: string,
): Promise<JournalEntry | undefined> {
  let entry: JournalEntry | undefined;
  try {
    entry = await journal.read(journalKey(reference));
    // A missing entry passes this check.
    const { input, state, candidates } = Object(entry ?? { input: {} }) as Record<string, unknown>;
    if (!isObject(input) || (state === 'ambiguous' && !Array.isArray(candidates))) {
      throw new Error('It is no entry of a journal.');
    }
  } catch (cause) {
    throw new Error(`The entry of "${reference}" cannot be read.`, { cause });
  }
  return entry;
}

async function readEntry(journal: FullJournal, reference: string): Promise<JournalEntry> {
  const entry = await findEntry(journal, reference);
  if (entry !== undefined) return entry;
  throw new Error(
    `The journal has no entry for "${reference}". Check its spelling and the journal.`,
  );
}

async function main(args: string[]): Promise<number> {
  const command = readCommand(args);
  if (command.name === 'help') print(usage);
  else if (command.name === 'version') print(`${version}\n`);
  else {
    try {
      if (command.name === 'migrate') return await migrate(command);
      const store = await openStore(command.store);
      if (store.warning !== undefined) process.stderr.write(`${store.warning}\n`);
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

/** An error with a failure's message and its cause's message, but without the store's passwords. */
function withoutPasswords(failure: unknown, address: string): Error {
  const { cause } = failure as Error;
  const causeLine = isError(cause) ? `\nThe cause: ${messageOf(cause)}` : '';
  const text = redactAddress(`${messageOf(failure)}${causeLine}`, address);
  return failure instanceof UsageError ? new UsageError(text) : new Error(text);
}

/** An error's message. If all addresses of a host fail, Node has messages only in inner errors. */
function messageOf(failure: unknown): string {
  const errors = fieldOf(failure, 'errors');
  if (Array.isArray(errors)) return errors.map(messageOf).join('; ');
  return isError(failure) ? failure.message : String(failure);
}

await runProgram('payments-journal', main);
