import { defaultClockSkew } from '../calls/options.ts';
import {
  AbortError,
  PaymentInDoubtError,
  PaymentsError,
  type CallIdentity,
  type TimeoutError,
} from '../errors/errors.ts';
import type { JournalEntry, OpenEntry, PaidEntry, SendingEntry } from '../journals/journal.ts';
import {
  isTransferId,
  type OnceInput,
  type Transfer,
  type TransferCreated,
} from '../schemas/transfer.ts';
import { isEqual } from '../internal/objects.ts';
import { warn } from '../internal/runtime.ts';
import { findDifferingFields } from '../search/compare.ts';
import { epoch } from '../search/search.ts';
import type { OnceContext } from './context.ts';
import type { Sender } from './creation.ts';
import {
  findNextStep,
  findSituation,
  findSituationAfterRequest,
  type SearchResult,
  type Situation,
} from './decision.ts';
import { CallDoubt, warnOfTerms } from './doubts.ts';
import {
  createAmbiguous,
  createClaim,
  createPaid,
  findTimeLeft,
  isOpen,
  readFirstTime,
  withdrawClaim,
  type Before,
} from './entries.ts';
import { GuardedJournal } from './guarded-journal.ts';
import { searchForPayment, searchHint, transfersOf, type SearchCause } from './payment-search.ts';
import { readRecorded } from './recorded.ts';

/*
 * A call claims the payment in the journal before it sends the payment. A call that finds an
 * earlier claim searches the platform's list, and sends again only if no earlier request can still
 * take effect. Assumption A9, one journal and one reference for all callers: docs/proof.md.
 *
 *   absent    -> sending -> paid         a certain rejection removes the claim
 *   sending   -> ambiguous               the list shows transfers that may be the payment
 *   ambiguous -> sending, paid           a later search is clear
 *   sending, ambiguous -> not_paid, paid by an operator; after not_paid the next call sends
 *
 * decision.ts decides what to do next, and this file does it.
 */

/** A payment that was made. If an earlier call made the payment, `readTransfer` has returned `transfer`. */
export interface ReadPayment<T> extends Pick<MadePayment, 'result' | 'transferId'> {
  readonly transfer: TransferCreated | T;
  /** If the journal records the payment: when it was made, by the journal's clock. */
  readonly paidAt?: number | undefined;
}

/** A payment that this call made, or that is in the platform's list or the journal. */
type MadePayment =
  | {
      readonly result: 'created' | 'found';
      readonly transferId: string;
      readonly transfer: TransferCreated;
    }
  | {
      readonly result: 'recorded';
      readonly transferId: string;
      readonly paidAt: number;
      /** Reads the recorded transfer, and checks that the transfer is this payment. */
      readonly read: () => Promise<Transfer>;
    };

/** A payment's state and journal entry, from which a call decides whether to send, wait or fail. */
interface Position {
  readonly situation: Situation;
  readonly entry: Before;
  /** The error of this call's own request to make the payment. */
  readonly error?: unknown;
}

/** How many candidates an entry and an error name, because an operator cannot use more. */
export const maxShownCandidates = 10;
const repeatedIds =
  'payments-platform-sdk: the platform has given a new transfer an id that the journal has of an earlier payment, as a sandbox does that was restarted without --state. The earlier payment keeps its entry, as one of the platform before it was reset.';
/** How many times to try to record a payment as made, because other calls may change its entry. */
const maxRecordTries = 3;

/** One call of createOnce. */
export class Payment {
  readonly #input: OnceInput;
  readonly #sender: Sender;
  readonly #context: OnceContext;
  readonly #journal: GuardedJournal;
  readonly #doubt: CallDoubt;

  constructor(call: CallIdentity, input: OnceInput, sender: Sender, context: OnceContext) {
    this.#input = input;
    this.#sender = sender;
    this.#context = context;
    this.#journal = new GuardedJournal(call, input.description, context);
    const { clock, pipeline, sharedSearches } = context;
    const { redactOwn } = pipeline;
    const how = [this.#journal.isInMemory, sharedSearches?.batch] as const;
    this.#doubt = new CallDoubt(this.#terms, redactOwn, clock, ...how);
  }

  /**
   * Makes the payment, or returns the payment that an earlier call made. `readTransfer` decides
   * whether to read the transfer of a payment that the journal records.
   */
  async make<T>(
    readTransfer: (read: () => Promise<Transfer>) => Promise<T>,
  ): Promise<ReadPayment<T>> {
    try {
      const made = await this.#make();
      const { result, transferId } = made;
      const isRecorded = made.result === 'recorded';
      const transfer = isRecorded ? await readTransfer(made.read) : made.transfer;
      this.#doubt.end();
      return { result, transferId, transfer, paidAt: isRecorded ? made.paidAt : undefined };
    } catch (error) {
      this.#doubt.end(error);
      throw error;
    }
  }

  async #make(): Promise<MadePayment> {
    const entry = await this.#journal.readOwn(this.#input.description);
    if (isOpen(entry)) this.#doubt.addClaim();
    if (entry !== undefined) this.#rejectOtherFields(entry);
    if (entry?.state === 'paid') return await this.#describeRecorded(entry);
    return await this.#proceed(await this.#findPosition(entry));
  }

