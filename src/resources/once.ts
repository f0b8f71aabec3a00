import type { Clock } from '../calls/clock.ts';
import { Deadline, Stopped } from '../calls/deadline.ts';
import {
  AbortError,
  isPaymentsError,
  PaymentsError,
  reattribute,
  UnsettledError,
  type CallIdentity,
  type UnsettledReason,
} from '../errors/errors.ts';
import { redactError } from '../errors/error-copy.ts';
import type { Redact } from '../errors/redact.ts';
import type { Journal, JournalEntry, PaidEntry, SendingEntry } from '../journals/journal.ts';
import {
  isTransferId,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferId,
} from '../schemas/transfer.ts';
import { sameAmount } from './compare-transfer.ts';
import type { Reconciliation } from './reconcile.ts';

/*
 * A payment made once. The journal is written before the first byte, and the platform's own list is the
 * memory that outlives everybody: whoever finds a claim looks there first, and sends again only when what
 * an earlier call has sent can no longer take effect.
 *
 *   absent -> sending -> paid          a certain refusal takes the claim out again
 */

const call: CallIdentity = {
  operation: 'transfers.createOnce',
  method: 'POST',
  path: '/transfers',
};

/** A payment with its reference. */
export type OnceInput = TransferCreateInput & { readonly description: string };

/** What createOnce does to the platform. */
export interface OnceApi {
  /** Sends the payment; nothing leaves after `notAfter` of the wall clock. */
  create(totalTimeout: number, notAfter: number): Promise<TransferCreated>;
  /** Looks for it in the list of Transfers, however far back. */
  look(totalTimeout: number): Promise<Reconciliation>;
  get(id: TransferId, totalTimeout: number): Promise<Transfer>;
}

/** How one call of createOnce is made. */
export interface OnceSettings {
  readonly journal: Journal;
  /** How long a request may take effect after it has left, in milliseconds. */
  readonly settle: number;
  readonly totalTimeout: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Required<Clock>;
  readonly redact: Redact;
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
    return entry.state === 'paid' ? await this.#paid(entry) : await this.#resume(entry);
  }

  /** Nobody is known to have tried. */
  async #first(): Promise<TransferCreated> {
    if (this.#settings.journal.forgets === true) {
      const found = await this.#look();
      if (found !== undefined) return await this.#remember(undefined, found);
    }
    return await this.#send(undefined);
  }

  /** Somebody has tried, and it is not known what came of it. */
  async #resume(claim: SendingEntry): Promise<TransferCreated> {
    // Before the look: the transfer may appear while one looks.
    const now = await this.#journal.now();
    const found = await this.#look();
    if (found !== undefined) return await this.#remember(claim, found);
    if (now >= claim.until) return await this.#send(claim);
    const running = claim.until - this.#settings.settle - now;
    throw running > 0
      ? this.#unsettled('in_progress', 'Another call is making this payment', {
          retryAfterMs: Math.min(running, later),
        })
      : this.#inDoubt(claim.until - now);
  }

  /** Claims the payment and sends it. `before` is an earlier claim whose time is over. */
  async #send(before: SendingEntry | undefined): Promise<TransferCreated> {
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
      return await this.#notCreated(error, claim, before !== undefined, () =>
        Math.max(0, totalTimeout + settle - (clock.elapsed() - started)),
      );
    }
    this.#journal.extend();
    return await this.#remember(claim, created);
  }

  /** The request was refused, never left, or nobody knows. */
  async #notCreated(
    error: unknown,
    claim: SendingEntry,
    tookOver: boolean,
    left: () => number,
  ): Promise<TransferCreated> {
    const certain = isPaymentsError(error) && error.outcome !== 'unknown';
    if (certain && !tookOver) {
      await this.#journal.tryToSwap(claim, undefined);
      throw error;
    }
    if (error instanceof AbortError) throw error;
    let found: TransferCreated | undefined;
    try {
      found = await this.#look();
    } catch (failed) {
      if (failed instanceof UnsettledError && failed.reason === 'ambiguous') throw failed;
      throw this.#inDoubt(left(), error);
    }
    if (found !== undefined) return await this.#remember(claim, found);
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
      if (error instanceof AbortError) throw error;
      throw this.#inDoubt(later, error);
    }
    if (answer.result === 'found') return answer.transfer;
    if (answer.result === 'not_found') return undefined;
    const candidates: TransferId[] = [];
    for (const { id, description } of answer.candidates) {
      if (!(await this.#isAnothers(id, description))) candidates.push(id);
    }
    if (candidates.length === 0) return undefined;
    throw this.#unsettled(
      'ambiguous',
      `The list shows ${candidates.length === 1 ? 'a transfer' : 'transfers'} that may be this payment (${candidates.join(', ')}): a person has to decide, with transfers.settleOnce`,
      { candidates },
    );
  }

  /** Whether the journal knows a transfer as the payment of its own description. */
  async #isAnothers(id: TransferId, description: string | null | undefined): Promise<boolean> {
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
        operation: call.operation,
        outcome: 'unknown',
        retryable: true,
        startedAt: new Date(this.#settings.clock.now()).toISOString(),
        message: `The payment was made (${transferId}), but the transfer could not be read. Call createOnce again to get it.\n${error.message}`,
      });
    }
  }

  /** Writes down that it is paid. What cannot be written, the platform's list remembers. */
  async #remember<T extends TransferCreated>(
    before: SendingEntry | undefined,
    transfer: T,
  ): Promise<T> {
    const { id } = transfer;
    const paid: PaidEntry = { state: 'paid', transferId: id, input: this.#input };
    if ((await this.#journal.tryToSwap(before, paid)) !== false) return transfer;
    const entry = await this.#journal.tryToRead();
    if (entry === 'unreadable') return transfer;
    const other = entry?.state === 'paid' ? entry.transferId : undefined;
    if (other === id) return transfer;
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
      {},
    );
  }

  #inDoubt(retryAfterMs: number, cause?: unknown): UnsettledError {
    return this.#unsettled(
      'in_doubt',
      'Whether the payment was made is not known yet',
      { retryAfterMs, cause },
    );
  }

  #unsettled(
    reason: UnsettledReason,
    sentence: string,
    facts: { retryAfterMs?: number; candidates?: readonly TransferId[]; cause?: unknown },
  ): UnsettledError {
    return unsettled(this.#reference, reason, sentence, facts, this.#settings.redact);
  }
}

