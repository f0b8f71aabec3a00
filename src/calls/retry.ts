import type { Outcome } from '../errors/errors.ts';
import type { Failure } from '../errors/failure.ts';
import { httpDate } from './http-date.ts';
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
 * PATCH and DELETE could be repeated without a second effect, but a repeat may undo what somebody
 * else did in between, and turns "deleted" into "not found". Nobody is served by guessing, so what
 * is unknown is reported.
 */

/** What the policy has to know of a failed attempt. */
export interface FailedAttempt {
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  /** Whether the failure may pass by itself. */
  readonly transient: boolean;
}

/**
 * 425 and 429 are refusals made before the request was processed: RFC 8470, RFC 6585, and
 * docs/gaps.md, row 49.
 */
const refusedForNow = (status: number | undefined): boolean => status === 425 || status === 429;

/** Whether a status may be gone when the same request is made again. 501 and 505 will not be. */
export const isTransientStatus = (status: number): boolean =>
  status === 408 || refusedForNow(status) || (status >= 500 && status !== 501 && status !== 505);

/** Whether a call of this kind may be sent again after this failure. */
export function mayResend(kind: Kind, failed: FailedAttempt): boolean {
  if (!failed.transient) return false;
  if (kind === 'safe' || failed.outcome === 'not_sent') return true;
  // A 429 to a request that was repeated behind our back is a refusal of the repetition only.
  return failed.outcome === 'rejected' && refusedForNow(failed.status);
}

/** The longest wait before a retry; if the platform asks for more, the caller is told instead. */
export const longestWait = 60_000;
const longestBackoff = 8_000;

/**
 * How long to wait before the n-th retry, in milliseconds: random between 0 and a bound that
 * doubles, so that callers who failed together do not come back together. After a 429 the bound
 * starts higher. What the platform asked for is never undercut.
 */
export function delayBefore(
  retry: number,
  status: number | undefined,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  const base = status === 429 ? 1_000 : 250;
  const backoff = random() * Math.min(longestBackoff, base * 2 ** (retry - 1));
  if (retryAfterMs === undefined) return backoff;
  return Math.max(backoff, retryAfterMs + random() * Math.min(1_000, retryAfterMs / 10));
}

/**
 * How long an answer asks to wait, in milliseconds. A date is measured against the answer's own
 * Date, because this machine's clock may be wrong. Anything but seconds or a date counts as absent.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,3})?$/.test(value)) return Math.round(Number(value) * 1_000);
  const sentAt = httpDate(headers.get('date'));
  const wait = httpDate(value) - (Number.isNaN(sentAt) ? now : sentAt);
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** Whether an answer asks not to be sent the request again. Nothing in an answer makes a repeat safe. */
export const forbidsRetry = (headers: Headers): boolean =>
  headers.get('x-should-retry')?.trim().toLowerCase() === 'false';

/** What a retry costs when the platform may have worked for the attempt before it, and when not. */
const costs = { afterWork: 14, afterNone: 5 };

const capacity = 500;
const reserve = /* @__PURE__ */ Math.ceil(capacity / 3);

/**
 * Retries of one client draw on one budget, so that a platform in trouble is not pushed further by
 * everybody trying three times. First attempts are never held back. While attempts cost the platform
 * work, the last third is not spent: docs/decisions/what-a-storm-costs.md has the numbers.
 */
export class RetryBudget {
  #tokens = capacity;

  /** What one retry costs: less when the platform did no work for the attempt before. */
  static cost(failed: FailedAttempt): number {
    return failed.outcome === 'not_sent' || failed.status === 429
      ? costs.afterNone
      : costs.afterWork;
  }

  /** Takes the cost of one retry. False when there is not enough left: do not retry. */
  take(cost: number): boolean {
    const left = this.#tokens - cost;
    // After a 429 the gate bounds what is sent, and a connection refused costs nobody anything.
    if (left < (cost === costs.afterNone ? 0 : reserve)) return false;
    this.#tokens = left;
    return true;
  }

  /** A success gives back what its last retry cost; one without a retry gives 1. */
  refund(lastCost: number | undefined): void {
    this.#tokens = Math.min(capacity, this.#tokens + (lastCost ?? 1));
  }
}

/** Whether a call is sent again, and when; `note` is why not, if its error does not say enough. */
export type RetryPlan =
  | { readonly again: true; readonly delayMs: number; readonly cost: number }
  | { readonly again: false; readonly note?: string };

/** Decides on the next retry of a call that has had so many; takes its cost from the budget. */
export function planRetry(
  kind: Kind,
  failed: Failure,
  retries: number,
  limits: { readonly maxRetries: number; readonly remaining: number; readonly budget: RetryBudget },
): RetryPlan {
  const { status, retryAfterMs } = failed;
  if (!mayResend(kind, failed) || retries >= limits.maxRetries) return { again: false };
  if (retryAfterMs !== undefined && retryAfterMs > longestWait) {
    return notRetried(
      `the platform asked for a wait of ${Math.round(retryAfterMs)} ms, and the SDK waits ${longestWait} ms at most.`,
    );
  }
  const delayMs = delayBefore(retries + 1, status, retryAfterMs);
  if (delayMs >= limits.remaining) return notRetried('the wait would exceed totalTimeout.');
  const cost = RetryBudget.cost(failed);
  return limits.budget.take(cost)
    ? { again: true, delayMs, cost }
    : notRetried('this client has used up its retry budget.');
}

const notRetried = (why: string): RetryPlan => ({
  again: false,
  note: `It was not retried: ${why}`,
});
