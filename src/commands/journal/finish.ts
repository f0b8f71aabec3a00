import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { journalKey } from '../../internal/formats.ts';
import type { PaymentInDoubtError, PaymentsError } from '../../errors/errors.ts';
import { isError } from '../../internal/thrown.ts';
import type { FullJournal, OpenEntry } from '../../journals/journal.ts';
import type { ReconciledPayment } from '../../books/rows.ts';
import { clean, formatColumns } from '../table.ts';
import { confirm, print, UsageError } from '../program.ts';
import { firstLine, readCandidate, requireClient, type Client } from './client.ts';
import type { Command, StoreAddress } from './flags.ts';
import { readEntry, readOpen } from './open.ts';
import { formatSums, rowsOf, type OpenRow } from './report.ts';
import { describeWait, formatCommand, timeLeftOf } from './words.ts';

/** How long a payment in doubt is tried again. An operator rather runs the command again. */
const retryTimeoutMs = 10_000;

type FinishCommand = Extract<Command, { name: 'finish' }>;

/** What a search says about one open payment, and what the operator does next. */
interface Result {
  readonly text: string;
  readonly next: 'nothing' | 'wait' | 'pay' | 'look';
}

/**
 * Searches the platform's list for open payments, and records those that it shows. Sends nothing.
 * Resolves to the exit status, which is 3 if a payment is still open.
 */
export async function finish(
  journal: FullJournal,
  command: FinishCommand & { readonly store: StoreAddress },
): Promise<number> {
  const { by = 'payments-journal finish', transfersFilter, store } = command;
  const payments = await requireClient('finish', journal, transfersFilter);
  const open = await readOpen(journal);
  const rows = await selectRows(payments, journal, rowsOf(open), command.references);
  const { baseUrl } = payments.toJSON();
  const results = new Map<string, Result>();
  const own = new Map<string, OpenEntry>();
  for (const { reference, entry } of rows) {
    if (entry?.platform === baseUrl) own.set(reference, entry);
    const text =
      entry === undefined
        ? 'unreadable: restore its entry from a backup'
        : `not searched: ${entry.platform === baseUrl ? 'its account cannot be read' : `it belongs to ${entry.platform}`}`;
    results.set(reference, { text, next: 'look' });
  }
  let failure: Error | undefined;
  try {
    const inputs = [...own.values()].map(({ input }) => input);
    for await (const row of payments.transfers.reconcileAll(inputs)) {
      const entry = own.get(row.reference ?? '');
      if (row.result === 'unexpected' || entry === undefined) continue;
      results.set(row.reference, await record(payments, row, entry, { by, now: open.now }));
    }
  } catch (error) {
    failure = error as Error;
  }
  const table = [...results].map(([reference, { text }]) => [reference, text].map(clean));
  if (table.length > 0)
    print(`${formatColumns([['REFERENCE', 'RESULT'], ...table]).join('\n')}\n\n`);
  const left = [...results].filter(([, { next }]) => next !== 'nothing');
  const recorded = rows.length - left.length;
  print(`${recorded} of ${rows.length} open payments recorded as paid. Nothing was sent.\n`);
  if (failure !== undefined) throw failure;
  print(describeNextOf(left, store));
  return left.length > 0 ? 3 : 0;
}

