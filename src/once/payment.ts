import { defaultClockSkew } from '../calls/options.ts';
import { invalidArguments } from '../calls/arguments.ts';
import {
  AbortError,
  NotFoundError,
  PaymentsError,
  type CallIdentity,
  type PaymentInDoubtError,
} from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import type {
  AmbiguousEntry,
  JournalEntry,
  NotPaidEntry,
  OpenEntry,
  PaidEntry,
  SendingEntry,
} from '../journals/journal.ts';
import {
  isTransferId,
  type OnceInput,
  type Transfer,
  type TransferCreated,
  type TransferId,
} from '../schemas/transfer.ts';
import { findDifferingFields, isOtherPayment } from '../search/compare.ts';
import { GuardedJournal, isOpen } from './guarded-journal.ts';
import { formatTime } from './in-doubt.ts';
import { hostName } from '../internal/runtime.ts';
import type { OnceContext } from './context.ts';
import { epoch, maxCandidates } from '../search/search.ts';
import { isReference } from '../internal/formats.ts';

/*
 * A payment made once. The journal is written before the first byte, and the platform's own list is the
 * memory that outlives every process: a caller that reads a claim searches the list first, and sends
 * again only when no earlier request can still take effect.
 *
 *   absent    -> sending -> paid         a certain rejection removes the claim
 *   sending   -> ambiguous               the list shows what may be the payment
 *   ambiguous -> sending, paid           a later search is clear
 *   sending, ambiguous -> not_paid, paid by an operator; after not_paid the next call sends
 */

/** A payment with checked arguments. */
export interface PreparedPayment {
  /** Asks the option `authorize`; rejects if it vetoes, or does not decide in time. */
  authorize(): Promise<void>;
  /** Sends the payment; no request starts after `notAfter` of the wall clock. */
  send(totalTimeout: number, notAfter: number): Promise<TransferCreated>;
}

/** A payment that was made: by this call, as the list shows, or as the journal records. */
export type MadePayment =
  | {
      readonly result: 'created' | 'found';
      readonly transferId: TransferId;
      readonly transfer: TransferCreated;
    }
  | {
      readonly result: 'recorded';
      readonly transferId: TransferId;
      /** Reads the transfer, and checks that it is this payment. */
      readonly read: () => Promise<Transfer>;
    };

/** What a call finds in the journal, except a payment that is made. */
type Situation = 'absent' | 'not_paid' | 'sending' | 'in_grace_period' | 'expired';

/** How often a call searches the list, and what it does if the list does not show the payment. */
const plans: Readonly<
  Record<
    Situation,
    {
      readonly scans: 'if the journal forgets' | 1 | 2;
      readonly next: 'send' | 'in_progress' | 'in_doubt';
    }
  >
> = {
  absent: { scans: 'if the journal forgets', next: 'send' },
  // The journal may have lost what followed the operator's decision.
  not_paid: { scans: 'if the journal forgets', next: 'send' },
  // Another call is sending the payment, or was interrupted.
  sending: { scans: 1, next: 'in_progress' },
  // The request of that call has ended, but may still take effect.
  in_grace_period: { scans: 1, next: 'in_doubt' },
  // One scan can miss a transfer that moves in the list while it is read.
  expired: { scans: 2, next: 'send' },
};

/** When to call again while another call is in progress; most end sooner. */
const inProgressRetryMs = 1_000;
/** The shortest time after which an undecided payment is worth another call. */
const minRetryMs = 5_000;
/** The longest one when no request can still take effect. */
const maxExpiredRetryMs = 60_000;
const maxShownCandidates = 10;
/** Another caller may mark the entry ambiguous while this one records the payment. */
const maxRecordTries = 3;

/** One call of createOnce or resolveOnce. */
export class Payment {
  readonly #call: CallIdentity;
  readonly #reference: string;
  readonly #context: OnceContext;
  readonly #journal: GuardedJournal;

  constructor(call: CallIdentity, reference: string, context: OnceContext) {
    this.#call = call;
    this.#reference = reference;
    this.#context = context;
    this.#journal = new GuardedJournal(call, reference, context);
  }

