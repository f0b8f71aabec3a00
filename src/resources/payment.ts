import {
  AbortError,
  isPaymentsError,
  reattribute,
  UnsettledError,
  type UnsettledReason,
} from '../errors/errors.ts';
import type { JournalEntry, NotPaidEntry, PaidEntry, SendingEntry } from '../journals/journal.ts';
import {
  isTransferId,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferId,
} from '../schemas/transfer.ts';
import { sameAmount } from './compare-transfer.ts';
import { abortedOnce, GuardedJournal, unsettled, type OnceSettings } from './guarded-journal.ts';
import type { Reconciliation } from './reconcile.ts';

/*
 * A payment made once. The journal is written before the first byte, and the platform's own list is the
 * memory that outlives everybody: whoever finds a claim looks there first, and sends again only when what
 * an earlier call has sent can no longer take effect.
 *
 *   absent -> sending -> paid          a certain refusal takes the claim out again
 *             sending -> not_paid      by a person's word; the next call sends
 */

/** A payment with its reference. */
export type OnceInput = TransferCreateInput & {
  /** The reference: a text of this payment's own, which no other payment ever has. */
  readonly description: string;
};

/** What createOnce does to the platform. */
export interface OnceApi {
  /** Sends the payment; nothing leaves after `notAfter` of the wall clock. */
  create(totalTimeout: number, notAfter: number): Promise<TransferCreated>;
  /** Looks for it in the list of Transfers, however far back. */
  look(totalTimeout: number): Promise<Reconciliation>;
  get(id: TransferId, totalTimeout: number): Promise<Transfer>;
}

/** When to ask again about a call that is at it; most are done sooner. */
const soon = 1_000;
const later = 5_000;

export async function payOnce(
  api: OnceApi,
  input: OnceInput,
  settings: OnceSettings,
): Promise<TransferCreated> {
  const payment = new Payment(api, input, settings);
  try {
    return await payment.make();
  } finally {
    payment.close();
  }
}

/** One call of createOnce. */
class Payment {
  readonly #api: OnceApi;
  readonly #input: OnceInput;
  readonly #reference: string;
  readonly #settings: OnceSettings;
  readonly #journal: GuardedJournal;

  constructor(api: OnceApi, input: OnceInput, settings: OnceSettings) {
    this.#api = api;
    this.#input = input;
    this.#reference = input.description;
    this.#settings = settings;
    this.#journal = new GuardedJournal(input.description, settings);
  }

  close(): void {
    this.#journal.close();
  }

  async make(): Promise<TransferCreated> {
    const entry = await this.#journal.read(this.#reference);
    if (entry === undefined) return await this.#first();
    this.#refuseConflict(entry);
    if (entry.state === 'paid') return await this.#paid(entry);
    return entry.state === 'sending' ? await this.#resume(entry) : await this.#send(entry);
  }

