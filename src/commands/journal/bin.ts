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
import { readCommand, usage, type Command, type StoreCommand } from './flags.ts';
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
  { olderThan, json, store }: StoreCommand,
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

async function show(journal: FullJournal, command: StoreCommand): Promise<number> {
  const { reference, json } = command;
  const entry = await readEntry(journal, reference);
  if (json) print(`${JSON.stringify(describeEntry(reference, entry), null, 2)}\n`);
  else {
    const payments = await createClient(journal);
    print(await describeDecision(journal, command, entry, payments));
  }
  return 0;
}

/**
 * Records the operator's decision: the id of the transfer that is the payment, or `not_paid`.
 * Without `yes`, first shows what is known and asks; resolves to the exit status.
 */
async function decide(journal: FullJournal, command: StoreCommand): Promise<number> {
  const { reference, verdict, by, force, yes, transfersFilter } = command;
  if (!yes) checkTerminal('decide');
  const payments = await requireClient('decide', journal, transfersFilter);
  // A payment that was made by hand may have no entry yet.
  const isPaid = verdict !== 'not_paid';
  const entry = await (isPaid ? findEntry(journal, reference) : readEntry(journal, reference));
  const { baseUrl } = payments.toJSON();
  // Another platform may have accounts with the same ids, but their lists prove nothing about the payment.
  if (entry && entry.platform !== baseUrl && entry.platform !== command.platform) {
    throw new Error(
      `${reference} belongs to ${entry.platform}, and PAYMENTS_BASE_URL is ${baseUrl}. Set it, or if only the address has changed, pass --platform ${entry.platform}.`,
    );
  }
  const dismissal = force ? ', although the list may show it' : '';
  const decision = isPaid ? `paid by ${verdict}` : `not paid${dismissal}; only a next job pays it`;
  if (!yes) {
    const chosenIds = isPaid ? [verdict] : [];
    const shown = entry && (await describeDecision(journal, command, entry, payments, chosenIds));
    print(shown ?? `The journal has no entry for "${reference}".\n`);
    if (!(await confirm(`\nRecord ${reference} as ${decision}? [y/N] `))) {
      throw new Error('You did not confirm.');
    }
  }
  await payments.transfers.decide(reference, verdict, { by, force });
  print(`${reference} is recorded as ${decision}.\n`);
  return 0;
}

async function stats(journal: FullJournal, { json, prometheus }: Command): Promise<number> {
  const counts = countOpen(await readOpen(journal));
  if (json) print(`${JSON.stringify(counts, null, 2)}\n`);
  else print((prometheus ? formatMetrics : formatStats)(counts));
  return 0;
}

/** Resolves to the exit status, which is 3 if an operator has to look at entries. */
async function migrate({ store, isDryRun }: StoreCommand): Promise<number> {
  const report = await migrateStore(store, isDryRun);
  print(formatReport(report, isDryRun));
  return report.collisions.length + report.shared.size > 0 ? 3 : 0;
}

async function prune(
  journal: FullJournal,
  { paidBefore, keepReferences, json }: Command,
): Promise<number> {
  const pruned = await journal.prune({ paidBefore, keepReferences });
  if (json) print(`${JSON.stringify({ pruned })}\n`);
  else {
    const what = keepReferences ? 'stripped of all but reference and id' : 'removed';
    print(`${pruned} paid ${pruned === 1 ? 'entry was' : 'entries were'} ${what}.\n`);
  }
  return 0;
}

/**
 * What an operator needs to decide about a payment: its entry, the client, possible transfers, and
 * the command that comes next.
 */
async function describeDecision(
  journal: FullJournal,
  { reference, store }: StoreCommand,
  entry: JournalEntry,
  payments: Client | Error,
  chosenIds: readonly string[] = [],
): Promise<string> {
  const recorded = entry.state === 'paid' ? [entry.transferId] : [];
  const listed = entry.state === 'ambiguous' ? entry.candidates : recorded;
  const ids = [...new Set([...listed, ...chosenIds])];
  const baseUrl = isError(payments) ? undefined : payments.toJSON().baseUrl;
  // Another platform may have other transfers with the same ids.
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
  const { name, store: address } = command;
  if (address === undefined) return finishByClient(command, undefined);
  const onStore = { ...command, store: address };
  if (name === 'migrate') return migrate(onStore);
  if (name === 'check') return check(address);
  const store = await openStore(address);
  const { journal, warning } = store;
  if (warning !== undefined) process.stderr.write(`${warning}\n`);
  const commands = {
    list: () => list(store, onStore),
    show: () => show(journal, onStore),
    finish: () =>
      command.client === undefined ? finish(journal, onStore) : finishByClient(command, journal),
    decide: () => decide(journal, onStore),
    stats: () => stats(journal, command),
    prune: () => prune(journal, command),
  };
  try {
    return await commands[name]();
  } finally {
    await store.close();
  }
}

async function main(args: string[]): Promise<number> {
  const command = readCommand(args);
  if (command.name === 'help' || command.name === 'version') {
    print(command.name === 'help' ? usage : `${version}\n`);
    return 0;
  }
  try {
    return await run(command);
  } catch (cause) {
    throw inOperatorsWords(cause, command);
  } finally {
    // Exits, because connections of the service's client may keep this process alive.
    if (command.client !== undefined) setImmediate(() => process.exit());
  }
}

/** An error in an operator's words, but without the store's passwords. */
function inOperatorsWords(failure: unknown, { name, reference, store }: Command): Error {
  const text = redactAddress(explain(failure), store?.address ?? '');
  if (failure instanceof UsageError) return new UsageError(text);
  if (name !== 'decide' || store === undefined) return new Error(text);
  const next = formatCommand('show', [reference], store);
  // If the journal has failed, its last change may have arrived.
  const end = fieldOf(failure, 'reason') === 'journal' ? '' : 'Nothing was recorded. ';
  return new Error(`${text}\n${end}To see what is known:\n  ${next}`);
}

// Node 22 prints a warning that node:sqlite is experimental, which would precede the output of each command.
process.removeAllListeners('warning').on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') process.stderr.write(`${name}: ${message}\n`);
});

await runProgram('payments-journal', main);
