import { callHook } from '../calls/hooks.ts';
import type { ReadInput } from '../calls/inputs.ts';
import {
  AbortError,
  ApiError,
  isOutcomeUnknown,
  PaymentInDoubtError,
  PaymentsError,
  type CallIdentity,
} from '../errors/errors.ts';
import { createError, messagePartsOf } from '../errors/message.ts';
import { isReference } from '../internal/formats.ts';
import { warn } from '../internal/runtime.ts';
import { countOf, formatTime, formatWait } from '../internal/text.ts';
import { fieldOf } from '../internal/thrown.ts';
import { transferCreateInputSchema, type OnceInput, type Transfer } from '../schemas/transfer.ts';
import { findDifferingFields } from '../search/compare.ts';
import type { BatchResult, TransferredResult } from './batch-results.ts';
import { applyOptions, type ClientContext, type OnceContext } from './context.ts';
import { createOnceEvent, describeEnd, isOldPayment, payOnce } from './create-once.ts';
import { createCall, type Sender } from './creation.ts';
import { GuardedJournal, hasKeptClaim } from './guarded-journal.ts';
import { PaymentErrors } from './payment-errors.ts';
import { createOwnerCheck } from './payment-search.ts';
import { selectReadOptions, type OnceOptions } from './options.ts';
import { SharedSearches } from './shared-searches.ts';

export const batchCall: CallIdentity = {
  operation: 'transfers.createAllOnce',
  method: 'POST',
  path: '/transfers',
};

/** Makes the payments of one batch. Payments from one account share the searches of its list. */
export class BatchPayments {
  /** Whether payments without a claim need a search of the list first, as `readSearchFirst` found out. */
  searchesFirst = false;
  readonly #client: ClientContext;
  readonly #options: OnceOptions;
  readonly #context: OnceContext;
  readonly #searches: SharedSearches;
  /** Aborts the searches when the caller leaves the loop or the batch gives up, because they may take long. */
  readonly #leaving = new AbortController();
  readonly #readFirst = createFirstReader();
  readonly #startedAt: string;
  /** The running check of the credential, and when a check last renewed the credential. */
  #credentialCheck: Promise<CredentialState> | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** When the journal first failed, by the monotonic clock. */
  #journalFailedAt: number | undefined;
  /** Set when the batch gives up. Fails as `not_sent` instead of sending a payment. */
  #refusal: Sender | undefined;
  #oldCount = 0;
  #oldestPaidAt = Number.POSITIVE_INFINITY;

  /** `requestedAt` is the checked option `since` of the batch, in milliseconds since 1970. */
  constructor(client: ClientContext, options: OnceOptions, requestedAt: number | undefined) {
    this.#client = client;
    this.#options = options;
    this.#context = applyOptions(client, options, undefined, requestedAt);
    this.#searches = new SharedSearches(client.transferSearch, {
      paging: { ...selectReadOptions(options), signal: this.#leaving.signal },
      clock: client.clock,
      freshMs: this.#context.totalTimeout,
      since: requestedAt,
      isOtherPayment: () => createOwnerCheck(() => this.#openJournal()),
    });
    this.#startedAt = new Date(client.clock.now()).toISOString();
  }

  #openJournal(): GuardedJournal {
    return new GuardedJournal(batchCall, '', this.#context);
  }

  /** Asks the journal whether first claims need a search of the list. */
  async readSearchFirst(): Promise<void> {
    const journal = this.#openJournal();
    const isNever = journal.searchFirst === 'never';
    // If the journal fails here, the payments ask it again, and their results report the failure.
    this.searchesFirst = !isNever && (await journal.searchesFirst().catch(() => true));
  }

  /** When a search for a payment without a claim last read a page, by `clock.elapsed`. */
  get lastPageAt(): number {
    return this.#searches.lastPageAt;
  }

  /** Adds a payment that was read ahead to the next search of its account's list. */
  announce(copy: OnceInput): void {
    if (this.searchesFirst && isValid(copy)) this.#searches.addUnclaimed(copy);
  }

