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
import type { Command, StoreAddress, StoreCommand } from './flags.ts';
import { readEntry, readOpen } from './open.ts';
import { formatSums, rowsOf, type OpenRow } from './report.ts';
import {
  describeDecisions,
  describeWait,
  formatCommand,
  isOtherPayment,
  timeLeftOf,
} from './words.ts';

/** How long a payment in doubt is tried again. Short, because an operator can run the command again. */
const retryTimeoutMs = 10_000;

/** What a search says about one open payment, and what the operator does next. */
interface Result {
  readonly text: string;
  readonly next: 'nothing' | 'wait' | 'pay' | 'look';
  /** Ids of the transfers that may be an ambiguous payment. */
  readonly candidates?: readonly string[];
}

/**
 * Searches the platform's list for open payments, and records those that it shows, but sends
 * nothing. Resolves to the exit status, which is 3 if somebody has to do something.
 */
export async function finish(journal: FullJournal, command: StoreCommand): Promise<number> {
  const { by = 'payments-journal finish', transfersFilter, store, references } = command;
  const payments = await requireClient('finish', journal, transfersFilter);
  const open = await readOpen(journal);
  const rows = await selectRows(payments, journal, rowsOf(open), references);
  const { results, searched } = await sortOut(payments, rows);
  let failure: Error | undefined;
  try {
    const inputs = [...searched.values()].map(({ input }) => input);
    for await (const row of payments.transfers.reconcileAll(inputs)) {
      const entry = searched.get(row.reference ?? '');
      if (row.result === 'unexpected' || entry === undefined) continue;
      results.set(row.reference, await record(payments, row, entry, { by, now: open.now }));
    }
  } catch (error) {
    failure = error as Error;
  }
  const left = [...results].filter(([, { next }]) => next !== 'nothing');
  if (rows.length > 0) {
    const table = [...results].map(([reference, { text }]) => [reference, text].map(clean));
    print(`${formatColumns([['REFERENCE', 'RESULT'], ...table]).join('\n')}\n\n`);
    print(`${rows.length - left.length} of ${rows.length} open payments are finished. `);
  }
  print('Nothing was sent.\n');
  if (failure !== undefined) throw failure;
  print(nextAfterFinish(left, references, store));
  return left.length > 0 ? 3 : 0;
}

/** Returns the payments that the client can search for, and a result for each of the others. */
async function sortOut(payments: Client, rows: readonly OpenRow[]) {
  const { baseUrl } = payments.toJSON();
  const results = new Map<string, Result>();
  const searched = new Map<string, OpenEntry>();
  /** For each account, why its list proves nothing. A key of another tenant sees an empty list. */
  const problems = new Map<string, string>();
  for (const { reference, entry } of rows) {
    let text = 'not searched: its account could not be read';
    if (entry === undefined) text = 'unreadable: restore its entry from a backup';
    else if (entry.platform !== baseUrl) text = `not searched: it belongs to ${entry.platform}`;
    else {
      const { sourceAccountId } = entry.input;
      const known = problems.get(sourceAccountId);
      const problem = known ?? (await findAccountProblem(payments, sourceAccountId));
      problems.set(sourceAccountId, problem);
      if (problem === '') searched.set(reference, entry);
      else text = `not searched: ${problem}`;
    }
    results.set(reference, { text, next: 'look' });
  }
  return { results, searched };
}

async function findAccountProblem({ accounts }: Client, id: string): Promise<string> {
  try {
    await accounts.get(id);
    return '';
  } catch (error) {
    return firstLine(error);
  }
}

