#!/usr/bin/env node
import { journalKey } from '../../internal/formats.ts';
import { fieldOf, isError } from '../../internal/thrown.ts';
import { version } from '../../version.ts';
import { checkTerminal, confirm, print, runProgram, UsageError } from '../program.ts';
import { check } from './check.ts';
import {
  createClient,
  describeClient,
  explain,
  readCandidate,
  requireClient,
  type Client,
} from './client.ts';
import { finish, finishByClient } from './finish.ts';
import { readCommand, usage, type Command, type StoreAddress } from './flags.ts';
import { findEntry, readEntry, readOpen } from './open.ts';
import {
  countOpen,
  describeEntry,
  formatEntry,
  formatMetrics,
  formatStats,
  formatTable,
} from './report.ts';
import { formatReport } from './migrate.ts';
import { redactAddress } from './connect.ts';
import { migrateStore, openStore, type OpenedStore } from './store.ts';
import { formatTerms } from './terms.ts';
import { formatCommand, nextOfPayment } from './words.ts';
import type { FullJournal, JournalEntry } from '../../journals/journal.ts';

/** Prints the open payments. Resolves to the exit status, which is 3 if there are any. */
async function list(
  { journal, isEmpty }: OpenedStore,
  { olderThan, json, store }: Extract<Command, { name: 'list' }>,
): Promise<number> {
  const open = await readOpen(journal, olderThan);
  const count = open.listed.length;
  if (count === 0 && (await isEmpty())) {
    process.stderr.write(
      'The store has no entry at all. Check that your journal uses this store, and check --table or --prefix.\n',
    );
  }
  if (json) print(`${JSON.stringify(open.listed, null, 2)}\n`);
  else if (count > 0) print(formatTable(open, store));
  else {
    const next = formatCommand('check', [], store);
    print(`No payment is open. If money is missing all the same:\n  ${next}\n`);
  }
  return count > 0 ? 3 : 0;
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
  const payments = await requireClient('decide', journal, transfersFilter);
  // A payment that was made by hand may have no entry yet.
  const isPaid = verdict !== 'not_paid';
  const entry = await (isPaid ? findEntry(journal, reference) : readEntry(journal, reference));
  const { baseUrl } = payments.toJSON();
  // Another platform may have accounts of the same ids, whose lists prove nothing about the payment.
  if (entry && entry.platform !== baseUrl && entry.platform !== command.platform) {
    throw new Error(
      `${reference} belongs to ${entry.platform}, and PAYMENTS_BASE_URL is ${baseUrl}. Set it, or if only the address has changed, pass --platform ${entry.platform}.`,
    );
  }
  const dismissal = force ? ', although the list may show it' : '';
  const decision = isPaid ? `paid by ${verdict}` : `not paid${dismissal}; only a next job pays it`;
  if (!yes) {
    const chosenIds = isPaid ? [verdict] : [];
    const place = { reference, store };
    const shown = entry && (await describeDecision(journal, place, entry, payments, chosenIds));
    print(shown ?? `The journal has no entry for "${reference}".\n`);
    if (!(await confirm(`\nRecord ${reference} as ${decision}? [y/N] `))) {
      throw new Error('You did not confirm.');
    }
  }
  await payments.transfers.decide(reference, verdict, { by, force });
  print(`${reference} is recorded as ${decision}.\n`);
  return 0;
}

async function stats(
  journal: FullJournal,
  { json, prometheus }: Extract<Command, { name: 'stats' }>,
): Promise<number> {
  const counts = countOpen(await readOpen(journal));
  if (json) print(`${JSON.stringify(counts, null, 2)}\n`);
  else print((prometheus ? formatMetrics : formatStats)(counts));
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
  { paidBefore, keepReferences, json }: Extract<Command, { name: 'prune' }>,
): Promise<number> {
  const pruned = await journal.prune({ paidBefore, keepReferences });
  if (json) print(`${JSON.stringify({ pruned })}\n`);
  else {
    const what = keepReferences ? 'stripped of all but reference and id' : 'removed';
    print(`${pruned} paid ${pruned === 1 ? 'entry was' : 'entries were'} ${what}.\n`);
  }
  return 0;
}