  /** Makes the payment, or returns the one that was made. */
  async make(input: OnceInput, prepared: PreparedPayment): Promise<MadePayment> {
    const entry = await this.#readEntry();
    if (entry !== undefined) this.#rejectOtherFields(entry, input);
    if (entry?.state === 'paid') return await this.#describeRecorded(entry);
    const { situation, entry: before } = await this.#findSituation(entry);
    const { scans, next } = plans[situation];
    const scanCount =
      scans === 'if the journal forgets' ? Number(this.#journal.canForget()) : scans;
    for (let scan = 1; scan <= scanCount; scan += 1) {
      const confirms = scans === 'if the journal forgets';
      const transfer = await this.#findAndRecord(before, input, { confirms });
      if (transfer !== undefined) return describeMade('found', transfer);
    }
    if (next === 'send') return await this.#send(before, input, prepared);
    const claim = isOpen(before) ? before : undefined;
    throw next === 'in_progress' ? this.#inProgressError(claim) : this.#inDoubtError(claim);
  }

  async #readEntry(): Promise<JournalEntry | undefined> {
    const entry = await this.#journal.read();
    if (entry === undefined || entry.input.description === this.#reference) return entry;
    throw this.#conflictError(
      `The journal has this reference in another spelling (${entry.input.description}), and upper and lower case do not distinguish two payments.\nIf it is the same payment, pass the spelling of its first call`,
    );
  }

