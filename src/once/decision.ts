import { defaultGracePeriod } from '../calls/options.ts';
import type { Transfer } from '../schemas/transfer.ts';

/** Where a payment stands: by the entry of the journal, or after the request of this call. */
export type Situation = keyof typeof plans;

/** How often the list is searched, and what follows if it does not show the payment. */
export const plans = {
  // No call has claimed the payment, or none since an operator's decision.
  free: { search: 'none', next: 'send' },
  // The same in a journal that forgets: a claim, or what followed the decision, may be lost.
  perhaps_claimed: { search: 'confirmed', next: 'send' },
  // The request of another call may be on its way.
  claimed: { search: 'once', next: 'in_progress' },
  // The request of another call has ended, but may still take effect.
  in_grace_period: { search: 'once', next: 'in_doubt' },
  // No request of another call can take effect any more. Assumption A2: docs/proof.md.
  expired: { search: 'twice', next: 'send' },
  // The platform has rejected the request of this call, the only one so far.
  rejected: { search: 'none', next: 'fail' },
  // It has rejected the request after a takeover, perhaps because an earlier one took the money.
  takeover_rejected: { search: 'once', next: 'in_doubt' },
  // The request of this call may have taken effect.
  unknown: { search: 'once', next: 'in_doubt' },
} as const;

/**
 * One scan misses a transfer that moves while the list is read. `confirmed` reads a list of several pages until it has
 * shown nothing twice in a row, which the search does itself, so that a batch shares its scans.
 */
const scanCounts = { none: 0, once: 1, confirmed: 1, twice: 2 };

/** What a scan of the list has shown, without the transfers that are other payments. */
export type Scan =
  | { readonly result: 'found'; readonly transfer: Transfer }
  | { readonly result: 'ambiguous'; readonly candidates: readonly Transfer[] }
  | { readonly result: 'not_found' };

/** What to do next: `record` the payment as made, `ask` an operator, or as the words of `plans` say. */
export type Step =
  | { readonly next: 'record'; readonly transfer: Transfer }
  | { readonly next: 'ask'; readonly candidates: readonly Transfer[] }
  | { readonly next: 'scan'; readonly isConfirmed: boolean }
  | { readonly next: (typeof plans)[Situation]['next'] };

/** Decides what follows the scans so far. */
export function decide(situation: Situation, scans: readonly Scan[]): Step {
  const last = scans.at(-1);
  if (last?.result === 'found') return { next: 'record', transfer: last.transfer };
  if (last?.result === 'ambiguous') return { next: 'ask', candidates: last.candidates };
  const { search, next } = plans[situation];
  if (scans.length === scanCounts[search]) return { next };
  return { next: 'scan', isConfirmed: search === 'confirmed' };
}

/** The milliseconds that a claim has left; 0 or less when its time is over. */
export interface TimeLeft {
  /** How long its request may still run. */
  readonly toRun: number;
  /** How long its request may still take effect, perhaps after it has ended. */
  readonly toTakeEffect: number;
}

/** `left` is measured before the first scan, which may last; undefined without a claim. */
export function findSituation(left: TimeLeft | undefined, canForget: boolean): Situation {
  if (left === undefined) return canForget ? 'perhaps_claimed' : 'free';
  if (left.toTakeEffect <= 0) return 'expired';
  return left.toRun > 0 ? 'claimed' : 'in_grace_period';
}

/** `isCertain`: the request has certainly had no effect. */
export function findSituationAfterRequest({
  isCertain,
  isTakeover,
}: Record<'isCertain' | 'isTakeover', boolean>): Situation {
  if (!isCertain) return 'unknown';
  return isTakeover ? 'takeover_rejected' : 'rejected';
}

/** The wait while another call is in progress whose claim is not known. */
export const inProgressRetryMs = 1_000;
const minRetryMs = 5_000;
/** The longest wait when no request can still take effect. */
const maxExpiredRetryMs = 60_000;

/** Milliseconds until the next call makes sense. They grow with the age of the claim, so that many payments in doubt do not flood the platform. */
export function findRetryDelay(
  claim: { readonly claimedAt: number; readonly expiresAt: number | null } | undefined,
  now: number | undefined,
): number {
  if (claim === undefined || now === undefined) return minRetryMs;
  const timeLeft = claim.expiresAt === null ? defaultGracePeriod : claim.expiresAt - now;
  const age = Math.max(minRetryMs, now - claim.claimedAt);
  return Math.min(age, timeLeft > 0 ? timeLeft : maxExpiredRetryMs);
}
