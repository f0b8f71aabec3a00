import type { Outcome } from '../errors/errors.ts';
import type { Failure } from '../errors/failure.ts';
import { parseHttpDate } from './time.ts';
import type { Kind } from '../errors/outcome.ts';

/*
 * May a call be sent again, and when? The platform documents no idempotency key, so the kind of the
 * operation decides what a failure must prove first:
 *
 *   kind        operations                               sent again after
 *   safe        every GET, instructions.build            any transient failure
 *   idempotent  PATCH, DELETE                            not sent; 425, 429
 *   once        POST /entities, /accounts, /transfers    not sent, proven; 425, 429
 *
 * PATCH and DELETE have no second effect, but a repeat may undo a change that another caller made in
 * between, and turns "deleted" into "not found". So an unknown outcome is reported.
 */

/** The facts of a failed attempt that decide on a retry. */
export interface FailedAttempt {
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  /** Whether the failure may be temporary. */
  readonly transient: boolean;
}

/**
 * 425 and 429 reject a request before it is processed: RFC 8470, RFC 6585, and docs/gaps.md, row 49.
 */
const isRejectedForNow = (status: number | undefined): boolean => status === 425 || status === 429;

/** Whether the same request may succeed later. After 501 and 505 it will not. */
export const isTransientStatus = (status: number): boolean =>
  status === 408 || isRejectedForNow(status) || (status >= 500 && status !== 501 && status !== 505);

/** Whether a call of this kind may be sent again after this failure. */
export function mayResend(kind: Kind, failed: FailedAttempt): boolean {
  if (!failed.transient) return false;
  if (kind === 'safe' || failed.outcome === 'not_sent') return true;
  return isRejectedForNow(failed.status);
}

/** The longest wait before a retry. If the platform asks for more, the call fails. */
export const maxWaitBeforeRetryMs = 60_000;
const maxBackoffMs = 8_000;

/**
 * Computes the wait before the n-th retry, in milliseconds. The wait is random up to a bound that
 * doubles, so that callers that failed together retry at different times. The wait is never shorter
 * than `Retry-After`.
 */
export function computeDelay(
  retry: number,
  status: number | undefined,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  const base = status === 429 ? 1_000 : 250;
  const backoff = random() * Math.min(maxBackoffMs, base * 2 ** (retry - 1));
  if (retryAfterMs === undefined) return backoff;
  return Math.max(backoff, retryAfterMs + random() * Math.min(1_000, retryAfterMs / 10));
}

/**
 * Parses `Retry-After`, in milliseconds. A date is compared with the response's own Date, because this
 * machine's clock may be wrong. Anything but seconds or a date counts as absent.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,3})?$/.test(value)) return Math.round(Number(value) * 1_000);
  const sentAt = parseHttpDate(headers.get('date'));
  const wait = parseHttpDate(value) - (Number.isNaN(sentAt) ? now : sentAt);
  if (Number.isNaN(wait)) return undefined;
  return Math.max(0, wait);
}

/** Whether a response forbids a retry. No header can allow one. */
export const forbidsRetry = (headers: Headers): boolean =>
  headers.get('x-should-retry')?.trim().toLowerCase() === 'false';

/** The cost of a retry, if the platform may have processed the failed attempt and if it has not. */
const costs = { afterWork: 14, afterNone: 5 };

const capacity = 500;
const reserve = /* @__PURE__ */ Math.ceil(capacity / 3);

/**
 * The budget for the retries of one client, which keeps them from overloading a platform in
 * trouble. First attempts are free. The last third is kept for retries of attempts that were not
 * processed: docs/decisions/what-a-storm-costs.md has the numbers.
 */
export class RetryBudget {
  #tokens = capacity;

  /** Computes the cost of a retry: less when the failed attempt was not processed. */
  static computeCost(failed: FailedAttempt): number {
    return failed.outcome === 'not_sent' || failed.status === 429
      ? costs.afterNone
      : costs.afterWork;
  }

  /** Takes the cost of one retry. Returns false, and takes nothing, if too little is left. */
  take(cost: number): boolean {
    const remaining = this.#tokens - cost;
    // A cheap retry may use the reserve: after a 429 the rate limiter bounds the load, and a
    // request that was not sent causes none.
    if (remaining < (cost === costs.afterNone ? 0 : reserve)) return false;
    this.#tokens = remaining;
    return true;
  }

  /** After a success, gives back the cost of the last retry, or 1 if there was none. */
  refund(lastCost: number | undefined): void {
    this.#tokens = Math.min(capacity, this.#tokens + (lastCost ?? 1));
  }
}

/** Whether and when a call is sent again. If not, `note` tells its error why. */
export type RetryPlan =
  | { readonly again: true; readonly delayMs: number; readonly cost: number }
  | { readonly again: false; readonly note?: string };

/** Decides whether to retry after `retries` earlier ones, and takes the cost from the budget. */
export function planRetry(
  kind: Kind,
  failed: Failure,
  retries: number,
  limits: { readonly maxRetries: number; readonly remaining: number; readonly budget: RetryBudget },
): RetryPlan {
  const { status, retryAfterMs } = failed;
  if (!mayResend(kind, failed) || retries >= limits.maxRetries) return { again: false };
  if (retryAfterMs !== undefined && retryAfterMs > maxWaitBeforeRetryMs) {
    return createNoRetry(
      `the platform asked for a wait of ${Math.round(retryAfterMs)} ms, and the SDK waits ${maxWaitBeforeRetryMs} ms at most.`,
    );
  }
  const delayMs = computeDelay(retries + 1, status, retryAfterMs);
  if (delayMs >= limits.remaining) return createNoRetry('the wait would exceed totalTimeout.');
  const cost = RetryBudget.computeCost(failed);
  return limits.budget.take(cost)
    ? { again: true, delayMs, cost }
    : createNoRetry('this client has used up its retry budget.');
}

const createNoRetry = (why: string): RetryPlan => ({
  again: false,
  note: `It was not retried: ${why}`,
});