/** Records the transfer that the list shows for a payment, or says what is known without one. */
async function record(
  { transfers }: Client,
  { reference, result, transfer, candidates = [] }: ReconciledPayment,
  entry: OpenEntry,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<Result> {
  if (transfer !== undefined) {
    try {
      await transfers.decide(reference, transfer.id, { by });
      return { text: `paid by ${transfer.id} (${transfer.status})`, next: 'nothing' };
    } catch (error) {
      const text = `found ${transfer.id}, but not recorded: ${firstLine(error)}`;
      return { text, next: 'look' };
    }
  }
  if (result === 'ambiguous' || entry.state === 'ambiguous') {
    const known = entry.state === 'ambiguous' ? entry.candidates : [];
    const ids = candidates.length > 0 ? candidates.map(({ id }) => id) : known;
    return { text: `ambiguous: ${ids.join(', ')} may be it, and you decide`, next: 'look' };
  }
  const { toTakeEffect } = timeLeftOf(entry, now);
  if (toTakeEffect <= 0)
    return { text: 'not in the list, and no request can pay it now', next: 'pay' };
  const next = Number.isFinite(toTakeEffect) ? 'wait' : 'look';
  return { text: `not in the list. ${describeWait(entry, now)}`, next };
}

/** The one command that comes next for what is still open. */
function describeNextOf(left: readonly (readonly [string, Result])[], store: StoreAddress): string {
  const first = (kind: Result['next']) => left.find(([, { next }]) => next === kind);
  const [unclear] = first('look') ?? [];
  if (unclear !== undefined) {
    return `Next, look at each that is unclear:\n  ${formatCommand('show', [unclear], store)}\n`;
  }
  const again = formatCommand('finish', [], store);
  if (first('wait')) return `Next, when that time is over, search again:\n  ${again}\n`;
  if (left.length === 0) return '';
  const [unpaid = ''] = first('pay') ?? [];
  const close = formatCommand('decide', [unpaid, 'not_paid'], store);
  return `Their next job searches once more, and pays them. To close one for which no job will come:\n  ${close}\nTo pay now, with the client of your service:\n  ${again} --client <file>\n`;
}

/** The open payments that the operator named, or all. Says what is known about decided ones. */
async function selectRows(
  payments: Client,
  journal: FullJournal,
  rows: readonly OpenRow[],
  references: readonly string[],
): Promise<readonly OpenRow[]> {
  if (references.length === 0) return rows;
  const byKey = new Map(rows.map((row) => [journalKey(row.reference), row]));
  const selected: OpenRow[] = [];
  for (const reference of new Set(references.map(journalKey))) {
    const row = byKey.get(reference);
    if (row !== undefined) selected.push(row);
    else {
      print(`${clean(reference)} ${await describeDecided(payments, journal, reference)}.\n`);
    }
  }
  return selected;
}

async function describeDecided(payments: Client, journal: FullJournal, reference: string) {
  const entry = await readEntry(journal, reference);
  if (entry.state !== 'paid') return 'is recorded as not paid: only a next job pays it';
  const { transfer, problem = '', isMissing } = await readCandidate(payments, entry.transferId);
  const found = isMissing === true ? 'which the platform does not have' : clean(problem);
  return `is recorded as paid by ${entry.transferId}, ${transfer?.status ?? found}`;
}

/**
 * Finishes the open payments of a journal through the service's own client, which searches, and
 * sends what was not made. Resolves to the exit status, which is 3 if a payment is not paid.
 */
export async function finishByClient(
  { client: file = '', references, yes }: FinishCommand,
  journal: FullJournal | undefined,
): Promise<number> {
  const { transfers } = await importClient(file);
  const keys = new Set(references.map(journalKey));
  const inputs = [];
  const found = new Set<string>();
  for await (const { reference, input } of transfers.listUndecided()) {
    found.add(journalKey(reference));
    if (keys.size > 0 && !keys.has(journalKey(reference))) continue;
    if (input === undefined) print(`${clean(reference)} is unreadable, and was left out.\n`);
    else inputs.push(input);
  }
  // A client of another store would claim, and so pay, what the store of the command has open.
  const expected = journal === undefined ? keys : (await readOpen(journal)).entries.keys();
  const unknown = [...expected].filter((key) => !found.has(key));
  if (unknown.length > 0) {
    throw new Error(
      `The journal of ${file} has no open payment ${unknown.slice(0, 3).join(', ')}. Nothing was sent.`,
    );
  }
  if (inputs.length === 0) {
    print('No payment is open.\n');
    return 0;
  }
  const count = inputs.length === 1 ? '1 payment' : `${inputs.length} payments`;
  const question = `Finish ${count}, ${formatSums(inputs)}, and send what was not made? [y/N] `;
  if (process.stdin.isTTY && !yes && !(await confirm(question))) {
    throw new Error('Nothing was sent.');
  }
  const batch = transfers.createAllOnce(inputs, { retryTimeout: retryTimeoutMs });
  for await (const { reference, result, transferId, error } of batch) {
    const end = transferId ?? describeProblem(error);
    print(`${clean(reference ?? '')}  ${result}  ${clean(end)}\n`);
  }
  const { paid } = batch.counts;
  print(`\n${paid} of ${inputs.length} paid.\n`);
  return paid === inputs.length ? 0 : 3;
}

/** Why a payment of the batch is not paid: the cause of a doubt says more than the doubt. */
function describeProblem(error: PaymentsError): string {
  const { reason, cause } = error as Partial<PaymentInDoubtError>;
  if (reason === 'ambiguous') return 'an operator decides: payments-journal show';
  return firstLine(isError(cause) ? cause : error);
}

/** Loads the service's client from a module of the operator. */
async function importClient(file: string): Promise<Client> {
  const { default: client } = (await import(pathToFileURL(resolve(file)).href)) as {
    default?: Partial<Client>;
  };
  if (client?.transfers?.createAllOnce !== undefined) return client as Client;
  throw new UsageError(`${file} has no client as its default export: export default payments;`);
}
