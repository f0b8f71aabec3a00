import { argument, invalidArguments, readInput, validate } from '../calls/arguments.ts';
import {
  callOptionChecks,
  checkBy,
  checkOptions,
  defaultClockSkew,
  isBoolean,
  optionalCheck,
  parseSince,
  sinceCheck,
  type OptionChecks,
  type RequestOptions,
} from '../calls/options.ts';
import { createInputReader, findInputsIssues, type Inputs } from '../calls/inputs.ts';
import { createAwaitable, type Awaitable } from '../lists/pager.ts';
import { captureCallSite, withCallSite } from '../errors/call-site.ts';
import { NotFoundError, PaymentsError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import type { Redact } from '../errors/redact.ts';
import { formatAmount, parseAmount } from '../internal/amounts.ts';
import {
  describeIdProblem,
  describeReferenceProblem,
  isReference,
  journalKey,
} from '../internal/formats.ts';
import { issueAt, join, maxIssues } from '../internal/issues.ts';
import { cloneInput } from '../internal/objects.ts';
import type { AccountId } from '../schemas/account.ts';
import {
  transferCreateInputSchema,
  type OnceInput,
  type Transfer,
  type TransferId,
} from '../schemas/transfer.ts';
import {
  compareTransfer,
  defaultCurrency,
  hasTerms,
  isOutgoing,
  leavesAccount,
  parseCreatedAt,
  sideOf,
} from '../search/compare.ts';
import { InputIndex } from '../search/input-index.ts';
import {
  createListError,
  createScanState,
  maxScans,
  movingList,
  type TransferSearch,
} from '../search/search.ts';
import type { TransferApi } from '../search/transfer-api.ts';
import { statusMeaning } from '../values/transfer-status.ts';

/** Options of `transfers.reconcileAll`. */
export interface ReconcileAllOptions extends RequestOptions {
  /**
   * Transfers created earlier are not `unexpected`. With `transfersNewestFirst`, the list is read as far as
   * this time: it has to be before the first of the payments. @default 1970
   */
  since?: Date | string | undefined;
  /**
   * Transfers created at this time or later are not `unexpected`. A Transfer without a readable `createdAt` is, in
   * spite of the limits. Default: no limit.
   */
  until?: Date | string | undefined;
  /** Whether Transfers that belong to no input are returned, too. @default false */
  unexpected?: boolean | undefined;
  /** Accounts to read for `unexpected` Transfers, although no input pays from them. */
  accounts?: readonly AccountId[] | undefined;
}

/** A payment of one's own books, compared with the platform. */
export interface ReconciledPayment {
  /** The `description` of the input. */
  readonly reference: string;
  /** The caller's own object. */
  readonly input: OnceInput;
  /**
   * The status of its Transfer: `cancelled` counts as `failed`, and any other as `pending`. `ambiguous`: the Transfers in
   * `candidates` may be the payment, or are it with other terms. `missing`: no Transfer matches.
   */
  readonly result: 'completed' | 'pending' | 'failed' | 'ambiguous' | 'missing';
  /** The Transfer of the payment; absent while that is not certain. */
  readonly transfer?: Transfer | undefined;
  /** If it is `ambiguous`: the Transfers that an operator has to compare. */
  readonly candidates?: readonly Transfer[] | undefined;
}

/** A Transfer that belongs to no input. */
export interface UnexpectedTransfer {
  /** An outgoing Transfer of any status that belongs to no input. */
  readonly result: 'unexpected';
  /** The Transfer. */
  readonly transfer: Transfer;
  /** Absent: there is no payment. */
  readonly reference?: undefined;
  /** Absent: there is no payment. */
  readonly input?: undefined;
  /** Absent: the Transfer is certain. */
  readonly candidates?: undefined;
}

/** One row of `transfers.reconcileAll`. */
export type ReconciledRow = ReconciledPayment | UnexpectedTransfer;

/** The rows with one result. */
export interface ReconciledTotal {
  /** How many rows. */
  readonly count: number;
  /** The exact sum of their amounts for each currency: `{ USDC: '1250' }`. */
  readonly amounts: Readonly<Record<string, string>>;
  /**
   * How many of the rows are not in the sums, because the platform sent no readable amount or currency. An amount with
   * a minus is one of them: it could be a debit or money that came back.
   */
  readonly unreadable: number;
}

/** A total for each result. */
export type ReconciledTotals = Readonly<Record<ReconciledRow['result'], ReconciledTotal>>;

/** What `await` returns of a reconciliation. */
export interface ReconciledSummary {
  /** How many rows ended how. */
  readonly totals: ReconciledTotals;
  /** The rows that are not `completed`. */
  readonly open: readonly ReconciledRow[];
}

/** Books compared with the platform: `for await` returns one row at a time, `await` what is open. */
export interface ReconciledBooks
  extends Awaitable<ReconciledSummary>, AsyncIterable<ReconciledRow> {
  /** Live, for progress and a summary. */
  readonly totals: ReconciledTotals;
}

/** What the journal has of a payment. */
export interface RecordedPayment {
  /** Its reference. The journal finds it also by another spelling, which is no payment of the books. */
  readonly spelling?: string | undefined;
  /** Its Transfer, if it was paid. */
  readonly transferId?: TransferId | undefined;
  /** Ids of Transfers that an operator has dismissed. */
  readonly dismissed?: readonly unknown[] | undefined;
}

/** What a reconciliation of books works with. */
interface BooksContext {
  readonly transferSearch: TransferSearch;
  readonly redact: Redact;
  readonly api: TransferApi;
  /** What the journal has; undefined without a journal. */
  readonly readRecord:
    ((reference: string, signal: AbortSignal | undefined) => Promise<RecordedPayment>) | undefined;
}

export const reconcileAllCall: CallIdentity = {
  operation: 'transfers.reconcileAll',
  method: 'GET',
  path: '/transfers',
};

const reconcileAllOptionChecks = (): OptionChecks<ReconcileAllOptions> => ({
  since: sinceCheck,
  until: sinceCheck,
  unexpected: isBoolean,
  accounts: (value, at, issues) => {
    optionalCheck('an array of account ids', Array.isArray)(value, at, issues);
    for (const [index, id] of Array.isArray(value) ? value.entries() : []) {
      checkBy((account) => describeIdProblem('acc_', account))(id, join(at, [index]), issues);
    }
  },
  ...callOptionChecks(),
});

/** Journal entries that are read at a time. */
const maxReads = 16;
/** An operator cannot use more, and the books may have thousands of payments with the same terms. */
const maxSimilar = 10;

/** Compares the payments of one's own books with the lists of their sources; sends nothing. */
export function reconcileAll(
  context: BooksContext,
  inputs: Inputs<OnceInput>,
  options: ReconcileAllOptions | undefined,
): ReconciledBooks {
  const site = captureCallSite();
  const totals = createTotals();
  const readInputs = createInputReader(inputs, (issues) =>
    invalidArguments(reconcileAllCall, issues, context.redact),
  );
  async function* run(counted = createTotals()): AsyncGenerator<ReconciledRow, void, undefined> {
    const startedAt = new Date(context.transferSearch.now()).toISOString();
    try {
      Object.assign(totals, counted);
      const { sources, books } = await readBooks(context, inputs, readInputs, options);
      for (const [source, payments] of sources) {
        for await (const { row, money } of new SourceBooks(books, source, payments).rows()) {
          addRow(counted, row.result, money);
          Object.assign(totals, counted);
          yield row;
        }
      }
    } catch (error) {
      throw withCallSite(reattributeToBooks(error, startedAt), site);
    }
  }
  const runAll = async (): Promise<ReconciledSummary> => {
    const counted = createTotals();
    const open: ReconciledRow[] = [];
    for await (const row of run(counted)) if (row.result !== 'completed') open.push(row);
    return { totals: counted, open };
  };
  return Object.assign({ totals, [Symbol.asyncIterator]: run }, createAwaitable(runAll));
}

/** A payment of the books, and the listed transfers that may be it. */
interface BookedPayment {
  readonly callerInput: OnceInput;
  /** The input as it was read: the caller may change it. */
  readonly input: OnceInput;
  record: RecordedPayment;
  /** Those with the recorded id, or with exactly the reference. */
  readonly exact: Map<unknown, Transfer>;
  /** Others that the platform may have rewritten; used only without an exact one. */
  readonly similar: Map<unknown, Transfer>;
}

/** The checked arguments. */
interface Books extends BooksContext {
  readonly paging: RequestOptions;
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly unexpected: boolean;
  /** The key of each reference in the books, of any source, with the place of its input. */
  readonly references: ReadonlyMap<string, string>;
}

/** A row, and the money in its total: the caller may have changed the row's input since it was read. */
interface CountedRow {
  readonly row: ReconciledRow;
  readonly money: { readonly amount: unknown; readonly currency: unknown };
}

async function readBooks(
  context: BooksContext,
  inputs: Inputs<OnceInput>,
  readInputs: () => Inputs<OnceInput>,
  options: ReconcileAllOptions | undefined,
): Promise<{ sources: Map<AccountId, BookedPayment[]>; books: Books }> {
  const issues: Issue[] = [];
  const checked = checkOptions(reconcileAllOptionChecks, cloneInput(options), issues);
  const { since, until, unexpected = false, accounts = [], ...paging } = checked;
  const start = parseSince(since, context.transferSearch.now(), issues);
  const end = until === undefined || issues.length > 0 ? undefined : new Date(until).getTime();
  if (start !== undefined && end !== undefined && end <= start) {
    issues.push({ path: 'options.until', message: 'expected a time after options.since' });
  }
  issues.push(...findInputsIssues(inputs));
  const sources = new Map<AccountId, BookedPayment[]>();
  const references = new Map<string, string>();
  let at = 0;
  for await (const callerInput of issues.length === 0 ? readInputs() : []) {
    const input = checkInput(callerInput, `inputs[${at}]`, references, issues);
    at += 1;
    if (issues.length >= maxIssues) break;
    if (input === undefined) continue;
    const payments = sources.get(input.sourceAccountId) ?? [];
    sources.set(input.sourceAccountId, payments);
    payments.push({ callerInput, input, record: {}, exact: new Map(), similar: new Map() });
  }
  if (issues.length > 0) throw invalidArguments(reconcileAllCall, issues, context.redact);
  for (const account of accounts) sources.set(account, sources.get(account) ?? []);
  const books = { ...context, paging, since: start, until: end, unexpected, references };
  return { sources, books };
}

/**
 * Copies and checks an input; `issues` gets what is wrong. Undefined only if the input does not match its
 * schema.
 */
function checkInput(
  callerInput: OnceInput,
  at: string,
  references: Map<string, string>,
  issues: Issue[],
): OnceInput | undefined {
  const copy = readInput(callerInput, transferCreateInputSchema());
  if (validate(argument(transferCreateInputSchema(), copy, at), issues) === undefined) {
    return undefined;
  }
  const { description } = copy;
  const place = `${at}.description`;
  const problem = describeReferenceProblem(description);
  if (problem !== undefined) issues.push(issueAt(place, problem, description));
  const key = problem === undefined ? journalKey(description) : '';
  const earlier = references.get(key);
  if (earlier !== undefined) {
    const message = `${earlier} has the reference "${description}", too; a reference belongs to one payment`;
    issues.push({ path: place, message });
  } else if (key !== '') references.set(key, at);
  return copy;
}

/** The payments of one source, compared with its list. */
class SourceBooks {
  readonly #books: Books;
  readonly #source: AccountId;
  readonly #payments: readonly BookedPayment[];
  readonly #index: InputIndex<BookedPayment>;
  readonly #byReference: ReadonlyMap<unknown, BookedPayment>;
  readonly #byRecordedId = new Map<unknown, BookedPayment[]>();
  /**
   * Transfers similar to a payment. They are unexpected unless a payment without an exact Transfer may own
   * them.
   */
  readonly #similar = new Map<unknown, Transfer>();
  /** Keys of the Transfers already returned as unexpected, because a second scan lists them again. */
  readonly #returned = new Set<unknown>();

  constructor(books: Books, source: AccountId, payments: readonly BookedPayment[]) {
    this.#books = books;
    this.#source = source;
    this.#payments = payments;
    this.#index = new InputIndex(payments);
    this.#byReference = new Map(payments.map((payment) => [payment.input.description, payment]));
  }

  async *rows(): AsyncGenerator<CountedRow, void, undefined> {
    await this.#readRecords();
    yield* this.#readList();
    for (const payment of this.#payments) {
      const { amount, currency = defaultCurrency } = payment.input;
      yield { row: await this.#decide(payment), money: { amount, currency } };
    }
    for (const transfer of this.#similar.values()) {
      const isTaken =
        !(await this.#isOtherPayment(transfer)) && this.#findSimilar(transfer).some(isUnlisted);
      if (!isTaken) yield* this.#returnUnexpected(transfer);
    }
  }

  async #readRecords(): Promise<void> {
    const { readRecord, paging } = this.#books;
    if (readRecord === undefined) return;
    const queue = this.#payments.values();
    const readAll = async (): Promise<void> => {
      for (const payment of queue) {
        const { description } = payment.input;
        const record = await readRecord(description, paging.signal);
        if (record.spelling === description) payment.record = record;
        const { transferId } = payment.record;
        if (transferId === undefined) continue;
        this.#byRecordedId.set(transferId, [...this.#recordedAs(transferId), payment]);
      }
    };
    await Promise.all(Array.from({ length: maxReads }, readAll));
  }

  /** The payments that the journal has with the id of a transfer. */
  #recordedAs(id: unknown): readonly BookedPayment[] {
    return this.#byRecordedId.get(id) ?? [];
  }

  /**
   * Reads the list, and again while it moves and a payment is not listed; with `unexpected`, whenever it
   * moved. Throws if it still moves in the last of `maxScans`.
   */
  async *#readList(): AsyncGenerator<CountedRow, void, undefined> {
    const { transferSearch, paging, since = Number.NEGATIVE_INFINITY } = this.#books;
    const state = createScanState();
    for (let scan = 1; ; scan += 1) {
      // Another size than that of the scan before, which a cache may have kept.
      const pageSize = (): number => 101 - scan;
      const earliest = since - defaultClockSkew;
      const pages = transferSearch.scan(this.#source, earliest, { paging, pageSize }, state);
      for await (const transfers of pages) {
        for (const transfer of transfers) yield* this.#assign(transfer);
      }
      if (state.problem === undefined) {
        await this.#readUnlisted();
        const isComplete = !this.#books.unexpected && !this.#payments.some(isUnlisted);
        if (isComplete || !state.hasMoved) return;
      }
      if (state.isCached || scan === maxScans) {
        throw createListError(state.problem ?? movingList);
      }
    }
  }

  /** Adds a listed transfer to the payments that it may be, or returns it as unexpected. */
  *#assign(transfer: Transfer): Generator<CountedRow, void, undefined> {
    const owners = [
      ...this.#recordedAs(transfer.id),
      this.#byReference.get(transfer.description),
    ].filter((payment) => payment !== undefined && !isDismissed(payment, transfer));
    for (const payment of owners) payment?.exact.set(keyOf(transfer), transfer);
    if (owners.length > 0) return;
    const similar = this.#findSimilar(transfer);
    for (const payment of similar) {
      if (payment.similar.size < maxSimilar) payment.similar.set(keyOf(transfer), transfer);
    }
    if (similar.length === 0) yield* this.#returnUnexpected(transfer);
    else if (this.#isUnexpected(transfer)) this.#similar.set(keyOf(transfer), transfer);
  }

  #findSimilar(transfer: Transfer): BookedPayment[] {
    return [...this.#index.find(transfer)].filter(
      (payment) =>
        !isDismissed(payment, transfer) && compareTransfer(transfer, payment.input) !== 'other',
    );
  }

  *#returnUnexpected(transfer: Transfer): Generator<CountedRow, void, undefined> {
    if (!this.#isUnexpected(transfer) || this.#returned.has(keyOf(transfer))) return;
    this.#returned.add(keyOf(transfer));
    const { amount, currency } = transfer;
    yield { row: { result: 'unexpected', transfer }, money: { amount, currency } };
  }

  #isUnexpected(transfer: Transfer): boolean {
    const { unexpected, since, until } = this.#books;
    if (!unexpected || !leavesAccount(transfer, this.#source)) return false;
    const { earliest, latest } = parseCreatedAt(transfer.createdAt);
    // A comparison with NaN is false, so a transfer is shown if it cannot be dated, or only to the minute of a limit.
    return !(latest < Number(since) || earliest >= Number(until));
  }

  /** Reads recorded transfers that the list does not show: it may have moved, or end before them. */
  async #readUnlisted(): Promise<void> {
    const { paging } = this.#books;
    for (const payment of this.#payments) {
      const { transferId } = payment.record;
      if (transferId === undefined || findRecorded(payment) !== undefined) continue;
      try {
        const transfer = await this.#books.api.get(transferId, paging);
        payment.exact.set(keyOf(transfer), transfer);
      } catch (error) {
        // Without an Error body it may be the 404 of a gateway.
        if (!(error instanceof NotFoundError) || error.code === undefined) throw error;
        payment.record = {};
      }
    }
  }

  async #decide(payment: BookedPayment): Promise<ReconciledPayment> {
    const { callerInput, input, exact, similar } = payment;
    const common = { reference: input.description, input: callerInput };
    const recorded = findRecorded(payment);
    const outgoing = [...exact.values()].filter(isOutgoing);
    const transfer = recorded ?? outgoing[0];
    // Two transfers of one reference may be two payments.
    const others = outgoing.filter(({ id }) => id !== transfer?.id);
    const isAlone = transfer !== undefined && others.length === 0;
    if (isAlone && (await this.#isCertain(payment, transfer, recorded !== undefined))) {
      return { ...common, result: describeStatus(transfer), transfer };
    }
    const candidates = [...exact.values()];
    if (candidates.length === 0) {
      for (const each of similar.values()) {
        if (!(await this.#isOtherPayment(each))) candidates.push(each);
      }
    }
    return candidates.length === 0
      ? { ...common, result: 'missing' }
      : { ...common, result: 'ambiguous', candidates };
  }

  /** Whether a transfer with the recorded id or exactly the reference of a payment can only be this payment. */
  async #isCertain(
    { input }: BookedPayment,
    transfer: Transfer,
    isRecorded: boolean,
  ): Promise<boolean> {
    const { id, description } = transfer;
    const records = this.#recordedAs(id).length;
    if (!isRecorded) return records === 0 && compareTransfer(transfer, input) === 'same';
    if (!hasTerms(transfer, input)) return false;
    if (description === input.description) return true;
    // The platform has changed the description, unless it is the reference of another payment.
    return records === 1 && !(await this.#isOtherReference(description, input));
  }

  /** Whether the books or the journal have a payment with this reference that is not the input's. */
  async #isOtherReference(description: unknown, input: OnceInput): Promise<boolean> {
    const { readRecord, paging, references } = this.#books;
    if (!isReference(description)) return false;
    const key = journalKey(description);
    if (key === journalKey(input.description)) return false;
    return (
      references.has(key) ||
      (await readRecord?.(description, paging.signal))?.spelling !== undefined
    );
  }

  /** Whether the journal has a transfer as the payment of its own description. */
  async #isOtherPayment({ id, description }: Transfer): Promise<boolean> {
    const { readRecord, paging } = this.#books;
    if (readRecord === undefined || !isReference(description)) return false;
    return (await readRecord(description, paging.signal)).transferId === id;
  }
}