  async #findSituation(
    stored: OpenEntry | NotPaidEntry | undefined,
  ): Promise<{ situation: Situation; entry?: OpenEntry | NotPaidEntry }> {
    if (stored === undefined) return { situation: 'absent' };
    this.#rejectOtherPlatform(stored);
    // Read before the search: the transfer may appear during the search.
    const now = await this.#journal.now();
    const entry = await this.#correctTimes(stored, now);
    this.#rejectLaterSince(entry, now);
    if (!isOpen(entry)) return { situation: 'not_paid', entry };
    const timeLeft = entry.expiresAt - now;
    if (timeLeft <= 0) return { situation: 'expired', entry };
    const isRunning = timeLeft > this.#context.gracePeriod;
    return { situation: isRunning ? 'sending' : 'in_grace_period', entry };
  }

  /**
   * A claim that was written while the journal's clock was ahead would block the payment until that time. Written again
   * with the time of now, the claim expires like every other. When the payment was first claimed is then not known.
   */
  async #correctTimes<T extends OpenEntry | NotPaidEntry>(entry: T, now: number): Promise<T> {
    if (!isOpen(entry) || entry.claimedAt - now <= defaultClockSkew) return entry;
    const expiresAt = now + entry.expiresAt - entry.claimedAt;
    const corrected = { ...entry, claimedAt: now, expiresAt, firstClaimedAt: epoch };
    if (!(await this.#journal.swap(entry, corrected))) throw this.#inProgressError();
    return corrected;
  }

  /** Records an operator's decision. */
  async resolve(
    verdict: TransferId | 'not_paid',
    { by, force = false }: { by?: string | undefined; force?: boolean | undefined },
  ): Promise<void> {
    const stored = await this.#readEntry();
    if (stored === undefined) throw this.#unknownReferenceError();
    if (stored.state === 'paid') {
      if (stored.transferId === verdict) return;
      throw this.#conflictError(`The payment was made (${stored.transferId})`);
    }
    if (stored.state === verdict) return;
    if (!force) this.#rejectOtherPlatform(stored);
    // Read before the search: the transfer may appear during the search.
    const resolvedAt = await this.#journal.now();
    const before = await this.#correctTimes(stored, resolvedAt);
    const { input } = before;
    const common = { input, platform: this.#context.baseUrl };
    const resolvedBy = by === undefined ? {} : { resolvedBy: by };
    let after: JournalEntry;
    if (verdict === 'not_paid') {
      const listed = await this.#listCandidates(before, resolvedAt, force);
      const dismissed = [...new Set([...(before.dismissed ?? []), ...listed])];
      after = {
        state: verdict,
        ...common,
        ...resolvedBy,
        resolvedAt,
        firstClaimedAt: readFirstClaim(before),
        ...(dismissed.length > 0 && { dismissed: dismissed.slice(0, maxCandidates) }),
      };
    } else {
      await this.#rejectOtherPayment(verdict, input);
      after = {
        state: 'paid',
        ...common,
        ...resolvedBy,
        transferId: verdict,
        paidAt: resolvedAt,
      };
    }
    if (!(await this.#journal.swap(before, after))) throw this.#inProgressError();
  }

  async #findAndRecord(
    before: OpenEntry | NotPaidEntry | undefined,
    input: OnceInput,
    { cause, confirms = false }: { cause?: unknown; confirms?: boolean } = {},
  ): Promise<Transfer | undefined> {
    const isUnclaimed = before === undefined;
    const options = { cause, confirms, isUnclaimed };
    const { transfer, candidates } = await this.#search(before, input, options);
    if (candidates.length > 0) throw await this.#recordAmbiguous(before, input, candidates);
    // Recording stops when the caller aborts: this call sent no request, and the next call finds the transfer again.
    return transfer && (await this.#recordPaid(before, input, transfer, { isFound: true }));
  }

  /** Claims the payment and sends it. `before` is an expired claim, or an operator's decision. */
  async #send(
    before: OpenEntry | NotPaidEntry | undefined,
    input: OnceInput,
    prepared: PreparedPayment,
  ): Promise<MadePayment> {
    const { clock, gracePeriod, totalTimeout, baseUrl, signal } = this.#context;
    this.#journal.startPhase(signal);
    // Read before the journal's time, so that no request starts after the deadline of the claim.
    const startedAt = clock.elapsed();
    const notAfter = clock.now() + totalTimeout;
    await this.#authorize(before, prepared);
    const claimedAt = await this.#journal.now();
    const claim: SendingEntry = {
      state: 'sending',
      claimId: crypto.randomUUID(),
      host: hostName(),
      claimedAt,
      expiresAt: claimedAt + totalTimeout + gracePeriod,
      firstClaimedAt: this.#findFirstClaim(before, claimedAt),
      ...keepDismissed(before),
      platform: baseUrl,
      input,
    };
    if (!(await this.#journal.claim(before, claim))) throw this.#inProgressError();
    let created: TransferCreated;
    try {
      created = await prepared.send(totalTimeout - (clock.elapsed() - startedAt), notAfter);
    } catch (error) {
      this.#journal.startPhase();
      return await this.#handleFailure(error, claim, before);
    }
    this.#journal.startPhase();
    return describeMade('created', await this.#recordPaid(claim, input, created));
  }

  /** Asks the option `authorize`. A veto of a takeover proves nothing about the earlier request. */
  async #authorize(
    before: OpenEntry | NotPaidEntry | undefined,
    prepared: PreparedPayment,
  ): Promise<void> {
    try {
      await prepared.authorize();
    } catch (error) {
      if (error instanceof AbortError) throw this.#journal.errors.createAbortError(error.cause);
      throw isOpen(before) ? this.#inDoubtError(before, error) : error;
    }
  }

  /** Handles a request that was rejected or not sent, or that has an unknown outcome. */
  async #handleFailure(
    error: unknown,
    claim: SendingEntry,
    before: OpenEntry | NotPaidEntry | undefined,
  ): Promise<MadePayment> {
    const { input } = claim;
    // By its class: an error of the caller's code with the fields of ours proves nothing.
    const isCertain = error instanceof PaymentsError && error.outcome !== 'unknown';
    if (!isCertain) {
      const transfer = await this.#findAndRecord(claim, input, { cause: error });
      if (transfer !== undefined) return describeMade('found', transfer);
      throw this.#inDoubtError(claim, error);
    }
    if ((await this.#journal.tryToSwap(claim, before)) === false) {
      const entry = await this.#journal.tryToRead();
      if (entry?.state === 'paid') return await this.#describeRecorded(entry);
    }
    if (before === undefined || !isOpen(before)) throw error;
    // The rejection may come from an earlier call having taken the money, so it proves nothing about that call.
    const transfer = await this.#findAndRecord(before, input, { cause: error });
    if (transfer !== undefined) return describeMade('found', transfer);
    throw this.#inDoubtError(before, error);
  }

  /** Searches the list for this payment, without transfers that the journal has as another payment. */
  async #search(
    entry: OpenEntry | NotPaidEntry | undefined,
    input: OnceInput,
    {
      cause,
      isUnclaimed = false,
      confirms = false,
    }: { cause?: unknown; isUnclaimed?: boolean; confirms?: boolean } = {},
  ): Promise<{ transfer?: Transfer; candidates: readonly Transfer[] }> {
    const { signal, searchTimeout } = this.#context;
    this.#journal.startPhase(signal, searchTimeout);
    const earliest = this.#estimateEarliest(entry);
    const dismissed = new Set(entry?.dismissed);
    const claim = isOpen(entry) ? entry : undefined;
    let pages = 0;
    const onPage = (): void => {
      pages += 1;
    };
    const result = await this.#journal.runInTime(
      (deadline) =>
        this.#context.search(
          { input, earliest, dismissed },
          { isUnclaimed, confirms, signal: deadline.signal, onPage },
        ),
      (failure) =>
        'error' in failure
          ? this.#inDoubtError(claim, cause ?? failure.error)
          : this.#inDoubtError(claim, cause, describeSlowSearch(searchTimeout, pages)),
    );
    this.#journal.startPhase(signal);
    if (result.result === 'found') return { transfer: result.transfer, candidates: [] };
    if (result.result === 'not_found') return { candidates: [] };
    // The search stopped at this limit: the payment may be a transfer that it did not read.
    if (result.candidates.length >= maxCandidates) return { candidates: result.candidates };
    const candidates: Transfer[] = [];
    for (const transfer of result.candidates) {
      if (!(await this.#isOtherPayment(transfer))) candidates.push(transfer);
    }
    return { candidates };
  }

  /** The time of this machine's clock before which the payment was not made; undefined if that is not known. */
  #estimateEarliest(entry: OpenEntry | NotPaidEntry | undefined): number | undefined {
    const { since } = this.#context;
    if (entry === undefined) return since;
    // A journal that forgets may have lost an earlier claim.
    if (since === undefined && this.#journal.canForget()) return undefined;
    const claimedAt = this.#journal.toLocalTime(readFirstClaim(entry));
    return Math.min(since ?? claimedAt, claimedAt);
  }

  /** The earliest time of the payment, by the journal's clock: of the first claim, or of the caller's `since`. */
  #findFirstClaim(before: OpenEntry | NotPaidEntry | undefined, claimedAt: number): number {
    const { clock, since = Number.POSITIVE_INFINITY } = this.#context;
    const requestedAt = claimedAt - (clock.now() - since);
    const firstClaimedAt = readFirstClaim(before ?? { firstClaimedAt: claimedAt });
    return Math.min(firstClaimedAt, claimedAt, requestedAt);
  }

  /** A `since` after the first claim is the time of the call, not of the payment. */
  #rejectLaterSince({ firstClaimedAt }: OpenEntry | NotPaidEntry, now: number): void {
    const { clock, since = Number.NEGATIVE_INFINITY, pipeline } = this.#context;
    if (firstClaimedAt === epoch) return;
    const claimedAt = clock.now() - (now - firstClaimedAt);
    if (!(since > claimedAt + defaultClockSkew)) return;
    const message = `expected the time at which this payment was first requested; an earlier call claimed it at ${formatTime(claimedAt)}`;
    const hint = 'Pass the timestamp of its job, the same at every call';
    const issue = { path: 'options.since', message, hint };
    const error = invalidArguments(this.#call, [issue], pipeline.redact);
    const parts = {
      what: 'Whether the payment was made is not known yet',
      hint: 'Fix the arguments and call createOnce again',
    };
    const { commonFields } = this.#journal.errors;
    throw reattribute(error, parts, { ...commonFields, retryable: false });
  }

  /** Whether the journal records a transfer as the payment of another reference. */
  async #isOtherPayment({ id, description }: Transfer): Promise<boolean> {
    // A description that is no reference is in no journal, and a store may not take it.
    if (!isReference(description) || description === this.#reference) return false;
    const entry = await this.#journal.read(description);
    return entry?.state === 'paid' && entry.transferId === id;
  }

  /** Writes the entry that an operator can see and resolve, and returns the error. */
  async #recordAmbiguous(
    before: OpenEntry | NotPaidEntry | undefined,
    input: OnceInput,
    candidates: readonly Transfer[],
  ): Promise<PaymentInDoubtError> {
    // A transfer without an id counts, though it cannot be named.
    const ids = candidates.map(({ id }) => id).filter(isTransferId);
    const shownIds = ids.slice(0, maxShownCandidates);
    const claim = isOpen(before) ? before : await this.#describeUnclaimed(before, input);
    const after: AmbiguousEntry = { ...claim, state: 'ambiguous', candidates: shownIds };
    const isWritten = before?.state === 'ambiguous' && before.candidates.join() === shownIds.join();
    if (!isWritten) await this.#journal.tryToSwap(before, after);
    const rest = candidates.length - shownIds.length;
    const names = shownIds.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
    return this.#journal.errors.createInDoubtError(
      'ambiguous',
      `The list shows transfers that may be this payment (${names}): an operator decides with transfers.resolveOnce`,
      { candidates: shownIds, claimedAt: isOpen(before) ? before.claimedAt : undefined },
    );
  }

  /** The fields of an entry for a payment that no call has claimed, or none since an operator's decision. */
  async #describeUnclaimed(
    before: NotPaidEntry | undefined,
    input: OnceInput,
  ): Promise<Omit<SendingEntry, 'state'>> {
    const { clock, since, baseUrl } = this.#context;
    const now = await this.#journal.now();
    // The journal may have lost an earlier claim, so only the caller can know when the first one was made.
    const requestedAt = since === undefined ? epoch : now - (clock.now() - since);
    return {
      claimId: crypto.randomUUID(),
      host: hostName(),
      claimedAt: now,
      expiresAt: now,
      firstClaimedAt: Math.min(requestedAt, readFirstClaim(before ?? { firstClaimedAt: now })),
      ...keepDismissed(before),
      platform: baseUrl,
      input,
    };
  }

  /** An entry of another platform is believed when the transfer of its id is read here. */
  async #describeRecorded(entry: PaidEntry): Promise<MadePayment> {
    const { platform, transferId } = entry;
    let read = (): Promise<Transfer> => this.#readPaid(entry);
    if (platform !== this.#context.baseUrl) {
      const transfer = await this.#readPaid(entry);
      read = () => Promise.resolve(transfer);
    }
    return { result: 'recorded', transferId, read };
  }

  async #readPaid({ transferId, input, paidAt, platform }: PaidEntry): Promise<Transfer> {
    this.#journal.startPhase(this.#context.signal);
    let transfer: Transfer;
    try {
      transfer = await this.#context.get(transferId);
    } catch (error) {
      if (!(error instanceof PaymentsError)) throw error;
      if (error instanceof NotFoundError && platform !== this.#context.baseUrl) {
        throw this.#conflictError(
          `The payment was made (${transferId}) on another platform (${platform}), and is not found here`,
          error,
        );
      }
      // A replica may not show a transfer that was made a moment ago.
      const isYoung = async (): Promise<boolean> =>
        (await this.#journal.now()) - paidAt < this.#context.gracePeriod;
      const retryable = !(error instanceof NotFoundError) || (await isYoung());
      const hint = retryable ? 'Call createOnce again to get it.' : `${checkJournal}.`;
      const what = `The payment was made (${transferId}), but could not be read`;
      throw reattribute(error, { what, hint }, { ...this.#journal.errors.commonFields, retryable });
    }
    const isElsewhere = platform !== this.#context.baseUrl;
    if (isElsewhere && transfer.description !== input.description) {
      throw this.#conflictError(
        `The payment was made (${transferId}) on another platform (${platform}), and here that transfer is another payment`,
      );
    }
    // The ids of a sandbox start again after a reset, and its journal may be older.
    if (!isOtherPayment(transfer, input)) return transfer;
    throw this.#conflictError(
      `The journal names ${transferId} for this payment, but that transfer is another payment.\n${checkJournal}`,
    );
  }

  /** Records that it is paid. If the journal fails, the platform's list still has the transfer. */
  async #recordPaid<T extends TransferCreated>(
    before: OpenEntry | NotPaidEntry | undefined,
    input: OnceInput,
    transfer: T,
    { isFound = false } = {},
  ): Promise<T> {
    const { id } = transfer;
    const paid: PaidEntry = {
      state: 'paid',
      transferId: id,
      paidAt: await this.#journal.readTime(),
      platform: this.#context.baseUrl,
      input,
    };
    let current: JournalEntry | undefined = before;
    for (let tries = 1; tries <= maxRecordTries; tries += 1) {
      if ((await this.#journal.tryToSwap(current, paid)) !== false) return transfer;
      current = await this.#journal.read().catch(() => paid);
      if (current?.state === 'paid') break;
      // The call of another claim has made, or sees, the payment, too.
      const claimId = isOpen(before) ? before.claimId : undefined;
      if (isOpen(current) && current.claimId !== claimId) break;
    }
    if (current?.state === 'paid' && current.transferId === id) return transfer;
    if (isFound && current?.state !== 'paid') throw this.#inProgressError();
    const others = await this.#otherIds(current, input);
    throw this.#journal.errors.createInDoubtError(
      'ambiguous',
      `The payment was made (${id}), and another call has changed the entry: it may have been made twice, and an operator decides`,
      { candidates: [...new Set([id, ...others])].slice(0, maxShownCandidates) },
    );
  }

  /** Ids of transfers by which another call may have made the payment. */
  async #otherIds(
    entry: JournalEntry | undefined,
    input: OnceInput,
  ): Promise<readonly TransferId[]> {
    if (entry?.state === 'paid') return [entry.transferId];
    const { transfer, candidates } = await this.#search(undefined, input);
    return [...candidates, ...(transfer ? [transfer] : [])]
      .map(({ id }) => id)
      .filter(isTransferId);
  }

  #rejectOtherFields({ input: recorded }: JournalEntry, input: OnceInput): void {
    const differing = findDifferingFields(recorded, input);
    if (differing.length === 0) return;
    throw this.#conflictError(
      `The journal has this reference with other terms: ${differing.join(', ')}.\nIf it is the same payment, pass the terms of its first call`,
    );
  }

  #rejectOtherPlatform(entry: OpenEntry | NotPaidEntry): void {
    if (!isOpen(entry) || entry.platform === this.#context.baseUrl) return;
    throw this.#conflictError(
      `The entry belongs to another platform (${entry.platform}).\nIf only its address has changed, an operator decides with transfers.resolveOnce and force`,
    );
  }

  async #rejectOtherPayment(id: TransferId, input: OnceInput): Promise<void> {
    const transfer = await this.#context.get(id);
    if (isOtherPayment(transfer, input)) {
      throw this.#conflictError(`${id} is another payment, by its terms and description`);
    }
    if (await this.#isOtherPayment(transfer)) {
      throw this.#conflictError(`${id} was made for another reference (${transfer.description})`);
    }
  }

  /** The transfers that the operator dismisses. Without `force`, the payment must not be among them. */
  async #listCandidates(
    entry: OpenEntry | NotPaidEntry,
    now: number,
    force: boolean,
  ): Promise<TransferId[]> {
    if (!isOpen(entry)) return [];
    const { input } = entry;
    const ids = [];
    try {
      if (!force) await this.#rejectForeignKey(entry);
      // Twice, as before a takeover.
      for (let scan = 1; scan <= 2; scan += 1) {
        const { transfer, candidates } = await this.#search(entry, input);
        if (transfer !== undefined && !force) {
          throw this.#conflictError(`The list shows the payment (${transfer.id})`);
        }
        ids.push(...[...candidates, ...(transfer ? [transfer] : [])].map(({ id }) => id));
      }
    } catch (error) {
      if (!force) throw error;
      this.#journal.startPhase(this.#context.signal);
    }
    const retryAfterMs = entry.expiresAt - now;
    if (retryAfterMs > 0 && !force) throw this.#inDoubtError(entry, undefined, '', retryAfterMs);
    return ids.filter(isTransferId);
  }

  /** The list of an account that this credential cannot read is empty, whatever was paid from it. */
  async #rejectForeignKey(entry: OpenEntry): Promise<void> {
    const { sourceAccountId } = entry.input;
    try {
      await this.#context.getAccount(sourceAccountId);
    } catch (error) {
      if (!(error instanceof PaymentsError) || error.retryable)
        throw this.#inDoubtError(entry, error);
      throw this.#conflictError(
        `The source account (${sourceAccountId}) cannot be read: its list proves nothing.\nUse the credential of the payment`,
        error,
      );
    }
  }

  #unknownReferenceError(): Error {
    const message = 'the journal has no entry for it';
    const hint = 'Check its spelling and the journal';
    const { redact } = this.#context.pipeline;
    return invalidArguments(this.#call, [{ path: 'reference', message, hint }], redact);
  }

  #conflictError(description: string, cause?: unknown): PaymentInDoubtError {
    return this.#journal.errors.createInDoubtError('conflict', description, { cause });
  }

  /** Another call has the claim, as far as `claim` is known. */
  #inProgressError(claim?: OpenEntry): PaymentInDoubtError {
    const description = 'Another call is making this payment, or was interrupted';
    return this.#journal.errors.createInDoubtError('in_progress', description, {
      retryAfterMs: claim === undefined ? inProgressRetryMs : this.#retryAfter(claim),
      claimedAt: claim?.claimedAt,
      expiresAt: claim?.expiresAt,
    });
  }

  #inDoubtError(
    claim: OpenEntry | undefined,
    cause?: unknown,
    detail = '',
    retryAfterMs = this.#retryAfter(claim),
  ): PaymentInDoubtError {
    const reason =
      cause instanceof PaymentsError ? (cause.attempts.at(-1)?.reason ?? cause.name) : '';
    const lines = [
      'Whether the payment was made is not known yet',
      reason && `The cause: ${reason}`,
      detail,
    ];
    return this.#journal.errors.createInDoubtError('in_doubt', lines.filter(Boolean).join('.\n'), {
      retryAfterMs,
      cause,
      claimedAt: claim?.claimedAt,
      expiresAt: claim?.expiresAt,
    });
  }

  /** Waits grow with the age of a claim, so that many payments in doubt do not flood the platform. */
  #retryAfter(claim: OpenEntry | undefined): number {
    const now = this.#journal.estimateTime();
    if (claim === undefined || now === undefined) return minRetryMs;
    const timeLeft = claim.expiresAt - now;
    const claimAge = Math.max(minRetryMs, now - claim.claimedAt);
    return Math.min(claimAge, timeLeft > 0 ? timeLeft : maxExpiredRetryMs);
  }
}

/** A journal may have lost a field that it does not know. */
const readFirstClaim = ({ firstClaimedAt }: { firstClaimedAt?: number }): number =>
  firstClaimedAt ?? epoch;

/** An operator has dismissed these transfers once for all calls. */
const keepDismissed = (
  before: OpenEntry | NotPaidEntry | undefined,
): Pick<SendingEntry, 'dismissed'> =>
  before?.dismissed === undefined ? {} : { dismissed: before.dismissed };

const describeMade = (result: 'created' | 'found', transfer: TransferCreated): MadePayment => ({
  result,
  transferId: transfer.id,
  transfer,
});

const describeSlowSearch = (timeout: number, pages: number): string =>
  `The search of the list did not end within ${timeout} ms (totalTimeout); it read ${pages} pages.\nWhat helps: transfersNewestFirst with since, createAllOnce, a journal that does not forget, or a larger totalTimeout`;

const checkJournal =
  'Check that the journal belongs to this platform; a sandbox that was reset needs a new one';
