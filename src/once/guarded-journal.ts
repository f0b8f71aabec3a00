import { isEqual, isObject } from '../internal/objects.ts';
import { cannotSend } from '../calls/call.ts';
import { defaultClockSkew } from '../calls/options.ts';
import { Deadline, Stopped } from '../calls/time.ts';
import { PaymentInDoubtError, type CallIdentity, type TimeoutError } from '../errors/errors.ts';
import type {
  AmbiguousEntry,
  FullJournal,
  Journal,
  JournalEntry,
  NotPaidEntry,
  OpenEntry,
  OpenPayment,
  PaidEntry,
  SearchFirst,
  SendingEntry,
} from '../journals/journal.ts';
import { isTransferId, type OnceInput } from '../schemas/transfer.ts';
import type { RecordedPayment } from '../books/source-books.ts';
import type { JournalContext } from './context.ts';
import { correctClaim, isOpen, readFirstClaim } from './entries.ts';
import { describeCause, PaymentErrors } from './payment-errors.ts';
import { isReference, journalKey } from '../internal/formats.ts';
import { isTestRun, warn } from '../internal/runtime.ts';
import { fieldOf, isError } from '../internal/thrown.ts';
import { isUnreachable } from '../calls/client-options.ts';

/** Marks a memoryJournal. The symbol is global, because once/ imports only types from journals/. */
const memoryMark = Symbol.for('payments-platform-sdk:memory-journal');
const memoryWarning =
  'payments-platform-sdk: a journal in memory ends with this process, and the next one pays again. Use another journal in production.';

/** The time of each store's first entry, kept because it does not change. */
const firstClaims = new WeakMap<Journal, number>();
const dayMs = 86_400_000;

/** For a journal without `find`: the references of this process's payments, by their transfers. */
const knownOwners = new WeakMap<Journal, Map<string, string>>();
const ownersIn = (journal: Journal): Map<string, string> => {
  const known = knownOwners.get(journal) ?? new Map<string, string>();
  knownOwners.set(journal, known);
  return known;
};

/** The most transfers to remember. If there are more, the oldest are forgotten. */
const maxOwners = 10_000;

function remember(owners: Map<string, string>, transfer: string, key: string): void {
  owners.set(transfer, key);
  const [oldest] = owners.keys();
  if (owners.size > maxOwners && oldest !== undefined) owners.delete(oldest);
}

/** How many milliseconds after the end of a call the journal has for the call's last writes. */
const lastWriteMs = 5_000;

interface Limit {
  readonly endsAt: number;
  readonly signal: AbortSignal | undefined;
}

const claimedJournals = new WeakSet<Journal>();
/** For each journal, the check that the journal has kept a claim that it acknowledged. */
const firstChecks = new WeakMap<Journal, Promise<true>>();
const failedJournals = new WeakSet<Journal>();

/** Whether a journal has kept a claim of this process. A journal that can be read may still reject claims. */
export const hasKeptClaim = (journal: Journal | undefined): boolean =>
  journal !== undefined && claimedJournals.has(journal);

/** Wraps the caller's journal, to give each call a deadline and to check each result. */
export class GuardedJournal {
  readonly errors: PaymentErrors;
  /** Whether the journal's entries end with this process. */
  readonly isInMemory: boolean;
  readonly #call: CallIdentity;
  readonly #key: string;
  readonly #context: JournalContext;
  readonly #journal: Journal;
  /** When the whole call ends, by the client's monotonic clock and by its wall clock. */
  #endsAt = 0;
  #notAfter = 0;
  /** The signal and the time that end calls to the journal. */
  #limit: Limit;
  /** The journal's time minus this process's monotonic time (`clock.elapsed`). */
  #offset: number | undefined;
  /** By how many milliseconds at most the journal's clock is ahead of this machine's clock. */
  #lead = Number.NaN;