/** Whether no transfer has the recorded id or exactly the reference of a payment. */
const isUnlisted = ({ exact }: BookedPayment): boolean => exact.size === 0;

/** Identifies a side of a transfer; one without an id is its own key. */
const keyOf = (transfer: Transfer): unknown => sideOf(transfer) ?? transfer;

const isDismissed = ({ record }: BookedPayment, { id }: Transfer): boolean =>
  record.dismissed?.includes(id) === true;

const findRecorded = ({ record: { transferId }, exact }: BookedPayment): Transfer | undefined =>
  transferId === undefined
    ? undefined
    : (exact.get(transferId) ?? exact.get(`incoming ${transferId}`));

const results = { open: 'pending', arrived: 'completed', failed: 'failed' } as const;

/** A status that is not documented is not an end. */
const describeStatus = (transfer: Transfer): (typeof results)[keyof typeof results] =>
  results[statusMeaning(transfer) ?? 'open'];

type Totals = { -readonly [Result in keyof ReconciledTotals]: ReconciledTotal };

const createTotals = (): Totals => {
  const none = { count: 0, amounts: {}, unreadable: 0 };
  return {
    completed: none,
    pending: none,
    failed: none,
    ambiguous: none,
    missing: none,
    unexpected: none,
  };
};

function addRow(
  totals: Totals,
  result: ReconciledRow['result'],
  { amount, currency }: CountedRow['money'],
): void {
  const { count, amounts, unreadable } = totals[result];
  const units = parseAmount(amount);
  // The platform may send anything.
  const key = typeof currency === 'string' ? currency.toUpperCase() : '';
  const isReadable = units !== undefined && key !== '';
  totals[result] = {
    count: count + 1,
    amounts: isReadable
      ? { ...amounts, [key]: formatAmount((parseAmount(amounts[key]) ?? 0n) + units) }
      : amounts,
    unreadable: unreadable + (isReadable ? 0 : 1),
  };
}

/** A failed search proves nothing about the payments. */
function reattributeToBooks(error: unknown, startedAt: string): unknown {
  if (!(error instanceof PaymentsError) || error.operation === reconcileAllCall.operation) {
    return error;
  }
  const what = 'Whether the payments arrived is not known: the search failed';
  const hint = 'Call reconcileAll again: it sends nothing';
  const { operation } = reconcileAllCall;
  const { retryable } = error;
  return reattribute(
    error,
    { what, hint },
    { operation, outcome: 'unknown', retryable, startedAt },
  );
}