  async pay(copy: OnceInput): Promise<Omit<TransferredResult, 'input'>> {
    const refusal = this.#refusal;
    const payment = payOnce(this.#client, copy, this.#options, {
      readRecorded: refusal === undefined ? this.#readFirst : () => Promise.resolve(undefined),
      searches: this.#searches,
      sender: refusal,
    });
    const made = await payment.catch((error: unknown) => {
      // The failed request may have paid after the last search, so drop the result of that search.
      if (isOutcomeUnknown(error)) this.#searches.drop(copy);
      throw error;
    });
    const { transferId, transfer } = made;
    if (isOldPayment(made, this.#client.clock.now())) {
      this.#oldCount += 1;
      this.#oldestPaidAt = Math.min(this.#oldestPaidAt, made.paidAt);
    }
    return { reference: copy.description, result: describeEnd(made), transferId, transfer };
  }

  /** Prints one warning about rows of the batch whose payments were made more than a week ago. */
  warnOfOldPayments(): void {
    if (this.#oldCount === 0) return;
    const rows = countOf(this.#oldCount, 'row');
    warn(
      `payments-platform-sdk: ${rows} of a batch belong to payments that were made more than a week ago, the first on ${formatTime(this.#oldestPaidAt).slice(0, 10)}, so nothing was paid for them. If they were meant to pay again, they need other references.`,
    );
  }

  /** Reports a result to `hooks.onOnce`. `ms` is the time since the payment's first try. */
  report(result: BatchResult, copy: OnceInput, ms: number): void {
    if (this.searchesFirst && isValid(copy)) this.#searches.drop(copy);
    callHook(this.#client.hooks, 'onOnce', () => createOnceEvent(copy, result, ms));
  }

  /**
   * Finds out whether a 403 rejects the credential or only the payment that was tried at `triedAt`.
   * A 403 may concern one account, so the check reads the list of all transfers.
   */
  async checkCredential(triedAt: number): Promise<CredentialState> {
    if (triedAt < this.#renewedAt) return 'renewed';
    this.#credentialCheck ??= this.#readCredentialState();
    try {
      return await this.#credentialCheck;
    } finally {
      this.#credentialCheck = undefined;
    }
  }

  async #readCredentialState(): Promise<CredentialState> {
    const { api, pipeline, clock } = this.#client;
    const isRejected = () =>
      api.list({ limit: 1 }, selectReadOptions(this.#options)).then(
        () => false,
        (error: unknown) => error instanceof ApiError && [401, 403].includes(error.status),
      );
    if (!(await isRejected())) return 'accepted';
    if (!pipeline.renewCredential() || (await isRejected())) return 'rejected';
    this.#renewedAt = clock.elapsed();
    return 'renewed';
  }

  /**
   * Whether a failure of the journal ends the batch. Before the journal has kept a claim, a minute
   * of failures is enough, or a payment that has no time left for another try.
   */
  isHopeless(error: PaymentsError, isInTime: boolean): boolean {
    const isJournals = error instanceof PaymentInDoubtError && error.reason === 'journal';
    // Once the batch has given up, its payments only ask the journal, and each call may take
    // `totalTimeout` to fail.
    if (isJournals && this.#refusal !== undefined) return error.retryable;
    // An error that is not retryable may concern a single entry, and does not make the batch wait.
    if (!isJournals || !error.retryable || hasKeptClaim(this.#context.journal)) return false;
    const now = this.#client.clock.elapsed();
    this.#journalFailedAt ??= now;
    return !isInTime || now - this.#journalFailedAt >= maxJournalFailureMs;
  }

  /** Prints a warning that the batch tries a failed payment again. */
  warnOfFailure(error: PaymentsError, retryTimeout: number): void {
    warn(
      `payments-platform-sdk: a batch tries ${error.reference} again, for ${formatWait(retryTimeout)} at most (retryTimeout): ${describeProblem(error)}.`,
    );
  }

  /**
   * Gives up the batch: no payment searches or sends any more. Payments that were not tried yet get
   * their results from the journal.
   */
  refuse(cause: PaymentsError, retryAt: number): void {
    const { clock } = this.#client;
    warn(
      `payments-platform-sdk: a batch gives up; run it again after ${formatTime(retryAt)}. The cause: ${describeProblem(cause)}.`,
    );
    const create = (): PaymentsError =>
      createRefusal(cause, { retryAt, retryAfterMs: Math.max(0, retryAt - clock.now()) });
    const fail = () => Promise.reject(create());
    this.#refusal = { authorize: fail, send: fail };
    this.#searches.stop(create);
    this.stopSearches();
  }

  stopSearches(): void {
    this.#leaving.abort();
  }

  /**
   * Returns the result of an input that repeats the reference of an earlier, unpaid input. If the
   * earlier result was dropped, the outcome is unknown.
   */
  repeat({ input, copy }: ReadInput<OnceInput>, first: EndedPayment | undefined): BatchResult {
    const reference = copy.description;
    const errors = new PaymentErrors(createCall, reference, this.#context);
    if (first === undefined) {
      const error = errors.createError('in_doubt', forgottenProblem);
      return { reference, input, result: 'in_doubt', error };
    }
    // An invalid amount differs even from itself, so leave out fields with the same value.
    const terms = findDifferingFields(first.copy, copy).filter(
      (field) => Reflect.get(first.copy, field) !== Reflect.get(copy, field),
    );
    const differing = first.copy.description === reference ? terms : ['description', ...terms];
    if (differing.length === 0) return { ...first.result, input };
    const error = errors.createConflictError(
      `An earlier input of this batch has this reference with other terms: ${differing.join(', ')}.\nNothing was sent for this input, because a reference belongs to one payment`,
    );
    return { reference, input, result: 'in_doubt', error };
  }

  abortError(cause: unknown): AbortError {
    const startedAt = this.#startedAt;
    const facts = { outcome: 'unknown', retryable: true, startedAt, cause } as const;
    return new AbortError(abortMessage, { ...batchCall, ...facts });
  }
}

/** What a check of the credential found. `renewed`: accepted after the credential function was called again. */
export type CredentialState = 'accepted' | 'rejected' | 'renewed';

/** Returns the error itself or its cause, if that is an ApiError. */
export const findApiError = (error: unknown): ApiError | undefined =>
  [error, fieldOf(error, 'cause')].find((each) => each instanceof ApiError);

/** Returns the first line of the message of an error or its cause, because later lines concern a single payment. */
function describeProblem(error: PaymentsError): string {
  const { what } = messagePartsOf(error.cause instanceof PaymentsError ? error.cause : error);
  const [problem = ''] = what.split('\n');
  return problem.replace(/\.$/, '');
}

/** How long a journal that has kept no claim may fail before the batch ends. */
const maxJournalFailureMs = 60_000;

/** Creates the error of a payment that was not tried, because the batch had given up. */
const createRefusal = (
  cause: PaymentsError,
  times: Required<Pick<PaymentsError, 'retryAt' | 'retryAfterMs'>>,
): PaymentsError =>
  createError(
    PaymentsError,
    {
      what: 'The batch gave up before it tried this payment',
      hint: `Run the batch again with the same inputs, after ${formatTime(times.retryAt)}`,
      notes: [`The cause: ${describeProblem(cause)}.`],
      consequence: 'Nothing was sent.',
    },
    { ...createCall, ...times, outcome: 'not_sent', retryable: true, cause },
  );

/** A payment of a batch with its final, unpaid result. */
export interface EndedPayment {
  readonly copy: OnceInput;
  readonly result: BatchResult;
}

const forgottenProblem =
  'An earlier input of this batch has this reference, and was not paid: its result says why.\nNothing was sent for this input: run the batch again';

const abortMessage =
  'The batch was aborted by its signal.\nPayments without a result may have been made: run the batch again with the same inputs.';

const isValid = (copy: OnceInput): boolean =>
  transferCreateInputSchema().safeParse(copy).success && isReference(copy.description);

/**
 * Returns a function that reads recorded transfers until one read succeeds, and then returns
 * undefined. One success is enough to show that the journal belongs to this platform.
 */
function createFirstReader(): (read: () => Promise<Transfer>) => Promise<Transfer | undefined> {
  let reading: Promise<Transfer> | undefined;
  let hasRead = false;
  return async (read) => {
    while (!hasRead) {
      if (reading === undefined) {
        reading = read();
        try {
          const transfer = await reading;
          hasRead = true;
          return transfer;
        } finally {
          reading = undefined;
        }
      }
      await reading.catch(() => undefined);
    }
    return undefined;
  };
}