  constructor(call: CallIdentity, reference: string, context: JournalContext) {
    const { journal, signal } = context;
    if (journal === undefined) {
      throw cannotSend(
        call,
        'needs a journal; this client has none',
        'Pass the option journal: sqliteJournal, postgresJournal, redisJournal or, for tests, memoryJournal, from payments-platform-sdk/journals.',
      );
    }
    // The warning about a memoryJournal also appears for a loopback address, because that address
    // may be a tunnel to a platform.
    this.isInMemory = memoryMark in journal;
    const isTest = isUnreachable(context.baseUrl) || isTestRun();
    if (this.isInMemory && !isTest) warn(memoryWarning);
    this.#call = call;
    this.#key = journalKey(reference);
    this.#context = context;
    this.#journal = journal;
    this.errors = new PaymentErrors(call, reference, context, () => this.estimateTime());
    this.#limit = { signal, endsAt: 0 };
    this.restart();
  }

  /** Restarts the time of the call, for example after a search of a batch, because that may take long. */
  restart(): void {
    const { clock, totalTimeout } = this.#context;
    this.#endsAt = clock.elapsed() + totalTimeout;
    this.#notAfter = clock.now() + totalTimeout;
    this.#limit = { ...this.#limit, endsAt: this.#endsAt };
  }

  /** How many milliseconds are left of the call; 0 or less if its time is over. */
  get timeLeft(): number {
    return this.#endsAt - this.#context.clock.elapsed();
  }

  /** When the call has ended by the wall clock, because that clock goes on while the machine is suspended. */
  get notAfter(): number {
    return this.#notAfter;
  }