function unsettled(
  reference: string,
  reason: UnsettledReason,
  sentence: string,
  { retryAfterMs, candidates, cause }: {
    retryAfterMs?: number;
    candidates?: readonly TransferId[];
    cause?: unknown;
  },
  redact: Redact,
): UnsettledError {
  const again =
    retryAfterMs === undefined
      ? ''
      : `\nCall createOnce again in ${Math.ceil(retryAfterMs)} ms (retryAfterMs); it sends nothing twice.`;
  return new UnsettledError(redact(`${sentence}.\nReference: ${reference}.${again}`), {
    ...call,
    outcome: 'unknown',
    retryable: retryAfterMs !== undefined,
    reason,
    reference: redact(reference),
    retryAfterMs: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs),
    candidates,
    cause: cause instanceof PaymentsError ? cause : cause === undefined ? undefined : redactError(cause, redact),
  });
}

/** The caller's journal, whose every answer is checked and has to come in time. */
class GuardedJournal {
  readonly #reference: string;
  readonly #settings: OnceSettings;
  #deadline: Deadline;

  constructor(reference: string, settings: OnceSettings) {
    this.#reference = reference;
    this.#settings = settings;
    this.#deadline = this.#newDeadline();
  }

  #newDeadline(): Deadline {
    const { clock, totalTimeout, signal } = this.#settings;
    return new Deadline(clock, totalTimeout, 'total', { signals: [signal] });
  }

  close(): void {
    this.#deadline.close();
  }

  /** The last steps have time of their own, and are done for a caller who has left, too. */
  extend(): void {
    this.#deadline.close();
    const { clock, totalTimeout } = this.#settings;
    this.#deadline = new Deadline(clock, totalTimeout, 'total');
  }

  async read(reference: string): Promise<JournalEntry | undefined> {
    const entry = await this.#ask('read', (journal) => journal.read(reference));
    if (entry === undefined || isEntry(entry)) return entry;
    throw this.#broken('holds an entry that this version of the SDK cannot read');
  }

  async swap(before: JournalEntry | undefined, after: JournalEntry | undefined): Promise<boolean> {
    const done = await this.#ask('swap', (journal) =>
      journal.swap(this.#reference, before, after),
    );
    if (typeof done === 'boolean') return done;
    throw this.#broken('did not answer true or false to swap');
  }

  async now(): Promise<number> {
    const now = await this.#ask('now', (journal) => journal.now());
    if (Number.isFinite(now)) return now;
    throw this.#broken('gave no time');
  }

  /** Undefined when the journal failed. */
  async tryToSwap(
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean | undefined> {
    try {
      return await this.swap(before, after);
    } catch {
      return undefined;
    }
  }

  async tryToRead(): Promise<JournalEntry | undefined | 'unreadable'> {
    try {
      return await this.read(this.#reference);
    } catch {
      return 'unreadable';
    }
  }

  async #ask<T>(what: string, ask: (journal: Journal) => Promise<T>): Promise<T> {
    try {
      this.#deadline.check();
      return await this.#deadline.race(ask(this.#settings.journal));
    } catch (error) {
      if (!(error instanceof Stopped)) throw this.#broken(`failed (${what})`, error);
      if (error.why.by !== 'caller') throw this.#broken(`did not answer in time (${what})`);
      throw new AbortError('The call was aborted by its signal.', {
        ...call,
        outcome: 'unknown',
        cause: error.why.reason,
      });
    }
  }

  #broken(what: string, cause?: unknown): UnsettledError {
    const sentence = `The journal ${what}, so nothing was sent`;
    return unsettled(this.#reference, 'journal', sentence, { cause }, this.#settings.redact);
  }
}

function isEntry(entry: unknown): entry is JournalEntry {
  if (typeof entry !== 'object' || entry === null) return false;
  const { state, by, begun, until, transferId, input } = entry as Partial<SendingEntry & PaidEntry> & { state?: unknown };
  if (typeof input !== 'object') return false;
  if (state === 'paid') return isTransferId(transferId);
  return state === 'sending' && typeof by === 'string' && Number.isFinite(begun) && Number.isFinite(until);
}
