import type { Transfer } from '../schemas/transfer.ts';
import type { Scans } from '../search/search.ts';

/** A payment's state as one call knows it, from the journal's entry or the call's own request. */
export type Situation = keyof typeof plans;

/** For each state of a payment: how to search the list, and what to do if the list does not show it. */
export const plans = {
  // No call has claimed the payment, or an operator's `not_paid` is the latest decision.
  free: { search: 'none', next: 'send' },
  // The journal has no claim of the payment but may have lost one, so an earlier call may have paid.
  perhaps_claimed: { search: 'confirmed', next: 'send' },
  // Another call has claimed the payment, and its request may still be running.
  claimed: { search: 'once', next: 'in_progress' },
  // The request of another call has ended, but may still take effect during the grace period.
  in_grace_period: { search: 'once', next: 'in_doubt' },
  // The claim of another call has expired, so no request of that call can take effect any more.
  // Assumption A2: docs/proof.md.
  expired: { search: 'twice', next: 'send' },
  // The journal records the platform's only candidate as another payment. An operator has to decide
  // whether this payment was made, too.
  shared: { search: 'once', next: 'ask_again' },
  // No other call holds a claim, and the request of this call certainly had no effect.
  rejected: { search: 'none', next: 'fail' },
  // This call took over an expired claim, and the platform rejected its request, perhaps because
  // the request of the earlier claim had paid.
  takeover_rejected: { search: 'once', next: 'in_doubt' },
  // The request of this call may have taken effect.
  unknown: { search: 'once', next: 'in_doubt' },
} as const;

/** What a search of the list found for one payment. Transfers of other payments are left out. */
export type SearchResult =
  | { readonly result: 'found'; readonly transfer: Transfer }
  | { readonly result: 'ambiguous'; readonly candidates: readonly Transfer[] }
  | { readonly result: 'not_found' };

/** A call's next step: record the transfer, ask an operator, search the list, or as in `plans`. */
export type Step =
  | { readonly next: 'record'; readonly transfer: Transfer }
  | { readonly next: 'ask'; readonly candidates: readonly Transfer[] }
  | { readonly next: 'search'; readonly scans: Scans }
  | { readonly next: (typeof plans)[Situation]['next'] };

/** Returns a call's next step from the payment's state and from what a search has found, if any. */
export function findNextStep(situation: Situation, found: SearchResult | undefined): Step {
  if (found?.result === 'found') return { next: 'record', transfer: found.transfer };
  if (found?.result === 'ambiguous') return { next: 'ask', candidates: found.candidates };
  const { search, next } = plans[situation];
  if (search === 'none' || found !== undefined) return { next };
  return { next: 'search', scans: search };
}

/** What is left of a claim's two time limits, in milliseconds; 0 or less if a limit has passed. */
export interface TimeLeft {
  /** How long the request of the call that holds the claim may still run. */
  readonly toRun: number;
  /**
   * How long the platform may still execute the request that was sent under a claim, even if the
   * client has given up the request.
   */
  readonly toTakeEffect: number;
}

/** Finds a payment's state before the list is searched. Without a claim, `searchesFirst` decides. */
export function findSituation({
  left,
  isShared = false,
  searchesFirst,
}: {
  readonly left: TimeLeft | undefined;
  readonly isShared?: boolean;
  readonly searchesFirst: boolean;
}): Situation {
  if (left === undefined) return searchesFirst ? 'perhaps_claimed' : 'free';
  if (isShared) return 'shared';
  if (left.toTakeEffect <= 0) return 'expired';
  return left.toRun > 0 ? 'claimed' : 'in_grace_period';
}

/** Finds a payment's state after a failed request. `isCertain`: the request had no effect. */
export function findSituationAfterRequest({
  isCertain,
  isTakeover,
}: Record<'isCertain' | 'isTakeover', boolean>): Situation {
  if (!isCertain) return 'unknown';
  return isTakeover ? 'takeover_rejected' : 'rejected';
}

/** Retry delay in milliseconds if another call claimed the payment, but its claim was not read. */
export const inProgressRetryMs = 1_000;
export const minRetryMs = 5_000;
const maxRetryMs = 900_000;
/** The retry delay for a payment whose requests can no longer take effect. */
const expiredRetryMs = 60_000;

/**
 * Milliseconds until it makes sense to call `createOnce` again. The delay grows with the age of the
 * claim, so that many payments in doubt do not flood the platform.
 */
export function findRetryDelay(age: number, { toTakeEffect }: TimeLeft): number {
  if (toTakeEffect <= 0) return expiredRetryMs;
  return Math.min(Math.max(minRetryMs, age), toTakeEffect, maxRetryMs);
}