  /** Nobody is known to have tried. */
  async #first(): Promise<TransferCreated> {
    if (this.#settings.journal.forgets === true) {
      const found = await this.#look();
      if (found !== undefined) return await this.#remember(undefined, found, 'seen');
    }
    return await this.#send(undefined);
  }

  /** Somebody has tried, and it is not known what came of it. */
  async #resume(claim: SendingEntry): Promise<TransferCreated> {
    // Before the look: the transfer may appear while one looks.
    const now = await this.#journal.now();
    const found = await this.#look();
    if (found !== undefined) return await this.#remember(claim, found, 'seen');
    if (now >= claim.until) return await this.#send(claim);
    const running = claim.until - this.#settings.settle - now;
    throw running > 0
      ? this.#unsettled('in_progress', 'Another call is making this payment', {
          retryAfterMs: Math.min(running, later),
        })
      : this.#inDoubt(claim.until - now);
  }

  /** Claims the payment and sends it. `before` is an earlier claim whose time is over, or what a person has said. */
  async #send(before: SendingEntry | NotPaidEntry | undefined): Promise<TransferCreated> {
    const { clock, settle, totalTimeout } = this.#settings;
    // Before the journal's time is read, so that nothing leaves when the claim has it that nothing does.
    const started = clock.elapsed();
    const notAfter = clock.now() + totalTimeout;
    const begun = await this.#journal.now();
    const claim: SendingEntry = {
      state: 'sending',
      by: crypto.randomUUID(),
      begun,
      until: begun + totalTimeout + settle,
      input: this.#input,
    };
    if (!(await this.#journal.swap(before, claim))) {
      throw this.#unsettled('in_progress', 'Another call has begun to make this payment', {
        retryAfterMs: soon,
      });
    }
    let created: TransferCreated;
    try {
      created = await this.#api.create(totalTimeout - (clock.elapsed() - started), notAfter);
    } catch (error) {
      this.#journal.extend();
      return await this.#notCreated(error, claim, before, () =>
        Math.max(0, totalTimeout + settle - (clock.elapsed() - started)),
      );
    }
    this.#journal.extend();
    return await this.#remember(claim, created, 'sent');
  }

  /** The request was refused, never left, or nobody knows. */
  async #notCreated(
    error: unknown,
    claim: SendingEntry,
    before: SendingEntry | NotPaidEntry | undefined,
    left: () => number,
  ): Promise<TransferCreated> {
    const certain = isPaymentsError(error) && error.outcome !== 'unknown';
    if (certain && before?.state !== 'sending') {
      await this.#journal.tryToSwap(claim, before);
      throw error;
    }
    if (error instanceof AbortError) throw abortedOnce(this.#settings, error.cause);
    let found: TransferCreated | undefined;
    try {
      found = await this.#look();
    } catch (failed) {
      const isAmbiguous = failed instanceof UnsettledError && failed.reason === 'ambiguous';
      if (isAmbiguous || failed instanceof AbortError) throw failed;
      throw this.#inDoubt(left(), error);
    }
    if (found !== undefined) return await this.#remember(claim, found, 'sent');
    if (!certain) throw this.#inDoubt(left(), error);
    // The earlier call can no longer take effect, and has not: the refusal is about this one.
    await this.#journal.tryToSwap(claim, undefined);
    throw error;
  }

  /** Looks for the transfer; undefined when there is none. */
  async #look(): Promise<Transfer | undefined> {
    let answer: Reconciliation;
    try {
      answer = await this.#api.look(this.#settings.totalTimeout);
    } catch (error) {
      if (error instanceof AbortError) throw abortedOnce(this.#settings, error.cause);
      throw this.#inDoubt(later, error);
    }
    if (answer.result === 'found') return answer.transfer;
    if (answer.result === 'not_found') return undefined;
    const left: Transfer[] = [];
    for (const transfer of answer.candidates) {
      if (!(await this.#isAnothers(transfer))) left.push(transfer);
    }
    if (left.length === 0) return undefined;
    // One that came without an id counts all the same.
    const candidates = left.map(({ id }) => id).filter(isTransferId);
    throw this.#unsettled(
      'ambiguous',
      `The list shows ${left.length} that may be this payment (${candidates.join(', ')}): a person has to decide, with transfers.settleOnce`,
      { candidates },
    );
  }

  /** Whether the journal knows a transfer as the payment of its own description. */
  async #isAnothers({ id, description }: Transfer): Promise<boolean> {
    if (typeof description !== 'string' || description === this.#reference) return false;
    const entry = await this.#journal.read(description);
    return entry?.state === 'paid' && entry.transferId === id;
  }

  async #paid({ transferId }: PaidEntry): Promise<Transfer> {
    try {
      return await this.#api.get(transferId, this.#settings.totalTimeout);
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      throw reattribute(error, {
        operation: this.#settings.call.operation,
        outcome: 'unknown',
        retryable: true,
        startedAt: this.#settings.startedAt,
        message: `The payment was made (${transferId}), but the transfer could not be read. Call createOnce again to get it.\n${error.message}`,
      });
    }
  }

  /** Writes down that it is paid. What cannot be written, the platform's list remembers. */
  async #remember<T extends TransferCreated>(
    before: SendingEntry | undefined,
    transfer: T,
    how: 'sent' | 'seen',
  ): Promise<T> {
    const { id } = transfer;
    const paid: PaidEntry = { state: 'paid', transferId: id, input: this.#input };
    if ((await this.#journal.tryToSwap(before, paid)) !== false) return transfer;
    const entry = await this.#journal.tryToRead();
    if (entry === 'unreadable') return transfer;
    const other = entry?.state === 'paid' ? entry.transferId : undefined;
    if (other === id) return transfer;
    if (how === 'seen' && entry?.state === 'sending') {
      // Whoever took over since this call read the entry has made what it saw, or sees it, too.
      throw this.#unsettled('in_progress', 'Another call is making this payment', {
        retryAfterMs: soon,
      });
    }
    throw this.#unsettled(
      'ambiguous',
      `The payment was made (${id}), and somebody else has changed the entry meanwhile, so it may have been made twice: a person has to look`,
      { candidates: other === undefined ? [id] : [id, other] },
    );
  }

  #refuseConflict({ input }: JournalEntry): void {
    const mine = this.#input;
    const differing = [
      ...(['sourceAccountId', 'destinationAccountId', 'counterpartyId'] as const).filter(
        (name) => input[name] !== mine[name],
      ),
      ...(sameAmount(input.amount, mine.amount) ? [] : ['amount']),
      ...((input.currency ?? 'USDC') === (mine.currency ?? 'USDC') ? [] : ['currency']),
    ];
    if (differing.length === 0) return;
    throw this.#unsettled(
      'conflict',
      `Another payment has this reference; it differs in ${differing.join(', ')}. Give each payment a description of its own`,
    );
  }

  #inDoubt(retryAfterMs: number, cause?: unknown): UnsettledError {
    return this.#unsettled('in_doubt', 'Whether the payment was made is not known yet', {
      retryAfterMs,
      cause,
    });
  }

  #unsettled(
    reason: UnsettledReason,
    sentence: string,
    facts?: Parameters<typeof unsettled>[4],
  ): UnsettledError {
    return unsettled(this.#settings, this.#reference, reason, sentence, facts);
  }
}
