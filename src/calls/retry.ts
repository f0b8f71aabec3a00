import type { Failure } from '../errors/failure.ts';
import { parseHttpDate } from './time.ts';
import type { Kind } from '../errors/outcome.ts';

/*
 * When may the SDK send a call again? The platform documents no idempotency key, so the kind of the
 * operation decides what a failure must prove before a retry:
 *
 *   kind        operations                               sent again after
 *   safe        every GET, instructions.build            any transient failure
 *   idempotent  PUT, PATCH, DELETE                       proof that nothing was sent; 425, 429
 *   once        POST /entities, /accounts, /transfers    proof that nothing was sent; 425, 429
 *
 * A repeated PATCH or DELETE has no second effect, but may undo a change that another caller made
 * in between, and turns "deleted" into "not found". So the SDK reports an unknown outcome instead.
 * Nobody between the SDK and the platform may repeat a POST either. Assumption A8: docs/proof.md.
 */

/** The facts about a failed attempt from which the SDK decides whether to send it again. */
export type FailedAttempt = Pick<Failure, 'outcome' | 'status' | 'transient'>;

/**
 * 425 and 429 reject a request before it is processed: RFC 8470, RFC 6585, and docs/gaps.md, row 49.
 */
const isRejectedForNow = (status: number | undefined): boolean => status === 425 || status === 429;

/** Whether a request that got this status may succeed later. After 501 and 505 it will not. */
export const isTransientStatus = (status: number): boolean =>
  status === 408 || isRejectedForNow(status) || (status >= 500 && status !== 501 && status !== 505);

export function mayResend(kind: Kind, failed: FailedAttempt): boolean {
  if (!failed.transient) return false;
  if (kind === 'safe' || failed.outcome === 'not_sent') return true;
  return isRejectedForNow(failed.status);
}

/** The longest wait before a retry, in milliseconds. If `Retry-After` is longer, the call fails. */
export const maxWaitBeforeRetryMs = 60_000;
const maxBackoffMs = 8_000;

/**
 * Computes the wait before the n-th retry, in milliseconds, at least `Retry-After`. The wait is
 * random up to a bound that doubles, so that callers that failed together retry at different times.
 */
function computeDelay(
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
 * Parses the header `Retry-After`, in milliseconds; undefined if absent or unreadable. A date is
 * compared with the response's own Date, because this machine's clock may be wrong.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,3})?$/.test(value)) return Math.round(Number(value) * 1_000);
  const sentAt = parseHttpDate(headers.get('date'));
  const wait = parseHttpDate(value) - (Number.isNaN(sentAt) ? now : sentAt);
  if (Number.isNaN(wait)) return undefined;
  return Math.max(0, wait);
}

/** Whether the header `x-should-retry` forbids a retry. No header can allow a retry. */
export const forbidsRetry = (headers: Headers): boolean =>
  headers.get('x-should-retry')?.trim().toLowerCase() === 'false';

/** The retry budget that a retry uses: more if the platform may have processed the request. */
const costs = { afterWork: 14, afterNone: 5 };

const capacity = 500;
const reserve = /* @__PURE__ */ Math.ceil(capacity / 3);

/**
 * Keeps the retries of a client from overloading a platform in trouble; first attempts are free.
 * The last third is kept for retries of requests that the platform did not process:
 * docs/decisions/what-a-storm-costs.md has the numbers.
 */
export class RetryBudget {
  #tokens = capacity;

  /** The cost of a retry. It is lower if the platform did not process the failed attempt. */
  static computeCost(failed: FailedAttempt): number {
    return failed.outcome === 'not_sent' || failed.status === 429
      ? costs.afterNone
      : costs.afterWork;
  }

  /** Takes the cost of a retry from the budget, or returns false if too little is left. */
  take(cost: number): boolean {
    const remaining = this.#tokens - cost;
    // A cheap retry may use the reserved third, because the rate limiter bounds the load after a
    // 429, and a request that was not sent causes no load.
    if (remaining < (cost === costs.afterNone ? 0 : reserve)) return false;
    this.#tokens = remaining;
    return true;
  }

  /** After a success, returns the cost of the last retry to the budget, or 1 without a retry. */
  refund(lastCost: number | undefined): void {
    this.#tokens = Math.min(capacity, this.#tokens + (lastCost ?? 1));
  }
}

/** Whether and when the SDK sends a call again. If not, the error shows `note` as the reason. */
export type RetryPlan =
  | { readonly again: true; readonly delayMs: number; readonly cost: number }
  | { readonly again: false; readonly note?: string };

/**
 * Decides on a retry after `retries` earlier ones, and takes its cost from the retry budget. If
 * the wait would be too long or the budget is used up, the returned `note` says so.
 */
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