  /** Finds the situation of a payment that the journal does not record as made. */
  async #findPosition(stored: Before): Promise<Position> {
    const searchesFirst = await this.#journal.searchesFirst();
    if (stored === undefined) {
      return { situation: findSituation({ left: undefined, searchesFirst }), entry: undefined };
    }
    this.#journal.rejectOtherPlatform(stored);
    // Read the time before the search, because the transfer of a claim that expires during the
    // search may appear too late to be found.
    const now = await this.#journal.now();
    const entry = await this.#journal.correctTimes(stored, now);
    this.#rejectLaterSince(readFirstTime(entry), now);
    const left = isOpen(entry) ? findTimeLeft(entry, now, this.#context) : undefined;
    const isShared = entry.state === 'ambiguous' && entry.sharedWith !== undefined;
    return { situation: findSituation({ left, isShared, searchesFirst }), entry };
  }

  /** Searches, sends or records, step by step, until the payment is made or this call gives up. */
  async #proceed({ situation, entry, error }: Position): Promise<MadePayment> {
    const claim = isOpen(entry) ? entry : undefined;
    let found: SearchResult | undefined;
    for (;;) {
      const step = findNextStep(situation, found);
      switch (step.next) {
        case 'search':
          if (error === undefined) this.#answerFromLastSearch(situation, claim);
          found = await this.#search(entry, { cause: error, scans: step.scans });
          break;
        case 'record':
          return await this.#recordFound(entry, step.transfer);
        case 'ask':
          throw await this.#recordAmbiguous(entry, step.candidates);
        case 'ask_again':
          throw this.#createSharedError(entry);
        case 'send':
          return await this.#send(entry);
        case 'fail':
          throw error;
        case 'in_progress':
          throw this.#remember(situation, claim, this.#journal.errors.createInProgressError(claim));
        case 'in_doubt':
          throw this.#remember(
            situation,
            claim,
            this.#journal.errors.createInDoubtError(claim, error),
          );
      }
    }
  }

  #search(entry: Before, how: SearchCause): Promise<SearchResult> {
    return searchForPayment(this.#context, this.#journal, entry, this.#input, how);
  }

  /** Throws if this client has searched for the same claim, and `retryAfterMs` is not over yet. */
  #answerFromLastSearch(situation: Situation, claim: OpenEntry | undefined): void {
    const { lastSearches, clock } = this.#context;
    const elapsed = clock.elapsed();
    const last = lastSearches.find(claim, this.#context, elapsed);
    // A search from before the end of the claim's time does not delay a takeover.
    const isTooOld = situation === 'expired' && last?.situation !== 'takeover_rejected';
    if (last === undefined || isTooOld) return;
    const { errors } = this.#journal;
    const times = { retryAfterMs: last.until - elapsed };
    throw situation === 'claimed' && last.situation === 'claimed'
      ? errors.createInProgressError(claim, times)
      : errors.createInDoubtError(claim, last.cause, '', times);
  }

  /** Remembers a whole search that found nothing, so that a call that comes too early gets the same error. */
  #remember(
    situation: Situation,
    claim: OpenEntry | undefined,
    failure: PaymentInDoubtError,
  ): PaymentInDoubtError {
    const { lastSearches, clock, since, headers } = this.#context;
    const { cause, retryAfterMs } = failure;
    if (claim !== undefined && retryAfterMs !== undefined) {
      const until = clock.elapsed() + retryAfterMs;
      lastSearches.add(claim, { situation, cause, since, headers, until });
    }
    return failure;
  }

  /** Claims the payment and sends it. `before` is an expired claim or an operator's decision. */
  async #send(before: Before): Promise<MadePayment> {
    await this.#authorize(before);
    await this.#requireTime(before);
    const claim = await this.#claim(before);
    const isLate = this.#checkTime(0.5);
    if (isLate !== undefined) return await this.#handleFailure(isLate, claim, before);
    const { baseUrl, pipeline, sharedSearches } = this.#context;
    const circumstances = { batch: sharedSearches?.batch, isNew: before === undefined };
    if (!isOpen(before)) warnOfTerms(baseUrl, this.#input, pipeline.redactOwn, circumstances);
    this.#doubt.addRequest();
    let created: TransferCreated;
    try {
      // This machine's clocks were read before the journal's, so no request outlasts its claim.
      const { timeLeft, notAfter } = this.#journal;
      const checkStore = () => this.#journal.checkStore();
      created = await this.#sender.send(timeLeft, notAfter, checkStore);
    } catch (error) {
      if (error instanceof PaymentInDoubtError) return await this.#giveUp(error, claim, before);
      return await this.#handleFailure(error, claim, before);
    }
    await this.#recordPaid(claim, created);
    return { result: 'created', transferId: created.id, transfer: created };
  }

  /**
   * Calls the option `authorize`. If this call takes over an expired claim, a veto leaves the
   * payment in doubt, because the earlier call's request may have paid.
   */
  async #authorize(before: Before): Promise<void> {
    const { errors } = this.#journal;
    try {
      await this.#sender.authorize(this.#journal.timeLeft);
    } catch (error) {
      if (error instanceof AbortError) throw errors.createAbortError(error.cause);
      throw isOpen(before) ? errors.createInDoubtError(before, error) : error;
    }
  }

  /** Returns an error if less than this share is left of the time that a request needs. */
  #checkTime(share: number): TimeoutError | undefined {
    const { totalTimeout, timeout, lastSearches } = this.#context;
    const { timeLeft, errors } = this.#journal;
    if (timeLeft >= share * Math.min(totalTimeout / 2, timeout)) return undefined;
    const problem = `searches, authorize and the journal have left only ${Math.round(timeLeft)} of ${totalTimeout} ms (totalTimeout) for the request`;
    return errors.createNotSentError(
      problem,
      searchHint,
      lastSearches.addEndless(errors.reference),
    );
  }

  /** Throws if too little time is left, because a request that is cut off would leave the payment in doubt. */
  async #requireTime(before: Before): Promise<void> {
    const error = this.#checkTime(1);
    if (error === undefined) return;
    const { retryable } = error;
    throw isOpen(before)
      ? this.#journal.errors.createInDoubtError(before, error, '', { retryable })
      : await this.#journal.confirmNotSent(error);
  }

  /**
   * Claims the payment in the journal. Throws if another call was first, and withdraws the claim
   * and throws if the journal has not kept it.
   */
  async #claim(before: Before): Promise<SendingEntry> {
    const { totalTimeout, gracePeriod } = this.#context;
    const claimedAt = await this.#journal.now();
    const now = this.#context.clock.now();
    // A node of the platform may have a clock that is ahead. An earlier time only makes a search find more.
    const platformTime = Math.min(this.#context.readPlatformTime() ?? Number.NaN, now);
    const times = { claimedAt, totalTimeout, gracePeriod, platformTime };
    const claim = createClaim(before, times, this.#terms);
    if (!(await this.#journal.claim(before, claim)))
      throw this.#journal.errors.createInProgressError();
    try {
      await this.#journal.checkClaim(claim);
    } catch (error) {
      return await this.#giveUp(error, claim, before);
    }
    return claim;
  }

  /** Withdraws a claim whose payment was not sent, and throws `error`. */
  async #giveUp(error: unknown, claim: SendingEntry, before: Before): Promise<never> {
    this.#journal.startLastWrite();
    await this.#journal.tryToSwap(claim, withdrawClaim(before, claim, claim.claimedAt));
    throw error;
  }

  /**
   * Decides about the payment after its request failed, and withdraws the claim if the request
   * certainly had no effect. Returns the payment if the journal or the list shows it, or throws.
   */
  async #handleFailure(error: unknown, claim: SendingEntry, before: Before): Promise<MadePayment> {
    // Only the SDK's own errors prove an outcome, because another error may have a field `outcome`, too.
    const isCertain = error instanceof PaymentsError && error.outcome !== 'unknown';
    // `isTakeover` is true if another call has also claimed the payment, and so may have paid.
    const positionOf = (entry: Before, isTakeover = isOpen(before)): Position => {
      return { situation: findSituationAfterRequest({ isCertain, isTakeover }), entry, error };
    };
    if (!isCertain) {
      // Remember the payment as in doubt before the search, because the search may fail.
      this.#doubt.addClaim();
      return await this.#proceed(positionOf(claim));
    }
    this.#journal.startLastWrite();
    const withdrawn = withdrawClaim(before, claim, await this.#journal.readTime());
    const isWithdrawn = await this.#journal.tryToSwap(claim, withdrawn);
    // If another call has changed the entry, this call stood still past the end of its time, so the time restarts.
    if (isWithdrawn === false) this.#journal.restart();
    if (isWithdrawn !== true) {
      // The failure is certain only if no other call has changed the entry meanwhile.
      const entry = await this.#journal.readOr(claim);
      if (entry?.state === 'paid') return await this.#describeRecorded(entry);
      if (!isEqual(entry, withdrawn)) {
        this.#doubt.addClaim();
        return await this.#proceed(positionOf(entry, true));
      }
    }
    return await this.#proceed(positionOf(withdrawn));
  }

  get #terms() {
    return { input: this.#input, platform: this.#context.baseUrl };
  }

  #rejectOtherFields({ input: recorded }: JournalEntry): void {
    // If `prune` has dropped the terms of a paid entry, `readRecorded` compares those of the transfer.
    if (recorded.amount === undefined) return;
    const differing = findDifferingFields(recorded, this.#input);
    if (differing.length === 0) return;
    throw this.#journal.errors.createConflictError(
      `The journal has this reference with other terms: ${differing.join(', ')}.\nIf it is the same payment, pass the terms of its first call`,
    );
  }

  /** Throws if `since` is later than the first claim, because then `since` must be wrong. */
  #rejectLaterSince(firstClaimedAt: number, now: number): void {
    const { clock, since = Number.NEGATIVE_INFINITY } = this.#context;
    if (firstClaimedAt === epoch) return;
    const claimedAt = clock.now() - (now - firstClaimedAt);
    if (since > claimedAt + defaultClockSkew)
      throw this.#journal.errors.createSinceError(claimedAt);
  }

  /**
   * Describes a payment that the journal records as made. Reads the transfer at once if only the
   * transfer can show that this is the payment: on another platform, or after `prune`.
   */
  async #describeRecorded(entry: PaidEntry): Promise<MadePayment> {
    const { platform, transferId, paidAt, input } = entry;
    let read = () => readRecorded(entry, this.#input, this.#context, this.#journal);
    if (platform !== this.#context.baseUrl || input.amount === undefined) {
      const transfer = await read();
      read = () => Promise.resolve(transfer);
    }
    return { result: 'recorded', transferId, paidAt, read };
  }

  /** Records the payment as `ambiguous`, for an operator to decide. Returns the error to throw. */
  async #recordAmbiguous(
    before: Before,
    candidates: readonly Transfer[],
  ): Promise<PaymentInDoubtError> {
    // A candidate without an id is counted, although the message cannot name the transfer.
    const ids = candidates.map(({ id }) => id).filter(isTransferId);
    const shownIds = ids.slice(0, maxShownCandidates);
    const claim = isOpen(before) ? before : await this.#createExpiredClaim(before);
    // An earlier call may have written the same candidates.
    const isWritten = before?.state === 'ambiguous' && before.candidates.join() === shownIds.join();
    if (!isWritten) {
      const at = await this.#journal.readTime();
      const entry = createAmbiguous(before, { claim, candidates: shownIds, at });
      await this.#journal.tryToSwap(before, entry);
    }
    const rest = candidates.length - shownIds.length;
    const names = shownIds.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
    return this.#journal.errors.createError(
      'ambiguous',
      `The list shows transfers that may be this payment (${names}): an operator decides with transfers.decide`,
      { candidates: shownIds, claimedAt: isOpen(before) ? before.claimedAt : undefined },
    );
  }

  /** Creates an expired claim for a payment that the journal has no claim of. */
  async #createExpiredClaim(before: Before): Promise<OpenEntry> {
    const claimedAt = await this.#journal.now();
    // The payment may be older than this entry, so no time of the platform bounds a search for it.
    const times = { claimedAt, totalTimeout: 0, gracePeriod: 0, platformTime: undefined };
    // No request was sent, so no grace period runs from a deadline.
    const { deadline: _, ...claim } = createClaim(before, times, this.#terms);
    return claim;
  }

  /** Records a transfer that a search found. If the caller aborts, the next call finds it again. */
  async #recordFound(before: Before, transfer: Transfer): Promise<MadePayment> {
    await this.#recordPaid(before, transfer, { isFound: true });
    return { result: 'found', transferId: transfer.id, transfer };
  }

  /**
   * Records the transfer that this call made or, with `isFound`, found. Ignores a failed journal,
   * because the list still shows the transfer; throws if another call or payment contradicts the
   * record.
   */
  async #recordPaid(
    before: Before,
    transfer: TransferCreated,
    { isFound = false } = {},
  ): Promise<void> {
    const { id } = transfer;
    if (!isFound) this.#journal.startLastWrite();
    const at = await this.#journal.readTime();
    const claimId = isOpen(before) ? before.claimId : undefined;
    let current: JournalEntry | undefined = before;
    for (let tries = 1; tries <= maxRecordTries; tries += 1) {
      const paid = createPaid(current, { transferId: id, at }, this.#terms);
      const isWon = await this.#journal.tryToSwap(current, paid);
      if (isWon === true) return;
      const owner = await this.#journal.findPaid(id).catch(() => undefined);
      if (owner !== undefined && owner.input.description !== this.#input.description) {
        await this.#settleShared(current, isFound ? transfer : { id }, owner);
        continue;
      }
      // The swap is undefined if the journal fails, and this call then gives up.
      if (isWon === undefined) return;
      current = await this.#journal.readOr(paid);
      if (current?.state === 'paid') break;
      // The call that now holds the claim may have paid, too, or will find the transfer in the list.
      if (isOpen(current) && current.claimId !== claimId) break;
    }
    if (current?.state === 'paid' && current.transferId === id) return;
    if (isFound && current?.state !== 'paid') throw this.#journal.errors.createInProgressError();
    const others = await this.#findOtherIds(current);
    throw this.#journal.errors.createError(
      'ambiguous',
      `The payment was made (${id}), and another call has changed the entry: it may have been made twice, and an operator decides`,
      { candidates: [...new Set([id, ...others])].slice(0, maxShownCandidates) },
    );
  }

  /**
   * Handles a transfer that the journal records as the payment of `owner`. If the transfer has this
   * payment's reference, the platform was reset and reuses ids, so `owner` gives up the id;
   * otherwise throws, because an operator has to decide.
   */
  async #settleShared(
    current: JournalEntry | undefined,
    { id, description }: Partial<Transfer> & Pick<Transfer, 'id'>,
    owner: PaidEntry,
  ): Promise<void> {
    const { reads, baseUrl } = this.#context;
    const before = current?.state === 'paid' ? undefined : current;
    const claim = isOpen(before) ? before : await this.#createExpiredClaim(before);
    let shown = description;
    try {
      shown ??= (await reads.get(id, this.#journal.timeLeft)).description;
    } catch (error) {
      throw this.#journal.errors.createInDoubtError(claim, error, describeShared(id, owner));
    }
    if (shown === this.#input.description) {
      warn(repeatedIds);
      // The name contains the reference, because an earlier payment may have given up the same id
      // after another reset.
      const platform = `${baseUrl} before it was reset after ${owner.input.description}`;
      await this.#journal.release(owner, platform);
      return;
    }
    const at = await this.#journal.readTime();
    const sharedWith = owner.input.description;
    const entry = createAmbiguous(before, { claim, candidates: [id], sharedWith, at });
    await this.#journal.tryToSwap(before, entry);
    throw this.#createSharedError(entry);
  }

  /** Creates the error if the platform has one transfer for this and another payment. */
  #createSharedError(entry: Before): PaymentInDoubtError {
    const { candidates = [], sharedWith = '' } = entry?.state === 'ambiguous' ? entry : {};
    return this.#journal.errors.createError(
      'ambiguous',
      `The platform has one transfer (${candidates.join()}) for this payment and for ${sharedWith}: an operator decides with transfers.decide, first of ${sharedWith}. ${mockHint}`,
      { candidates },
    );
  }

  /** Finds the ids of other transfers by which another call may have made this payment. */
  async #findOtherIds(entry: JournalEntry | undefined): Promise<readonly string[]> {
    if (entry?.state === 'paid') return [entry.transferId];
    const search = this.#search(undefined, { scans: 'once' });
    // If the search fails, the error names only the transfer of this call.
    const found: SearchResult = await search.catch(() => ({ result: 'not_found' }));
    return transfersOf(found)
      .map(({ id }) => id)
      .filter(isTransferId);
  }
}

const mockHint = 'A mock has to give each creation an id of its own';

const describeShared = (id: string, { input }: PaidEntry): string =>
  `The platform gave this payment the transfer ${id} of ${input.description}. ${mockHint}`;