/** Records the transfer that the list shows for a payment. Otherwise says what is known about the payment. */
async function record(
  { transfers }: Client,
  { reference, result, transfer, candidates = [] }: ReconciledPayment,
  entry: OpenEntry,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<Result> {
  if (transfer !== undefined) {
    const { id, status } = transfer;
    try {
      await transfers.decide(reference, id, { by });
    } catch (error) {
      return { text: `found ${id}, but not recorded: ${firstLine(error)}`, next: 'look' };
    }
    return result === 'failed'
      ? { text: `${id} has ${status}: pay under a new reference`, next: 'look' }
      : { text: `paid by ${id} (${status})`, next: 'nothing' };
  }
  if (result === 'ambiguous' || entry.state === 'ambiguous') {
    const known = entry.state === 'ambiguous' ? entry.candidates : [];
    const ids = candidates.length > 0 ? candidates.map(({ id }) => id) : known;
    const text = `ambiguous: ${ids.join(', ')} may be it, and you decide`;
    // `show` prints the candidates that the entry names.
    return { text, next: 'look', ...(entry.state === 'sending' && { candidates: ids }) };
  }
  const { toTakeEffect } = timeLeftOf(entry, now);
  if (toTakeEffect <= 0) {
    return { text: 'not in the list, and no request can pay it now', next: 'pay' };
  }
  const next = Number.isFinite(toTakeEffect) ? 'wait' : 'look';
  return { text: `not in the list. ${describeWait(entry, now)}`, next };
}

/** Names the next command for payments that are not finished. */
function nextAfterFinish(
  left: readonly (readonly [string, Result])[],
  references: readonly string[],
  store: StoreAddress,
): string {
  const first = (kind: Result['next']) => left.find(([, { next }]) => next === kind);
  const [unclear, { candidates } = {}] = first('look') ?? [];
  if (unclear !== undefined) {
    return candidates === undefined
      ? `Next, look at each that is unclear:\n  ${formatCommand('show', [unclear], store)}\n`
      : `Next, compare them, and decide ${unclear}. ${describeDecisions(unclear, { candidates }, store)}`;
  }
  const again = formatCommand('finish', references, store);
  if (first('wait')) return `Next, when that time is over, search again:\n  ${again}\n`;
  const [unpaid] = first('pay') ?? [];
  if (unpaid === undefined) return '';
  const close = formatCommand('decide', [unpaid, 'not_paid'], store);
  return `The service's next job searches once more, and pays. To close one for which no job will come:\n  ${close}\nTo pay now, with the client of your service:\n  ${again} --client <file>\n`;
}

/** Returns the open payments that the operator named, or all. Prints what is known about decided payments. */
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
    else print(`${clean(reference)} ${await describeDecided(payments, journal, reference)}.\n`);
  }
  return selected;
}

async function describeDecided(payments: Client, journal: FullJournal, reference: string) {
  const entry = await readEntry(journal, reference);
  if (entry.state !== 'paid') return 'is recorded as not paid: only a next job pays it';
  const recorded = `is recorded as paid by ${entry.transferId}`;
  if (entry.platform !== payments.toJSON().baseUrl) {
    return `${recorded} of ${entry.platform}, which your client does not ask`;
  }
  const candidate = await readCandidate(payments, entry.transferId);
  if (isOtherPayment(candidate, entry)) return `${recorded}, which is another payment now`;
  if (candidate.isMissing === true) return `${recorded}, which the platform does not have`;
  return `${recorded}, ${clean(candidate.transfer?.status ?? candidate.problem ?? '')}`;
}

/**
 * Finishes open payments through the service's own client: searches, and sends what was not made.
 * Resolves to the exit status, which is 3 if a payment is not paid.
 */
export async function finishByClient(
  { client: file = '', references, yes }: Command,
  journal: FullJournal | undefined,
): Promise<number> {
  const { transfers } = await importClient(file);
  const keys = new Set(references.map(journalKey));
  const inputs = [];
  let unreadable = 0;
  const found = new Set<string>();
  for await (const { reference, input } of transfers.listUndecided()) {
    found.add(journalKey(reference));
    if (keys.size > 0 && !keys.has(journalKey(reference))) continue;
    if (input !== undefined) inputs.push(input);
    else {
      unreadable += 1;
      print(`${clean(reference)} is unreadable, and was left out.\n`);
    }
  }
  // A client with another store would pay what the store of the command has open.
  const inStore = journal === undefined ? [] : (await readOpen(journal)).entries.keys();
  const missing = [...keys, ...inStore].filter((key) => !found.has(key));
  if (missing.length > 0) {
    throw new Error(
      `The journal of ${file} has no open payment ${missing.slice(0, 3).join(', ')}. Nothing was sent.`,
    );
  }
  if (inputs.length === 0) {
    print(unreadable > 0 ? 'Nothing was sent.\n' : 'No payment is open.\n');
    return unreadable > 0 ? 3 : 0;
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
  return paid === inputs.length + unreadable ? 0 : 3;
}

/** Says why a payment is not paid. The cause of a PaymentInDoubtError says more than its own message. */
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
