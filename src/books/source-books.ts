import { defaultClockSkew, type RequestOptions } from '../calls/options.ts';
import { NotFoundError } from '../errors/errors.ts';
import type { Redact } from '../errors/redact.ts';
import { isReference, journalKey } from '../internal/formats.ts';
import { warn } from '../internal/runtime.ts';
import { oneLine } from '../internal/text.ts';
import { statusMeaning, type OnceInput, type Transfer } from '../schemas/transfer.ts';
import {
  compareTransfer,
  defaultCurrency,
  hasEqualTerms,
  isOutgoing,
  leavesAccount,
  parseCreatedAt,
  sideOf,
} from '../search/compare.ts';
import { InputIndex } from '../search/input-index.ts';
import {
  agree,
  createListError,
  createScanState,
  largestPage,
  maxScans,
  movingList,
  type TransferSearch,
} from '../search/search.ts';
import type { ScanRows } from '../search/scan-rows.ts';
import type { TransferApi } from '../search/transfer-api.ts';
import { requireOfOneAccount } from './failed-accounts.ts';
import type { CountedRow, ReconciledPayment, UnexpectedTransfer } from './rows.ts';

/** What the journal records about one payment. */
export interface RecordedPayment {
  /** The reference as the journal spells it. Other spellings belong to other payments. */
  readonly spelling?: string | undefined;
  /** Id of the Transfer that made the payment, if the journal records the payment as paid. */
  readonly transferId?: string | undefined;
  /** Ids of Transfers that, by an operator's decision, are other payments than this one. */
  readonly dismissed?: readonly unknown[] | undefined;
}

export interface BooksContext {
  readonly transferSearch: TransferSearch;
  readonly redact: Redact;
  readonly api: TransferApi;
  /** Reads what the journal records about a reference; undefined if the client has no journal. */
  readonly readRecord:
    ((reference: string, signal: AbortSignal | undefined) => Promise<RecordedPayment>) | undefined;
  /** Whether the journal has a transfer as one of its payments; undefined if there is no journal. */
  readonly isOfJournal:
    ((transfer: Transfer, signal: AbortSignal | undefined) => Promise<boolean>) | undefined;
}

/** A payment of the caller's books, and the listed transfers that may be the payment. */
export interface BookedPayment {
  readonly callerInput: OnceInput;
  /** A copy of the caller's input, because the caller may change the object meanwhile. */
  readonly input: OnceInput;
  record: RecordedPayment;
  /** Transfers with the payment's recorded id, or with the payment's reference as their description. */
  readonly exact: Map<unknown, Transfer>;
  /** Other listed transfers that may be the payment. Used only if `exact` is empty. */
  readonly similar: Map<unknown, Transfer>;
}

export interface BookedRow extends CountedRow<ReconciledPayment> {
  readonly payment: BookedPayment;
  /** Whether the payment has ended, so that a later reading of the list shows nothing new. */
  readonly isFinal: boolean;
}

type UnexpectedRow = CountedRow<UnexpectedTransfer>;

/** The checked arguments of one call of `reconcileAll` or `waitForAll`. */
export interface Books extends BooksContext {
  readonly paging: RequestOptions;
  /** The page size of the first scan of each account's list. @default 100 */
  readonly pageSize?: number | undefined;
  /**
   * Whether a payment is missing only after two scans that agree. Otherwise a missing payment is
   * looked for again later. @default true
   */
  readonly confirms?: boolean | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly unexpected: boolean;
  /** Maps the journal key of each reference, from any source account, to the place of its input. */
  readonly references: ReadonlyMap<string, string>;
}

/** How many journal entries are read at the same time. */
const maxReads = 16;
/** The limit of similar transfers per payment, because an operator cannot compare more. */
const maxSimilar = 10;

/** Compares the payments from one source account with the platform's list of its transfers. */
export class SourceBooks {
  /**
   * How many pages of the account's list have shown all payments. If the pages that were read did
   * not, their number plus one.
   */
  pagesForAll: number | undefined;
  /** Whether a reading of the whole list was begun. */
  hasScanned = false;
  /** Whether the whole list was read, so that no unread transfer may be a payment. */
  #isWhole = false;
  readonly #books: Books;
  readonly #source: string;
  readonly #payments: readonly BookedPayment[];
  readonly #index: InputIndex<BookedPayment>;
  readonly #byReference: ReadonlyMap<unknown, BookedPayment>;
  readonly #byRecordedId = new Map<unknown, BookedPayment[]>();
  /**
   * Listed transfers that are similar to a payment. Such a transfer is unexpected, unless a similar
   * payment has no transfer in `exact`.
   */
  readonly #similar = new Map<unknown, Transfer>();
  /** Keys of transfers that were handled as unexpected, so that no later scan returns them again. */
  readonly #unexpected = new Set<unknown>();
  /**
   * The page size of the next scan of the list. Each scan asks for smaller pages than the one
   * before, because a cache may have the pages of the earlier scan.
   */
  #pageSize: number;
  readonly #nextPageSize = (): number => this.#pageSize--;

