// One payout, made once, whoever tries and however often. Two rules carry it:
//
//   1. "I am about to pay" is written down before anything is sent, so that whoever comes next
//      knows that money may have moved, even if this process is killed at any line below.
//   2. Whoever finds such a line looks for the transfer, and sends only if it is not there although
//      the time in which the first request could still arrive is over.
import { randomUUID } from 'node:crypto';
import {
  isOutcomeUnknown,
  isPaymentsError,
  type AccountId,
  type PaymentsClient,
  type Reconciliation,
  type TransferCreateInput,
  type TransferId,
} from 'payments-platform-sdk';
import type { Entry, Journal } from './journal.ts';

export interface Payout {
  /**
   * Yours, and never used for anything else. It goes into the description of the transfer and is
   * all that tells this transfer from another one over the same amount.
   */
  readonly reference: string;
  readonly from: AccountId;
  readonly to: AccountId;
  readonly amount: string;
}

export type Verdict =
  | {
      readonly state: 'paid';
      readonly transfer: TransferId;
      readonly how: 'answered' | 'reconciled' | 'known';
    }
  /** For a person. */
  | { readonly state: 'unclear'; readonly why: string }
  /** Nothing can be said yet: ask again after so many milliseconds. */
  | { readonly state: 'wait'; readonly ms: number };

export interface Limits {
  /** How long one call may take from the claim to its end, repeats included, in milliseconds. */
  readonly sending: number;
  /**
   * After how long a request is believed to have arrived or to have been lost: well above `sending`,
   * because what has left here may lie in a queue there. Minutes in earnest.
   */
  readonly settled: number;
}

/** Rejects when nothing moved, and when something else went wrong; the journal knows which. */
export async function pay(
  payments: PaymentsClient,
  journal: Journal,
  payout: Payout,
  limits: Limits,
): Promise<Verdict> {
  const { reference } = payout;
  const input = {
    sourceAccountId: payout.from,
    destinationAccountId: payout.to,
    amount: payout.amount,
    description: reference,
  };
  const before = await journal.read(reference);
  if (before?.state === 'paid') return { ...before, how: 'known' };
  if (before?.state === 'unclear') return before;
  if (before?.state === 'sending') {
    // The time is taken before the look: a transfer may appear while one looks.
    const left = before.begun + limits.settled - (await journal.now());
    const seen = await look(payments, journal, input, before, limits);
    if (seen !== undefined) return seen;
    if (left > 0) return { state: 'wait', ms: left };
  }
  return send(payments, journal, input, before, limits);
}

/** Looks whether an earlier attempt has paid. Undefined means: not that anybody could see. */
async function look(
  payments: PaymentsClient,
  journal: Journal,
  input: TransferCreateInput & { readonly description: string },
  before: Extract<Entry, { state: 'sending' }>,
  limits: Limits,
): Promise<Verdict | undefined> {
  // The reference occurs once in all time: whatever carries it is this payout, however old it is, and
  // no clock has to agree with another.
  const since = new Date(0);
  let answer: Reconciliation;
  try {
    answer = await payments.transfers.reconcile(input, { since });
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    // The look broke off: the claim stays, and somebody looks again.
    return { state: 'wait', ms: limits.settled };
  }
  switch (answer.result) {
    case 'found': {
      const transfer = answer.transfer.id;
      await journal.swap(input.description, before, { state: 'paid', transfer });
      return { state: 'paid', transfer, how: 'reconciled' };
    }
    case 'ambiguous': {
      const why = `it may be any of ${answer.candidates.map(({ id }) => id).join(', ')}`;
      await journal.swap(input.description, before, { state: 'unclear', why });
      return { state: 'unclear', why };
    }
    case 'not_found':
      return undefined;
  }
}

async function send(
  payments: PaymentsClient,
  journal: Journal,
  input: TransferCreateInput & { readonly description: string },
  before: Entry | undefined,
  limits: Limits,
): Promise<Verdict> {
  const reference = input.description;
  const start = performance.now();
  const claim = { state: 'sending', by: randomUUID(), begun: await journal.now() } as const;
  // Of two workers that hold the same job, one gets this line and the other has to wait.
  if (!(await journal.swap(reference, before, claim))) {
    return { state: 'wait', ms: limits.sending };
  }
  // What writing the claim took is time that the request no longer has. Others count on its end.
  const totalTimeout = limits.sending - (performance.now() - start);
  if (totalTimeout <= 0) return { state: 'wait', ms: limits.settled };
  let transfer: TransferId;
  try {
    ({ id: transfer } = await payments.transfers.create(input, { totalTimeout }));
  } catch (error) {
    if (!isPaymentsError(error) || error.outcome === 'unknown') {
      // It can be there already; that it is not there yet proves nothing, so the claim stays.
      const seen = await look(payments, journal, input, claim, limits);
      return seen ?? { state: 'wait', ms: limits.settled };
    }
    // This request moved nothing, for certain. One before it may have, late, and be why this one was
    // refused: then its claim comes back, and somebody looks.
    await journal.swap(reference, claim, before);
    const seen =
      before?.state === 'sending'
        ? await look(payments, journal, input, before, limits)
        : undefined;
    if (seen !== undefined) return seen;
    throw error;
  }
  if (!(await journal.swap(reference, claim, { state: 'paid', transfer }))) {
    // Somebody took over while this one was away. If they saw this transfer, all is well.
    const after = await journal.read(reference);
    if (after?.state !== 'paid' || after.transfer !== transfer) {
      return { state: 'unclear', why: `${transfer} was made, and the journal says otherwise` };
    }
  }
  return { state: 'paid', transfer, how: 'answered' };
}
