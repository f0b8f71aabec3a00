import {
  isPaymentsError,
  NotFoundError,
  reattribute,
  type PaymentInDoubtError,
} from '../errors/errors.ts';
import type { JournalEntry, NotPaidEntry, PaidEntry, SendingEntry } from '../journals/journal.ts';
import {
  isTransferId,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferId,
} from '../schemas/transfer.ts';
import { isAnother, sameAmount } from './compare-transfer.ts';
import { GuardedJournal, soon, type OnceSettings } from './guarded-journal.ts';
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
  look(signal: AbortSignal): Promise<Reconciliation>;
  get(id: TransferId): Promise<Transfer>;
}

/** When to ask again about what may take longer. */
const later = 5_000;

/** One call of createOnce. */
export class Payment {
  readonly #api: OnceApi;
  readonly #input: OnceInput;
  readonly #settings: OnceSettings;
  readonly #journal: GuardedJournal;

  constructor(api: OnceApi, input: OnceInput, settings: OnceSettings) {
    this.#api = api;
    this.#input = input;
    this.#settings = settings;
    this.#journal = new GuardedJournal(input.description, settings);
  }

  async make(): Promise<TransferCreated> {
    try {
      return await this.#known(await this.#journal.read());
    } finally {
      this.#journal.close();
    }
  }