  constructor(books: Books, source: string, payments: readonly BookedPayment[]) {
    this.#books = books;
    this.#source = source;
    this.#payments = payments;
    this.#pageSize = books.pageSize ?? largestPage;
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
   * Yields the rows of the payments with few requests: reads up to `maxPages` of the list, and the
   * rest by id. Reads the whole list if an id is not known or, with `mayScan`, if a transfer has
   * failed, because another transfer may have made that payment.
   */
  async *fewRequests(
    maxPages: number,
    mayScan: boolean,
  ): AsyncGenerator<BookedRow, void, undefined> {
    await this.#readRecords();
    const areKnown = (): boolean =>
      this.#payments.every(({ record }) => record.transferId !== undefined);
    if (areKnown()) await this.#readKnown(maxPages);
    // The scan yields only unexpected transfers. `waitForAll` does not ask for those, so its first
    // `next()` reads the whole list.
    if (!areKnown()) await this.#readList().next();
    else if (mayScan && this.#payments.some(hasFailed)) await this.#tryList();
    yield* this.#decidePayments();
  }

  /** Reads the whole list. If the list cannot be read, a transfer that has failed counts as pending. */
  async #tryList(): Promise<void> {
    try {
      await this.#readList().next();
    } catch (error) {
      const [problem = ''] = requireOfOneAccount(error).message.split('\n');
      warn(
        `payments-platform-sdk: a payment of account ${this.#books.redact(this.#source)} has failed, and counts as pending until the account's list shows that no other transfer made it. ${oneLine(problem)}`,
      );
    }
  }

  /**
   * Reads the transfers of payments whose ids are all known, from up to `maxPages` pages of the
   * list, and the rest one by one.
   */
  async #readKnown(maxPages: number): Promise<void> {
    const { transferSearch, paging } = this.#books;
    const state = createScanState();
    const scan = { paging, pageSize: this.#nextPageSize };
    const isComplete = (): boolean =>
      this.#payments.every((payment) => findRecorded(payment) !== undefined);
    if (maxPages > 0) {
      let pages = 0;
      const list = transferSearch.scan(this.#source, () => Number.NEGATIVE_INFINITY, scan, state);
      for await (const transfers of list) {
        pages += 1;
        for (const transfer of transfers) this.#assign(transfer);
        if (isComplete() || pages === maxPages) break;
      }
      this.pagesForAll = isComplete() ? pages : pages + 1;
    }
    await this.#readUnlisted();
  }

  async *#decidePayments(): AsyncGenerator<BookedRow, void, undefined> {
    for (const payment of this.#payments) {
      const { amount, currency = defaultCurrency } = payment.input;
      const row = await this.#decide(payment);
      // If one of several transfers with the reference has failed, the payment stays ambiguous.
      const isFinal =
        row.result === 'completed' ||
        row.result === 'failed' ||
        (row.result === 'ambiguous' && this.#isWhole && hasFailed(payment));
      yield { row, money: { amount, currency }, payment, isFinal };
    }
  }

  /** Yields, as unexpected, the transfers that are similar to payments but belong to none. */
  async *#decideSimilar(): AsyncGenerator<UnexpectedRow, void, undefined> {
    for (const transfer of this.#similar.values()) {
      const isTaken =
        !(await this.#isOfAnotherReference(transfer)) &&
        this.#findSimilar(transfer).some(isUnlisted);
      if (!isTaken) yield* this.#returnUnexpected(transfer);
    }
  }

  /** Reads what the journal records of the payments, and indexes the payments by transfer id. */
  async #readRecords(): Promise<void> {
    const { readRecord, paging } = this.#books;
    // All readers take payments from this one iterator, so each payment is read once.
    const queue = this.#payments.values();
    const readAll = async (): Promise<void> => {
      for (const payment of queue) {
        const { description } = payment.input;
        if (payment.record.transferId === undefined && readRecord !== undefined) {
          const record = await readRecord(description, paging.signal);
          // A reference that the journal spells differently belongs to another payment.
          if (record.spelling === description) payment.record = record;
        }
        const { transferId } = payment.record;
        if (transferId === undefined) continue;
        this.#byRecordedId.set(transferId, [...this.#recordedAs(transferId), payment]);
      }
    };
    await Promise.all(Array.from({ length: maxReads }, readAll));
  }

  /** The payments for which the journal records the transfer with this id. */
  #recordedAs(id: unknown): readonly BookedPayment[] {
    return this.#byRecordedId.get(id) ?? [];
  }

