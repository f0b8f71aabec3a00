import { invalidArguments } from '../calls/arguments.ts';
import { checkBy, checkOptions, defaultClockSkew, defaultGracePeriod } from '../calls/options.ts';
import type { Trace } from '../calls/tracing.ts';
import { NotFoundError, PaymentsError, type CallIdentity, type Issue } from '../errors/errors.ts';
import type { JournalEntry, NotPaidEntry, OpenEntry, PaidEntry } from '../journals/journal.ts';
import {
  isTransferId,
  transferCreateInputSchema,
  type OnceInput,
  type Transfer,
} from '../schemas/transfer.ts';
import { isReference } from '../internal/formats.ts';
import { isCertainlyOther, isFilled } from '../search/compare.ts';
import { epoch } from '../search/search.ts';
import { applyOptions, type ClientContext, type OnceContext } from './context.ts';
import { forgetPayment } from './doubts.ts';
import { createNotPaid, createPaid, isOpen, readDeadline, readHistory } from './entries.ts';
import { GuardedJournal } from './guarded-journal.ts';
import { checkReference, decideOptionChecks, type DecideOptions } from './options.ts';
import { maxShownCandidates } from './payment.ts';
import { createOwnerCheck, searchForPayment, transfersOf } from './payment-search.ts';

export const decideCall: CallIdentity = {
  operation: 'transfers.decide',
  method: 'GET',
  path: '/transfers/{id}',
};

const checkVerdict = /* @__PURE__ */ checkBy((value) =>
  value === 'not_paid' || isTransferId(value)
    ? undefined
    : { expected: `the id of a Transfer, or 'not_paid'` },
);

/** Records in the journal an operator's decision whether a payment in doubt was made. */
export async function decide(
  client: ClientContext,
  reference: string,
  verdict: string,
  options: DecideOptions | undefined,
  within: Trace,
): Promise<void> {
  const issues: Issue[] = [];
  const { by, force, ...onceOptions } = checkOptions(decideOptionChecks, options, issues);
  // A recorded payment has to be decided, even if `createOnce` would now reject its reference.
  if (!isReference(reference)) checkReference(reference, 'reference', issues);
  checkVerdict(verdict, 'verdict', issues);
  if (issues.length > 0) throw invalidArguments(decideCall, issues, client.pipeline.redact);
  const context = applyOptions(client, onceOptions, within);
  await new Verdict(reference, context, by, force).record(verdict);
  forgetPayment(context.baseUrl, reference);
}

/** An operator's decision on one payment. */
class Verdict {
  readonly #reference: string;
  readonly #context: OnceContext;
  readonly #journal: GuardedJournal;
  readonly #by: string | undefined;
  readonly #force: boolean;

  constructor(reference: string, context: OnceContext, by: string | undefined, force = false) {
    this.#reference = reference;
    this.#context = context;
    this.#journal = new GuardedJournal(decideCall, reference, context);
    this.#by = by;
    this.#force = force;
  }