  /** Goes on from what the journal knows. */
  async #known(entry: JournalEntry | undefined): Promise<TransferCreated> {
    if (entry !== undefined) this.#refuseConflict(entry);
    if (entry?.state === 'paid') return await this.#paid(entry);
    const claim = entry?.state === 'sending' ? entry : undefined;
    if (claim !== undefined || (entry === undefined && this.#settings.journal.forgets === true)) {
      // Before the look: the transfer may appear while one looks.
      const left = claim === undefined ? 0 : claim.expiresAt - (await this.#journal.now());
      const found = await this.#look();
      if (found !== undefined) return await this.#remember(claim, found, true);
      const running = left - this.#settings.gracePeriod;
      if (running > 0) throw this.#journal.inProgress(Math.min(running, later));
      if (left > 0) throw this.#inDoubt(left);
      this.#journal.extend(this.#settings.signal);
    }
    return await this.#send(entry);
  }

  /** Claims the payment and sends it. `before` is an earlier claim whose time is over, or what a person has said. */
  async #send(before: SendingEntry | NotPaidEntry | undefined): Promise<TransferCreated> {
    const { clock, gracePeriod, totalTimeout } = this.#settings;
    // Before the journal's time is read, so that nothing leaves when the claim has it that nothing does.
    const started = clock.elapsed();
    const notAfter = clock.now() + totalTimeout;
    const claimedAt = await this.#journal.now();
    const claim: SendingEntry = {
      state: 'sending',
      claimId: crypto.randomUUID(),
      claimedAt,
      expiresAt: claimedAt + totalTimeout + gracePeriod,
      input: this.#input,
    };
    if (!(await this.#journal.swap(before, claim))) throw this.#journal.inProgress(soon);
    let created: TransferCreated;
    try {
      created = await this.#api.create(totalTimeout - (clock.elapsed() - started), notAfter);
    } catch (error) {
      this.#journal.extend();
      const left = totalTimeout + gracePeriod - (clock.elapsed() - started);
      return await this.#notCreated(error, claim, before, Math.max(0, left));
    }
    this.#journal.extend();
    return await this.#remember(claim, created);
  }

  /** The request was refused, never left, or nobody knows. */
  async #notCreated(
    error: unknown,
    claim: SendingEntry,
    before: SendingEntry | NotPaidEntry | undefined,
    left: number,
  ): Promise<TransferCreated> {
    const certain = isPaymentsError(error) && error.outcome !== 'unknown';
    if (certain && before?.state !== 'sending') {
      await this.#journal.tryToSwap(claim, before);
      throw error;
    }
    const found = await this.#look(left, error);
    if (found !== undefined) return await this.#remember(claim, found);
    if (!certain) throw this.#inDoubt(left, error);
    // The earlier call can no longer take effect, and has not: the refusal is about this one.
    await this.#journal.tryToSwap(claim, undefined);
    throw error;
  }

  /** Looks for the transfer; undefined when there is none. What to say when that fails is given. */
  async #look(retryAfterMs = later, why?: unknown): Promise<Transfer | undefined> {
    const { signal, totalTimeout } = this.#settings;
    this.#journal.extend(signal);
    const late = `: the list took more than ${totalTimeout} ms (totalTimeout)`;
    const answer = await this.#journal.inTime(
      (deadline) => this.#api.look(deadline.signal),
      () => this.#inDoubt(retryAfterMs, why, late),
      (error) => this.#inDoubt(retryAfterMs, why ?? error),
    );
    if (answer.result === 'found') return answer.transfer;
    if (answer.result === 'not_found') return undefined;
    const left: Transfer[] = [];
    for (const transfer of answer.candidates) {
      const { id, description } = transfer;
      const isOther = description && description !== this.#input.description;
      const entry = isOther ? await this.#journal.read(description) : undefined;
      // What the journal has as the payment of its own description is not this one.
      if (entry?.state !== 'paid' || entry.transferId !== id) left.push(transfer);
    }
    if (left.length === 0) return undefined;
    // One that came without an id counts all the same.
    const candidates = left.map(({ id }) => id).filter(isTransferId);
    throw this.#journal.inDoubtError(
      'ambiguous',
      `The list shows ${left.length} that may be this payment (${candidates.join(', ')}): a person has to decide, with transfers.resolveOnce`,
      { candidates },
    );
  }

  async #paid({ transferId, input }: PaidEntry): Promise<Transfer> {
    let transfer: Transfer;
    try {
      transfer = await this.#api.get(transferId);
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      const retryable = !(error instanceof NotFoundError);
      const remedy = retryable ? 'Call createOnce again to get it.' : `${whose}.`;
      throw reattribute(error, {
        ...this.#journal.facts,
        retryable,
        message: `The payment was made (${transferId}), but could not be read.\n${remedy}\n${error.message}`,
      });
    }
    // The ids of a sandbox begin again, and its journal may be older.
    if (!isAnother(transfer, input)) return transfer;
    const sentence = `The journal names ${transferId} for this payment, and that is another one.\n${whose}`;
    throw this.#journal.inDoubtError('conflict', sentence);
  }

  /** Writes down that it is paid. What cannot be written, the platform's list remembers. */
  async #remember<T extends TransferCreated>(
    before: SendingEntry | undefined,
    transfer: T,
    isSeen?: boolean,
  ): Promise<T> {
    const { id } = transfer;
    const paid: PaidEntry = { state: 'paid', transferId: id, input: this.#input };
    if ((await this.#journal.tryToSwap(before, paid)) !== false) return transfer;
    const entry = await this.#journal.read().catch(() => paid);
    const other = entry?.state === 'paid' ? entry.transferId : undefined;
    if (other === id) return transfer;
    // Whoever took over since this call read the entry has made what it saw, or sees it, too.
    if (isSeen && entry?.state === 'sending') throw this.#journal.inProgress(soon);
    throw this.#journal.inDoubtError(
      'ambiguous',
      `The payment was made (${id}), and another call has changed the entry: it may have been made twice, and a person has to decide`,
      { candidates: other === undefined ? [id] : [id, other] },
    );
  }

  #refuseConflict({ input }: JournalEntry): void {
    const mine = this.#input;
    const differing = terms.filter((name) =>
      name === 'amount'
        ? !sameAmount(input.amount, mine.amount)
        : (input[name] ?? 'USDC') !== (mine[name] ?? 'USDC'),
    );
    if (differing.length === 0) return;
    throw this.#journal.inDoubtError(
      'conflict',
      `Another payment has this reference; it differs in ${differing.join(', ')}. Give each payment a description of its own`,
    );
  }

  #inDoubt(retryAfterMs: number, cause?: unknown, more = ''): PaymentInDoubtError {
    const [why] = isPaymentsError(cause) ? cause.message.split(/\.?\n/) : [];
    const because = why === undefined ? '' : `.\nThe cause: ${why}`;
    const sentence = `Whether the payment was made is not known yet${more}${because}`;
    return this.#journal.inDoubtError('in_doubt', sentence, { retryAfterMs, cause });
  }
}

/** A journal goes with one platform. */
const whose = 'Is the journal that of this platform? A sandbox that was reset needs a new one';

/** What makes a payment another one. The default of the currency stands in for what is not given. */
const terms = [
  'sourceAccountId',
  'destinationAccountId',
  'counterpartyId',
  'amount',
  'currency',
] as const;
