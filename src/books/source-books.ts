import { defaultClockSkew, type RequestOptions } from '../calls/options.ts';
import { NotFoundError } from '../errors/errors.ts';
import type { Redact } from '../errors/redact.ts';
import { isReference, journalKey } from '../internal/formats.ts';
import type { AccountId } from '../schemas/account.ts';
import type { OnceInput, Transfer, TransferId } from '../schemas/transfer.ts';
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
  largestPage,
  maxScans,
  movingList,
  type TransferSearch,
} from '../search/search.ts';
import type { TransferApi } from '../search/transfer-api.ts';
import { statusMeaning } from '../values/transfer-status.ts';
import type { CountedRow, ReconciledPayment, UnexpectedTransfer } from './rows.ts';

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
export interface BooksContext {
  readonly transferSearch: TransferSearch;
  readonly redact: Redact;
  readonly api: TransferApi;
  /** What the journal has; undefined without a journal. */
  readonly readRecord:
    ((reference: string, signal: AbortSignal | undefined) => Promise<RecordedPayment>) | undefined;
}

/** A payment of the books, and the listed transfers that may be it. */
export interface BookedPayment {
  readonly callerInput: OnceInput;
  /** The input as it was read: the caller may change it. */
  readonly input: OnceInput;
  record: RecordedPayment;
  /** Those with the recorded id, or with exactly the reference. */
  readonly exact: Map<unknown, Transfer>;
  /** Others that the platform may have rewritten; used only without an exact one. */
  readonly similar: Map<unknown, Transfer>;
}

/** The row of a payment of the books. */
export interface BookedRow extends CountedRow<ReconciledPayment> {
  readonly payment: BookedPayment;
}

type UnexpectedRow = CountedRow<UnexpectedTransfer>;

/** The checked arguments. */
export interface Books extends BooksContext {
  readonly paging: RequestOptions;
  /** The page size of a source's first scan. @default 100 */
  readonly pageSize?: number | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly unexpected: boolean;
  /** The key of each reference in the books, of any source, with the place of its input. */
  readonly references: ReadonlyMap<string, string>;
}

/** Journal entries that are read at a time. */
const maxReads = 16;
/** An operator cannot use more, and the books may have thousands of payments with the same terms. */
const maxSimilar = 10;

/** The payments of one source, compared with its list. */
export class SourceBooks {
  /** How many pages had to be read to see all payments. If those that were read did not show all, one more is assumed. */
  pagesForAll: number | undefined;
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
  /** Each scan has smaller pages than the one before, which a cache may have kept. */
  #pageSize: number;
  readonly #nextPageSize = (): number => this.#pageSize--;

  constructor(books: Books, source: AccountId, payments: readonly BookedPayment[]) {
    this.#books = books;
    this.#source = source;
    this.#payments = payments;
    this.#pageSize = books.pageSize ?? largestPage();
    this.#index = new InputIndex(payments);
    this.#byReference = new Map(payments.map((payment) => [payment.input.description, payment]));
  }

  async *rows(): AsyncGenerator<CountedRow, void, undefined> {
    await this.#readRecords();
    yield* this.#readList();
    yield* this.#decidePayments();
    yield* this.#decideSimilar();
  }

  /**
   * The rows of the payments in few requests. If the id of each payment is known, reading the list ends when it has shown all of them,
   * or after `maxPages`, and the rest are read one by one. Otherwise, or if the platform does not know an id, only the whole
   * list can show them.
   */
  async *fewRequests(maxPages: number): AsyncGenerator<BookedRow, void, undefined> {
    await this.#readRecords();
    const areKnown = (): boolean =>
      this.#payments.every(({ record }) => record.transferId !== undefined);
    if (areKnown()) await this.#readKnown(maxPages);
    // No transfer is unexpected here, so the list has nothing to yield.
    if (!areKnown()) await this.#readList().next();
    yield* this.#decidePayments();
  }

  async #readKnown(maxPages: number): Promise<void> {
    const { transferSearch, paging } = this.#books;
    const state = createScanState();
    const scan = { paging, pageSize: this.#nextPageSize };
    const isComplete = (): boolean =>
      this.#payments.every((payment) => findRecorded(payment) !== undefined);
    let pages = 0;
    const list = transferSearch.scan(this.#source, Number.NEGATIVE_INFINITY, scan, state);
    for await (const transfers of maxPages > 0 ? list : []) {
      pages += 1;
      // No transfer is unexpected here, so there is nothing to yield.
      for (const transfer of transfers) this.#assign(transfer).next();
      if (isComplete() || pages === maxPages) break;
    }
    if (maxPages > 0) this.pagesForAll = isComplete() ? pages : pages + 1;
    await this.#readUnlisted();
  }

  async *#decidePayments(): AsyncGenerator<BookedRow, void, undefined> {
    for (const payment of this.#payments) {
      const { amount, currency = defaultCurrency } = payment.input;
      yield { row: await this.#decide(payment), money: { amount, currency }, payment };
    }
  }

  /** Returns as unexpected what is similar to payments, but belongs to none of them. */
  async *#decideSimilar(): AsyncGenerator<UnexpectedRow, void, undefined> {
    for (const transfer of this.#similar.values()) {
      const isTaken =
        !(await this.#isOtherPayment(transfer)) && this.#findSimilar(transfer).some(isUnlisted);
      if (!isTaken) yield* this.#returnUnexpected(transfer);
    }
  }

  async #readRecords(): Promise<void> {
    const { readRecord, paging } = this.#books;
    const queue = this.#payments.values();
    const readAll = async (): Promise<void> => {
      for (const payment of queue) {
        const { description } = payment.input;
        if (payment.record.transferId === undefined && readRecord !== undefined) {
          const record = await readRecord(description, paging.signal);
          if (record.spelling === description) payment.record = record;
        }
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
  async *#readList(): AsyncGenerator<UnexpectedRow, void, undefined> {
    const { transferSearch, paging, since = Number.NEGATIVE_INFINITY } = this.#books;
    const state = createScanState();
    for (let scan = 1; ; scan += 1) {
      const earliest = since - defaultClockSkew;
      const options = { paging, pageSize: this.#nextPageSize };
      const pages = transferSearch.scan(this.#source, earliest, options, state);
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
  *#assign(transfer: Transfer): Generator<UnexpectedRow, void, undefined> {
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

  *#returnUnexpected(transfer: Transfer): Generator<UnexpectedRow, void, undefined> {
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
