import { invalidArguments } from '../calls/arguments.ts';
import { checkBy, checkOptions, defaultGracePeriod } from '../calls/options.ts';
import type { Trace } from '../calls/tracing.ts';
import { PaymentsError, type CallIdentity, type Issue } from '../errors/errors.ts';
import type { NotPaidEntry, OpenEntry, PaidEntry } from '../journals/journal.ts';
import { isTransferId, type OnceInput } from '../schemas/transfer.ts';
import { isCertainlyOther } from '../search/compare.ts';
import { applyOptions, type ClientContext, type OnceContext } from './context.ts';
import { forgetPayment } from './doubts.ts';
import { createNotPaid, createPaid, isOpen } from './entries.ts';
import { GuardedJournal } from './guarded-journal.ts';
import { checkReference, decideOptionChecks, type DecideOptions } from './options.ts';
import { PaymentSearch, transferIdsOf } from './payment-search.ts';

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
  checkReference(reference, 'reference', issues);
  checkVerdict(verdict, 'verdict', issues);
  if (issues.length > 0) throw invalidArguments(decideCall, issues, client.pipeline.redact);
  const context = applyOptions(client, onceOptions, { within });
  await new Verdict(decideCall, reference, context).record(verdict, { by, force });
  forgetPayment(context.baseUrl, reference);
}

/** An operator's decision on one payment. */
export class Verdict {
  readonly #reference: string;
  readonly #context: OnceContext;
  readonly #journal: GuardedJournal;
  readonly #search: PaymentSearch;

  constructor(call: CallIdentity, reference: string, context: OnceContext) {
    this.#reference = reference;
    this.#context = context;
    this.#journal = new GuardedJournal(call, reference, context);
    this.#search = new PaymentSearch(reference, context, this.#journal);
  }

  /**
   * Records an operator's decision: the id of the transfer that is the payment, or `not_paid`.
   * Throws if the journal or the platform contradicts the decision. `force` skips the check that
   * the entry belongs to this platform and, for `not_paid`, the checks in `#listDismissed`.
   */
  async record(
    verdict: string,
    { by, force = false }: { by?: string | undefined; force?: boolean | undefined },
  ): Promise<void> {
    const { errors } = this.#journal;
    const stored = await this.#journal.readOwn(this.#reference);
    if (stored === undefined) throw errors.createReferenceError();
    if (stored.state === 'paid') {
      if (stored.transferId === verdict) return;
      throw errors.createConflictError(`The payment was made (${stored.transferId})`);
    }
    if (stored.state === verdict) return;
    if (!force) this.#journal.rejectOtherPlatform(stored);
    // Read the journal's time before the search. If a claim expires only during the search, its
    // transfer may appear too late for the search to see it.
    const now = await this.#journal.now();
    const before = await this.#journal.correctTimes(stored, now);
    const { input } = before;
    const terms = { input, platform: this.#context.baseUrl };
    let decided: NotPaidEntry | PaidEntry;
    if (verdict === 'not_paid') {
      const listed = await this.#listDismissed(before, now, force);
      decided = createNotPaid(before, now, { listed, by }, terms);
    } else {
      await this.#rejectOtherPayment(verdict, input);
      decided = createPaid(before, { transferId: verdict, at: now, by }, terms);
    }
    if (!(await this.#journal.swap(before, decided))) throw errors.createInProgressError();
  }

  async #rejectOtherPayment(id: string, input: OnceInput): Promise<void> {
    const { errors } = this.#journal;
    const transfer = await this.#context.reads.get(id);
    if (isCertainlyOther(transfer, input)) {
      throw errors.createConflictError(`${id} is another payment, by its terms and description`);
    }
    if (await this.#search.isOfAnotherReference(transfer)) {
      throw errors.createConflictError(
        `${id} was made for another reference (${transfer.description})`,
      );
    }
  }

  /**
   * Returns the ids of the listed transfers that `not_paid` dismisses. Without `force`, throws if
   * the list cannot be read or shows the payment, or if a request may still take effect.
   */
  async #listDismissed(
    entry: OpenEntry | NotPaidEntry,
    now: number,
    force: boolean,
  ): Promise<string[]> {
    if (!isOpen(entry)) return [];
    const ids: string[] = [];
    try {
      if (!force) await this.#rejectForeignKey(entry);
      // The list is searched twice, as `createOnce` does before it takes over an expired claim.
      for (let count = 1; count <= 2; count += 1)
        ids.push(...(await this.#findListed(entry, force)));
    } catch (error) {
      if (!force) throw error;
      this.#journal.startPhase(this.#context.signal);
    }
    const { totalTimeout } = this.#context;
    // An operator may decide about a claim without an end after the default grace period.
    const decidableAt = entry.expiresAt ?? entry.claimedAt + totalTimeout + defaultGracePeriod;
    const timeLeft = decidableAt - now;
    if (timeLeft > 0 && !force) {
      throw this.#journal.errors.createInDoubtError(entry, undefined, '', timeLeft);
    }
    return ids;
  }

  async #findListed(entry: OpenEntry, force: boolean): Promise<string[]> {
    const found = await this.#search.run(entry, entry.input);
    if (found.result === 'found' && !force) {
      throw this.#journal.errors.createConflictError(
        `The list shows the payment (${found.transfer.id})`,
      );
    }
    return transferIdsOf(found);
  }

  /** Throws if the credential cannot read the source account, because its list would seem empty. */
  async #rejectForeignKey(entry: OpenEntry): Promise<void> {
    const { sourceAccountId } = entry.input;
    const { errors } = this.#journal;
    try {
      await this.#context.reads.getAccount(sourceAccountId);
    } catch (error) {
      if (!(error instanceof PaymentsError) || error.retryable)
        throw errors.createInDoubtError(entry, error);
      throw errors.createConflictError(
        `The source account (${sourceAccountId}) cannot be read: its list proves nothing.\nUse the credential of the payment`,
        error,
      );
    }
  }
}