  /**
   * Reads the list and yields unexpected transfers. If a payment is missing from several pages,
   * reads until two of `maxScans` scans agree, because somebody may pay again after `missing`, or
   * throws.
   */
  async *#readList(): AsyncGenerator<UnexpectedRow, void, undefined> {
    const { transferSearch, paging, since = Number.NEGATIVE_INFINITY } = this.#books;
    this.hasScanned = true;
    const state = createScanState();
    const bound = (ahead = Number.POSITIVE_INFINITY) => since - defaultClockSkew - ahead;
    for (let scan = 1; ; scan += 1) {
      let pages = 0;
      const options = { paging, pageSize: this.#nextPageSize };
      for await (const transfers of transferSearch.scan(this.#source, bound, options, state)) {
        pages += 1;
        for (const transfer of transfers) {
          if (!this.#assign(transfer)) yield* this.#returnUnexpected(transfer);
        }
      }
      if (state.problem === undefined) {
        await this.#readUnlisted();
        const agrees = state.rows.hasPrevious ? agree(state) : pages <= 1;
        this.#isWhole = agrees || !this.#needsAnotherScan(state.rows);
        if (this.#isWhole) return;
      }
      if (state.isCached || scan === maxScans) {
        throw createListError(state.problem ?? movingList);
      }
    }
  }

  /** Whether another scan has to confirm this scan, because it may have missed a transfer. */
  #needsAnotherScan({ hasRepeats }: ScanRows): boolean {
    const { confirms = true, unexpected } = this.#books;
    return (confirms && this.#payments.some(isUnlisted)) || (unexpected && hasRepeats);
  }

  /** Adds a listed transfer to the payments that it may be. Returns whether there are any. */
  #assign(transfer: Transfer): boolean {
    const owners = [
      ...this.#recordedAs(transfer.id),
      this.#byReference.get(transfer.description),
    ].filter((payment) => payment !== undefined && !isDismissed(payment, transfer));
    for (const payment of owners) payment?.exact.set(keyOf(transfer), transfer);
    if (owners.length > 0) return true;
    const similarPayments = this.#findSimilar(transfer);
    for (const payment of similarPayments) {
      if (payment.similar.size < maxSimilar) payment.similar.set(keyOf(transfer), transfer);
    }
    if (similarPayments.length === 0) return false;
    if (this.#isUnexpected(transfer)) this.#similar.set(keyOf(transfer), transfer);
    return true;
  }

  #findSimilar(transfer: Transfer): BookedPayment[] {
    return [...this.#index.find(transfer)].filter(
      (payment) =>
        !isDismissed(payment, transfer) && compareTransfer(transfer, payment.input) !== 'other',
    );
  }

  /** Yields a transfer as unexpected, once, if the period includes it and the journal does not have it. */
  async *#returnUnexpected(transfer: Transfer): AsyncGenerator<UnexpectedRow, void, undefined> {
    const { isOfJournal, paging } = this.#books;
    if (!this.#isUnexpected(transfer) || this.#unexpected.has(keyOf(transfer))) return;
    this.#unexpected.add(keyOf(transfer));
    if ((await isOfJournal?.(transfer, paging.signal)) === true) return;
    const { amount, currency } = transfer;
    // The sums of these rows are read as money that left, so they leave out what failed.
    const money = statusMeaning(transfer) === 'failed' ? undefined : { amount, currency };
    yield { row: { result: 'unexpected', transfer }, money };
  }

  #isUnexpected(transfer: Transfer): boolean {
    const { unexpected, since, until } = this.#books;
    if (!unexpected || !leavesAccount(transfer, this.#source)) return false;
    const { earliest, latest } = parseCreatedAt(transfer.createdAt);
    // Comparisons with NaN are false, so a transfer without a readable creation time is returned.
    // So is a transfer whose time may lie inside the period.
    return !(latest < Number(since) || earliest >= Number(until));
  }

  /** Reads by id the recorded transfers that the scan of the list did not show. */
  async #readUnlisted(): Promise<void> {
    const { paging } = this.#books;
    for (const payment of this.#payments) {
      const { transferId } = payment.record;
      if (transferId === undefined || findRecorded(payment) !== undefined) continue;
      try {
        const transfer = await this.#books.api.get(transferId, paging);
        payment.exact.set(keyOf(transfer), transfer);
      } catch (error) {
        // Only a 404 with the platform's error body proves that the transfer does not exist,
        // because a gateway may send a 404, too. The journal's record is then ignored.
        if (!(error instanceof NotFoundError) || error.code === undefined) throw error;
        payment.record = {};
      }
    }
  }

  /** Decides, after the list was read, which transfer is the payment, and returns the result. */
  async #decide(payment: BookedPayment): Promise<ReconciledPayment> {
    const { callerInput, input, exact, similar } = payment;
    const common = { reference: input.description, input: callerInput };
    const recorded = findRecorded(payment);
    const outgoing = [...exact.values()].filter(isOutgoing);
    const transfer = recorded ?? outgoing[0];
    // Two transfers with the payment's reference may be two payments, so an operator decides.
    const others = outgoing.filter(({ id }) => id !== transfer?.id);
    const isAlone = transfer !== undefined && others.length === 0;
    if (isAlone && (await this.#isCertain(payment, transfer, recorded !== undefined))) {
      const result = describeStatus(transfer);
      // Somebody may pay again after `failed`, so that result needs the whole list.
      const isCertain = result !== 'failed' || this.#isWhole;
      return { ...common, result: isCertain ? result : 'pending', transfer };
    }
    // No transfer certainly is the payment. Report those in `exact` or, if there are none, similar
    // transfers that belong to no other payment.
    const candidates = [...exact.values()];
    if (candidates.length === 0) {
      for (const each of similar.values()) {
        if (!(await this.#isOfAnotherReference(each))) candidates.push(each);
      }
    }
    return candidates.length === 0
      ? { ...common, result: 'missing' }
      : { ...common, result: 'ambiguous', candidates };
  }

  /** Whether a transfer with a payment's recorded id or reference is certainly that payment. */
  async #isCertain(
    { input }: BookedPayment,
    transfer: Transfer,
    isRecorded: boolean,
  ): Promise<boolean> {
    const { id, description } = transfer;
    const records = this.#recordedAs(id).length;
    if (!isRecorded) return records === 0 && compareTransfer(transfer, input) === 'same';
    if (!hasEqualTerms(transfer, input)) return false;
    if (description === input.description) return true;
    // If the description is not another payment's reference, the platform has changed it.
    return records === 1 && !(await this.#isOtherReference(description, input));
  }

  /** Whether a description is another payment's reference in the caller's books or the journal. */
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

  /** Whether the journal records a transfer as the payment that its own description names. */
  async #isOfAnotherReference({ id, description }: Transfer): Promise<boolean> {
    const { readRecord, paging } = this.#books;
    if (readRecord === undefined || !isReference(description)) return false;
    return (await readRecord(description, paging.signal)).transferId === id;
  }
}

/** Whether no transfer with the payment's recorded id or reference was found. */
const isUnlisted = ({ exact }: BookedPayment): boolean => exact.size === 0;

/** Whether a transfer with the payment's recorded id or reference has failed. */
const hasFailed = ({ exact }: BookedPayment): boolean =>
  [...exact.values()].some((transfer) => statusMeaning(transfer) === 'failed');

/** Key made of a transfer's id and direction. A transfer without an id is its own key. */
const keyOf = (transfer: Transfer): unknown => sideOf(transfer) ?? transfer;

const isDismissed = ({ record }: BookedPayment, { id }: Transfer): boolean =>
  record.dismissed?.includes(id) === true;

const findRecorded = ({ record: { transferId }, exact }: BookedPayment): Transfer | undefined =>
  transferId === undefined
    ? undefined
    : (exact.get(transferId) ?? exact.get(`incoming ${transferId}`));

const results = { open: 'pending', arrived: 'completed', failed: 'failed' } as const;

/** A Transfer whose status is not documented counts as pending, because it may not be final. */
const describeStatus = (transfer: Transfer): (typeof results)[keyof typeof results] =>
  results[statusMeaning(transfer) ?? 'open'];