/** Runs a command that needs the journal of an opened store. */
function runOnStore(store: OpenedStore, command: OnStore): Promise<number> {
  const { journal } = store;
  switch (command.name) {
    case 'list':
      return list(store, command);
    case 'show':
      return show(journal, command);
    case 'finish':
      return command.client === undefined
        ? finish(journal, command)
        : finishByClient(command, journal);
    case 'decide':
      return decide(journal, command);
    case 'stats':
      return stats(journal, command);
    case 'prune':
      return prune(journal, command);
  }
}

type WithStore = Extract<Command, { store?: StoreAddress | undefined }> & { store: StoreAddress };
type OnStore = Exclude<WithStore, { name: 'migrate' | 'check' }>;

/**
 * What an operator needs to decide about a payment: its entry, the client, possible transfers, and
 * the command that comes next.
 */
async function describeDecision(
  journal: FullJournal,
  { reference, store }: { reference: string; store: StoreAddress },
  entry: JournalEntry,
  payments: Client | Error,
  chosenIds: readonly string[] = [],
): Promise<string> {
  const recorded = entry.state === 'paid' ? [entry.transferId] : [];
  const listed = entry.state === 'ambiguous' ? entry.candidates : recorded;
  const ids = [...new Set([...listed, ...chosenIds])];
  const baseUrl = isError(payments) ? undefined : payments.toJSON().baseUrl;
  // Another platform may have other transfers of the same ids.
  const transfers =
    isError(payments) || baseUrl !== entry.platform
      ? []
      : await Promise.all(ids.map((id) => readCandidate(payments, id)));
  const now = await journal.now(journalKey(reference));
  const fields = formatEntry(reference, entry, now, describeClient(payments));
  const terms = transfers.length > 0 ? `${formatTerms(entry.input, transfers)}\n` : '';
  return fields + terms + nextOfPayment(entry, { now, store, transfers, baseUrl });
}

async function run(command: Command): Promise<number> {
  if (command.name === 'help') print(usage);
  else if (command.name === 'version') print(`${version}\n`);
  else if (command.name === 'migrate') return migrate(command);
  else if (command.name === 'check') return check(command.store);
  else if (command.store === undefined) return finishByClient(command, undefined);
  else {
    const store = await openStore(command.store);
    if (store.warning !== undefined) process.stderr.write(`${store.warning}\n`);
    try {
      return await runOnStore(store, command);
    } finally {
      await store.close();
    }
  }
  return 0;
}

async function main(args: string[]): Promise<number> {
  const command = readCommand(args);
  try {
    return await run(command);
  } catch (cause) {
    throw inOperatorsWords(cause, command);
  } finally {
    // The service's client may hold connections, which keep this process alive.
    if (command.name === 'finish' && command.client !== undefined)
      setImmediate(() => process.exit());
  }
}

/** An error in an operator's words, but without the store's passwords. */
function inOperatorsWords(failure: unknown, command: Command): Error {
  const { address = '' } = ('store' in command && command.store) || {};
  const text = redactAddress(explain(failure), address);
  if (failure instanceof UsageError) return new UsageError(text);
  if (command.name !== 'decide') return new Error(text);
  const next = formatCommand('show', [command.reference], command.store);
  // If the journal has failed, its last change may have arrived.
  const end = fieldOf(failure, 'reason') === 'journal' ? '' : 'Nothing was recorded. ';
  return new Error(`${text}\n${end}To see what is known:\n  ${next}`);
}

// On Node 22 each command would begin with a warning about node:sqlite, which is fit for its use.
process.removeAllListeners('warning').on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') process.stderr.write(`${name}: ${message}\n`);
});

await runProgram('payments-journal', main);