  /**
   * Protects the call's last writes from an abort and gives them extra seconds. Otherwise a claim
   * could stay behind although its request had no effect.
   */
  startLastWrite(): void {
    if (this.#limit.endsAt > this.#endsAt) return;
    const now = this.#context.clock.elapsed();
    this.#limit = { signal: undefined, endsAt: Math.max(this.#endsAt, now) + lastWriteMs };
  }

  /** When the store needs a search of the list before a first claim. */
  get searchFirst(): SearchFirst {
    try {
      return this.#journal.searchFirst ?? 'never';
    } catch (error) {
      throw this.errors.createJournalError('searchFirst failed', error);
    }
  }

  /** Whether a payment without an entry may have been paid, because the store may have lost the entry. */
  async searchesFirst(): Promise<boolean> {
    const { searchFirst } = this;
    // A misspelt value must not skip the search.
    if (searchFirst !== 'first_day') return searchFirst !== 'never';
    const known = firstClaims.get(this.#journal);
    const readFirst = (journal: Journal) => journal.firstClaimAt?.() ?? Promise.resolve(undefined);
    const isTime = (time: unknown) => time === undefined || Number.isFinite(time);
    const firstAt = known ?? (await this.#callJournal('firstClaimAt', readFirst, isTime));
    if (firstAt === undefined) return true;
    firstClaims.set(this.#journal, firstAt);
    // A store with entries of unknown age returns 0, so it does not count as new.
    return (this.estimateTime() ?? (await this.now())) - firstAt < dayMs;
  }

  read(reference = this.#key): Promise<JournalEntry | undefined> {
    return this.#callJournal('read', (journal) => journal.read(journalKey(reference)), isEntry);
  }

  /** Moves a paid entry to another platform's name, so that another payment can record the transfer's id. */
  async release(entry: PaidEntry, platform: string): Promise<void> {
    await this.#swap(journalKey(entry.input.description), entry, { ...entry, platform });
    ownersIn(this.#journal).delete(`${entry.platform} ${entry.transferId}`);
  }

  /** Reads the payment's entry. Rejects if the journal spells the reference differently. */
  async readOwn(reference: string): Promise<JournalEntry | undefined> {
    const entry = await this.read();
    if (entry === undefined || entry.input.description === reference) return entry;
    throw this.errors.createConflictError(
      `The journal has this reference in another spelling (${entry.input.description}), and upper and lower case do not distinguish two payments.\nIf it is the same payment, pass the spelling of its first call; another payment needs another reference`,
    );
  }

  /** Throws if an open entry belongs to another platform, because only that platform can list the payment. */
  rejectOtherPlatform(entry: OpenEntry | NotPaidEntry): void {
    if (!isOpen(entry) || entry.platform === this.#context.baseUrl) return;
    throw this.errors.createConflictError(
      `The entry belongs to another platform (${entry.platform}).\nIf only its address has changed, an operator decides with force`,
    );
  }

  /**
   * If the journal's clock was ahead when a claim was written, moves the claim's times to the
   * present. Otherwise the claim would block the payment until that future time.
   */
  async correctTimes<T extends JournalEntry>(entry: T, now: number): Promise<T> {
    if (!isOpen(entry) || entry.claimedAt - now <= defaultClockSkew) return entry;
    const corrected: T = correctClaim(entry, now);
    if (!(await this.swap(entry, corrected))) throw this.errors.createInProgressError();
    return corrected;
  }

  /** Reads the payment's entry. Returns `fallback` if the journal fails. */
  readOr(fallback: JournalEntry | undefined): Promise<JournalEntry | undefined> {
    return this.read().catch(() => fallback);
  }

  /**
   * Replaces the payment's entry. Returns false if another call has changed the entry, or if
   * another payment has the transfer that `after` names.
   */
  async swap(before: JournalEntry | undefined, after: JournalEntry | undefined): Promise<boolean> {
    const key = this.#key;
    const owners = this.#journal.find === undefined ? ownersIn(this.#journal) : undefined;
    const transfer = after?.state === 'paid' ? `${after.platform} ${after.transferId}` : undefined;
    if (transfer !== undefined && ![undefined, key].includes(owners?.get(transfer))) return false;
    const isWon = await this.#swap(key, before, after);
    if (isWon && transfer !== undefined && owners !== undefined) remember(owners, transfer, key);
    return isWon;
  }

  #swap(
    key: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean> {
    const run = (journal: Journal) => journal.swap(key, before, after);
    return this.#callJournal('swap', run, (result) => typeof result === 'boolean');
  }

  /** Finds the payment that the journal records with a transfer of this platform. */
  async findPaid(transferId: string): Promise<PaidEntry | undefined> {
    const { baseUrl } = this.#context;
    const find = (journal: Journal) =>
      journal.find?.(baseUrl, transferId) ??
      Promise.resolve(ownersIn(journal).get(`${baseUrl} ${transferId}`));
    const isKey = (key: unknown) => key === undefined || typeof key === 'string';
    const key = await this.#callJournal('find', find, isKey);
    if (key === undefined) return undefined;
    // The payment's entry has to confirm what `find` returns.
    const entry = await this.read(key);
    const isOfTransfer = entry?.state === 'paid' && entry.transferId === transferId;
    if (isOfTransfer && entry.platform === baseUrl) return entry;
    ownersIn(this.#journal).delete(`${baseUrl} ${transferId}`);
    return undefined;
  }

  /**
   * Writes a claim to the journal, and resolves to whether this call now holds the payment. Reads
   * the entry again if the write seems to have failed, because the reply may be lost or a driver
   * may send the command twice.
   */
  async claim(before: JournalEntry | undefined, claim: SendingEntry): Promise<boolean> {
    const isOurs = await this.#tryToClaim(before, claim);
    if (isOurs) claimedJournals.add(this.#journal);
    return isOurs;
  }

  async #tryToClaim(before: JournalEntry | undefined, claim: SendingEntry): Promise<boolean> {
    let failure: PaymentInDoubtError | undefined;
    try {
      if (await this.swap(before, claim)) return true;
    } catch (error) {
      if (!(error instanceof PaymentInDoubtError) || !error.retryable) throw error;
      failure = error;
    }
    const entry = await this.readOr(undefined);
    if (entry?.state === 'sending' && entry.claimId === claim.claimId) return true;
    if (failure !== undefined) throw failure;
    return false;
  }

  /**
   * Throws if the journal has not kept the claim, or if the claim has ended. Claims are read again
   * until one check of the journal has succeeded. Assumptions A3 and A4: docs/proof.md.
   */
  async checkClaim(claim: SendingEntry): Promise<void> {
    const first = firstChecks.get(this.#journal);
    // If another payment's check failed, this payment checks its own claim, because that error
    // names another reference and may come from another caller's abort.
    const isChecked = first !== undefined && (await first.then(Boolean, () => false));
    if (!isChecked) {
      const check = this.#readClaim(claim);
      firstChecks.set(this.#journal, check);
      await check;
    }
    const hasTime = claim.expiresAt === null || Number(this.estimateTime()) < claim.expiresAt;
    if (!hasTime) throw this.#fail('claim has ended', undefined, false);
  }

  /**
   * Returns the error of a call that had no time to send the payment. The journal is read again,
   * because another call may have claimed the payment meanwhile.
   */
  async confirmNotSent(error: TimeoutError): Promise<Error> {
    this.startLastWrite();
    const entry = await this.read();
    return entry === undefined || entry.state === 'not_paid'
      ? error
      : this.errors.createInProgressError(isOpen(entry) ? entry : undefined);
  }

  /** Throws if the journal's own check finds that its store has changed, such as a replaced SQLite file. */
  checkStore(): void {
    const { check }: Partial<FullJournal> = this.#journal;
    try {
      check?.();
    } catch (error) {
      throw this.#fail('store has changed', error);
    }
  }

  async #readClaim(claim: SendingEntry): Promise<true> {
    const changed = findDifference(claim, await this.read());
    if (changed.length === 0) return true;
    throw this.#fail(
      `claim was not kept as it was written: ${changed.join(', ')}`,
      undefined,
      false,
    );
  }

  /** Reads the open entries, oldest first, and the references of unreadable entries. */
  async readOpen(): Promise<{ open: OpenPayment[]; unreadable: string[] }> {
    const listOpen = this.#journal.open?.bind(this.#journal);
    if (listOpen === undefined) {
      throw cannotSend(
        this.#call,
        'needs a journal with open(), which lists undecided payments; this one has none',
        'Those of payments-platform-sdk/journals have it.',
      );
    }
    const rows: JournalRow[] = [];
    const collect = async (): Promise<void> => {
      for await (const row of listOpen()) rows.push(row);
    };
    await this.#callJournal('open', collect, () => rows.every(hasReference));
    return {
      open: rows
        .filter((row): row is OpenPayment => isReadable(row) && isOpen(row.entry))
        .toSorted((one, other) => readFirstClaim(one.entry) - readFirstClaim(other.entry)),
      unreadable: rows.filter((row) => !isReadable(row)).map(({ reference }) => reference),
    };
  }

  async now(reference = this.#key): Promise<number> {
    const run = (journal: Journal) => journal.now(journalKey(reference));
    const { clock } = this.#context;
    const startedAt = clock.now();
    // The clock of a journal's store may return fractions of a millisecond.
    const now = Math.floor(await this.#callJournal('now', run, Number.isFinite));
    this.#offset = now - clock.elapsed();
    this.#lead = now - startedAt;
    return now;
  }

  /**
   * Converts a time of the journal to this machine's clock; NaN if the journal's time is not known.
   * The result may be too early but not too late, even if this machine was suspended or its clock
   * set meanwhile.
   */
  toLocalTime(time: number): number {
    const now = this.estimateTime() ?? Number.NaN;
    return Math.min(time - this.#lead, this.#context.clock.now() - (now - time));
  }

  /** Estimates the journal's present time; undefined if the journal's clock was not read yet. */
  estimateTime(): number | undefined {
    return this.#offset === undefined ? undefined : this.#offset + this.#context.clock.elapsed();
  }

  /** Returns the time to write to an entry: the journal's or, if that fails, this machine's. */
  async readTime(): Promise<number> {
    return this.estimateTime() ?? (await this.now().catch(() => this.#context.clock.now()));
  }

  /**
   * Like `swap`, but returns undefined if the journal fails. A lasting error is printed, because
   * the caller does not get the error.
   */
  tryToSwap(
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean | undefined> {
    return this.swap(before, after).catch((error: unknown) => {
      const { retryable, cause } = error as PaymentInDoubtError;
      if (!retryable && isError(cause)) warn(`payments-platform-sdk: ${cause.message}`);
      return undefined;
    });
  }

  /** Returns what a journal's method returns. Throws if the method fails or `isResult` is false. */
  async #callJournal<T>(
    method: string,
    run: (journal: Journal) => Promise<T>,
    isResult: (result: unknown) => boolean,
  ): Promise<T> {
    const result = await this.#runInTime(method, run);
    if (isResult(result)) return result;
    throw this.#fail(`${method} returned a value that this SDK cannot read`, undefined, false);
  }

  /**
   * Creates the error of a failed journal. The first failure of each journal is also printed,
   * because a batch may retry for half an hour before it reports the error.
   */
  #fail(problem: string, cause?: unknown, retryable?: boolean): PaymentInDoubtError {
    const error = this.errors.createJournalError(problem, cause, retryable);
    if (!failedJournals.has(this.#journal)) {
      const reason = isError(error.cause) ? `: ${describeCause(error.cause)}` : '';
      warn(`payments-platform-sdk: the journal's ${problem}${reason}.`);
    }
    failedJournals.add(this.#journal);
    return error;
  }

  /** Runs a journal's method until it ends, its time is over or the caller aborts. */
  async #runInTime<T>(method: string, run: (journal: Journal) => Promise<T>): Promise<T> {
    const { endsAt, signal } = this.#limit;
    const { clock } = this.#context;
    const timeLeft = endsAt - clock.elapsed();
    const deadline = new Deadline(clock, timeLeft, 'total', { signals: [signal] });
    try {
      deadline.check();
      return await deadline.race(run(this.#journal));
    } catch (error) {
      if (!(error instanceof Stopped)) throw this.#fail(`${method} failed`, error);
      throw error.why.by === 'caller'
        ? this.errors.createAbortError(error.why.reason)
        : this.#fail(`${method} did not return in time`);
    } finally {
      deadline.close();
    }
  }
}

/** Names the fields in which an entry differs from a claim. Skips `history`, because it may be cut. */
function findDifference(claim: SendingEntry, entry: JournalEntry | undefined): string[] {
  if (entry === undefined) return ['it is gone'];
  const { history: _, ...fields } = claim;
  return Object.entries(fields)
    .filter(([name, value]) => !isEqual(value, fieldOf(entry, name)))
    .map(([name]) => name);
}

/** Whether a value from a journal is undefined or an entry with the fields that its state needs. */
function isEntry(entry: unknown): boolean {
  if (!isObject(entry)) return entry === undefined;
  const { state, claimedAt, deadline, expiresAt, candidates, dismissed, transferId, input } =
    entry as Partial<Record<keyof AmbiguousEntry | keyof PaidEntry, unknown>>;
  if (!hasTermFields(input, state) || !Array.isArray(dismissed ?? [])) return false;
  // `expiresAt` is null if the claim never expires.
  const times = [claimedAt, deadline ?? claimedAt, expiresAt === null ? claimedAt : expiresAt];
  const hasTimes = times.every(Number.isFinite);
  switch (state) {
    case 'paid':
      return isTransferId(transferId);
    case 'sending':
      return hasTimes;
    case 'ambiguous':
      return hasTimes && Array.isArray(candidates);
    default:
      return state === 'not_paid';
  }
}

/**
 * Whether an entry's input has the fields by which a search can find the payment. A paid entry
 * needs no search, so `prune` may have left only its reference.
 */
const hasTermFields = (input: unknown, state: unknown): boolean => {
  const { description, ...terms } = Object(input) as Partial<OnceInput>;
  const isPruned = state === 'paid' && Object.keys(terms).length === 0;
  const needed = isPruned ? [description] : [description, terms.sourceAccountId, terms.amount];
  return needed.every((term) => typeof term === 'string');
};

/** One result of a journal's `open()`. Journals by other authors may return decided payments. */
type JournalRow = Omit<OpenPayment, 'entry'> & { readonly entry: JournalEntry | undefined };

const hasReference = (row: unknown): boolean =>
  typeof (Object(row) as Partial<JournalRow>).reference === 'string';

/** Whether a row can be read as a payment. Calls do not read a key with capitals, as version 0.3.0 wrote. */
export const isReadable = ({ reference, entry }: JournalRow): boolean =>
  entry !== undefined &&
  isEntry(entry) &&
  isReference(entry.input.description) &&
  reference === journalKey(entry.input.description);

/** Returns a function that reads what the journal records of a payment; undefined without a journal. */
export function createRecordReader(
  context: JournalContext,
  call: CallIdentity,
): ((reference: string, signal: AbortSignal | undefined) => Promise<RecordedPayment>) | undefined {
  if (context.journal === undefined) return undefined;
  return async (reference, signal) => {
    const entry = await new GuardedJournal(call, reference, { ...context, signal }).read();
    if (entry === undefined) return {};
    const spelling = entry.input.description;
    if (entry.state !== 'paid') return { spelling, dismissed: entry.dismissed };
    // On this platform, the id from another platform may belong to a different transfer.
    return entry.platform === context.baseUrl ? { spelling, transferId: entry.transferId } : {};
  };
}