  /**
   * Records the id of the transfer that is the payment, or `not_paid`. Throws if the journal or the
   * platform contradicts the decision; `force` skips some of these checks.
   */
  async record(verdict: string): Promise<void> {
    const { errors } = this.#journal;
    const stored = await this.#journal.readOwn(this.#reference);
    const decided = stored?.state === 'paid' ? stored.transferId : stored?.state;
    if (decided === verdict) return;
    if (stored?.state === 'paid' && !this.#force) {
      throw errors.createConflictError(`The payment was made (${stored.transferId})`);
    }
    if (isOpen(stored) && !this.#force) this.#journal.rejectOtherPlatform(stored);
    // Read the time before the search, because the transfer of a claim that expires during the
    // search may appear too late to be found.
    const now = await this.#journal.now();
    const before = stored && (await this.#journal.correctTimes(stored, now));
    const after =
      verdict === 'not_paid'
        ? await this.#decideNotPaid(before, now)
        : await this.#decidePaid(before, verdict, now);
    if (!(await this.#journal.swap(before, after))) throw errors.createInProgressError();
  }

  async #decideNotPaid(before: JournalEntry | undefined, now: number): Promise<NotPaidEntry> {
    if (before === undefined) throw this.#journal.errors.createReferenceError();
    const input = await this.#readInput(before);
    const recorded = before.state === 'paid' ? [before.transferId] : [];
    const listed = await this.#findCandidates(before, input, now, recorded);
    const decision = { listed, by: this.#by };
    return createNotPaid(before, now, decision, { input, platform: this.#context.baseUrl });
  }

  async #decidePaid(before: JournalEntry | undefined, id: string, now: number): Promise<PaidEntry> {
    const { errors } = this.#journal;
    const transfer = await this.#context.reads.get(id, this.#journal.timeLeft);
    const input =
      before === undefined ? readInputOf(transfer, this.#reference) : await this.#readInput(before);
    if (input === undefined || isCertainlyOther(transfer, input)) {
      throw errors.createConflictError(`${id} is another payment, by its terms and description`);
    }
    const isOtherPayment = createOwnerCheck(() => this.#journal);
    if (await isOtherPayment(transfer, input)) {
      throw errors.createConflictError(`${id} was made for another reference of this journal`);
    }
    if (transfer.description !== this.#reference) {
      if (before === undefined && !this.#force) {
        throw errors.createConflictError(
          `The journal has no entry of this payment, and ${id} has another description.\nCheck the reference; force records the transfer all the same`,
        );
      }
      // Besides the transfer that the operator names, another request for the payment may still take effect.
      const except = before?.state === 'paid' ? [id, before.transferId] : [id];
      if (before !== undefined) await this.#findCandidates(before, input, now, except);
    }
    const terms = { input, platform: this.#context.baseUrl };
    return createPaid(before, { transferId: id, at: now, by: this.#by }, terms);
  }

  /** Returns the payment's terms, or those of its recorded transfer if `prune` has dropped them. */
  async #readInput(entry: JournalEntry): Promise<OnceInput> {
    if (entry.state !== 'paid') return entry.input;
    if (entry.input.amount !== undefined) return entry.input;
    const { reads, baseUrl } = this.#context;
    const { transferId, platform } = entry;
    let transfer: Transfer | undefined;
    try {
      if (platform === baseUrl) transfer = await reads.get(transferId, this.#journal.timeLeft);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    const input = transfer && readInputOf(transfer, this.#reference);
    if (input !== undefined) return input;
    throw this.#journal.errors.createConflictError(
      `The journal has dropped the terms of this payment (prune), and ${transferId} does not show them here, so no search can be made`,
    );
  }

  /**
   * Returns the ids of listed transfers that may be the payment. Throws if any of them is not in
   * `except`, if the list cannot be read, or if a request may still take effect; `force` lets an
   * open payment wait only for its claim's deadline.
   */
  async #findCandidates(
    entry: JournalEntry,
    input: OnceInput,
    now: number,
    except: readonly string[],
  ): Promise<string[]> {
    const { errors } = this.#journal;
    if (entry.state === 'not_paid') return [];
    let listed: readonly Transfer[] = [];
    const canIgnore = this.#force && isOpen(entry);
    try {
      if (!canIgnore) await this.#rejectForeignKey(entry, input);
      const how = { scans: 'twice' } as const;
      listed = transfersOf(await searchForPayment(this.#context, this.#journal, entry, input, how));
    } catch (error) {
      if (!canIgnore) throw error;
      this.#journal.startLastWrite();
    }
    const others = listed
      .filter(({ id, description }) => !except.includes(id) || description === this.#reference)
      .map(({ id }) => id);
    if (others.length > 0 && !canIgnore) {
      throw errors.createConflictError(
        `The list shows what may be the payment (${others.slice(0, maxShownCandidates).join(', ')}).\nIf it is, record its id`,
      );
    }
    const ids = listed.map(({ id }) => id).filter(isTransferId);
    const endsAt = isOpen(entry) ? this.#findEnd(entry) : this.#findListedTime(entry, now);
    if (now >= endsAt) return ids;
    const times = { retryAfterMs: endsAt - now, endsAt };
    throw isOpen(entry)
      ? errors.createInDoubtError(entry, undefined, '', { ...times, claimedAt: entry.claimedAt })
      : errors.createError('in_doubt', recordedProblem, times);
  }

  /** The time, by the journal's clock, from which an operator may decide about a claim. */
  #findEnd(claim: OpenEntry): number {
    const deadline = readDeadline(claim, this.#context.totalTimeout);
    if (this.#force) return deadline;
    const endsAt = claim.expiresAt ?? deadline + defaultGracePeriod;
    return Math.max(endsAt, deadline + this.#gracePeriod);
  }

  /** The time, by the journal's clock, by which the list has to show the transfer of a paid entry. */
  #findListedTime(entry: PaidEntry, now: number): number {
    const at = readHistory(entry).findLast(({ state }) => state === 'sending')?.at ?? epoch;
    // Ignore a future time, because a clock that was ahead may have dated the claim.
    const claimedAt = at <= now + defaultClockSkew ? at : epoch;
    return claimedAt + this.#context.totalTimeout + this.#gracePeriod;
  }

  /** The client's grace period, or the default if the client's has no end. */
  get #gracePeriod(): number {
    const { gracePeriod } = this.#context;
    return Number.isFinite(gracePeriod) ? gracePeriod : defaultGracePeriod;
  }

  /** Throws if the credential cannot read the source account, because the list would then seem empty. */
  async #rejectForeignKey(entry: JournalEntry, { sourceAccountId }: OnceInput): Promise<void> {
    const { errors } = this.#journal;
    try {
      await this.#context.reads.getAccount(sourceAccountId, this.#journal.timeLeft);
    } catch (error) {
      if (!(error instanceof PaymentsError) || error.retryable) {
        throw errors.createInDoubtError(isOpen(entry) ? entry : undefined, error);
      }
      throw errors.createConflictError(
        `The source account (${sourceAccountId}) cannot be read: its list proves nothing.\nUse the credential of the payment`,
        error,
      );
    }
  }
}

const recordedProblem = 'The payment is recorded, and may not be listed yet';

/** Builds a payment's input from the terms that its transfer shows; undefined if these are incomplete. */
function readInputOf(transfer: Transfer, description: string): OnceInput | undefined {
  const { sourceAccountId, destinationAccountId, counterpartyId, amount, currency } = transfer;
  const input = { sourceAccountId, destinationAccountId, counterpartyId, amount, currency };
  const filled = Object.entries(input).filter(([, value]) => isFilled(value));
  const parsed = transferCreateInputSchema().safeParse({
    ...Object.fromEntries(filled),
    description,
  });
  return parsed.success ? { ...parsed.data, description } : undefined;
}
