import { Deadline, Stopped } from '../../src/calls/time.ts';
import { RateLimiter, RateLimiterWaitTooLong } from '../../src/calls/rate-limiter.ts';
import { rejectedFailure } from '../../src/errors/failure.ts';
import { statusOutcome, type Kind } from '../../src/errors/outcome.ts';
import {
  computeDelay,
  isTransientStatus,
  maxWaitBeforeRetryMs,
  mayResend,
  RetryBudget,
} from '../../src/calls/retry.ts';
import type { Attempted, Timeline, World } from './fleet-world.ts';

/** Makes one call; resolves to whether it was served. */
type Caller = (isWrite: boolean) => Promise<boolean>;

export interface Policy {
  readonly name: string;
  /** Creates a client, which keeps state between calls. */
  readonly client: (world: World, timeline: Timeline, random: () => number) => Caller;
}

const rejection = rejectedFailure(
  { status: 429, headers: new Headers(), text: '' },
  undefined,
  { outcome: 'rejected', transient: true, retryAfterMs: undefined, hasErrorBody: true },
  (text) => text,
);

const isOk = ({ status }: Attempted): boolean => status === 200;

/** The loop of calls/pipeline.ts around the real rate limiter, budget, delays and checks. */
const ours: Policy = {
  name: 'this SDK',
  client(world, timeline, random) {
    const budget = new RetryBudget();
    const rateLimiter = new RateLimiter(timeline);
    const attempts = async (kind: Kind, total: Deadline): Promise<boolean> => {
      let lastCost: number | undefined;
      for (let retries = 0; ; retries += 1) {
        await rateLimiter.enter(total, 30_000, () => undefined);
        const sentAt = timeline.elapsed();
        const attempted = await world.request();
        const { retryAfterMs } = attempted;
        const status = attempted.status === 'timeout' ? undefined : attempted.status;
        if (status === 429) rateLimiter.close(sentAt, { ...rejection, retryAfterMs });
        if (isOk(attempted)) {
          budget.refund(lastCost);
          return true;
        }
        const failure = {
          outcome:
            status === undefined
              ? ('unknown' as const)
              : statusOutcome(status, kind, { hasErrorBody: true }),
          status,
          transient: status === undefined || isTransientStatus(status),
        };
        const delay = computeDelay(retries + 1, status, retryAfterMs, random);
        const cost = RetryBudget.computeCost(failure);
        const shouldStop =
          retries >= 2 ||
          !mayResend(kind, failure) ||
          (retryAfterMs ?? 0) > maxWaitBeforeRetryMs ||
          delay >= total.remaining ||
          !budget.take(cost);
        if (shouldStop) return false;
        lastCost = cost;
        await total.sleep(delay);
      }
    };
    return async (isWrite) => {
      const total = new Deadline(timeline, 120_000, 'total');
      try {
        return await attempts(isWrite ? 'once' : 'safe', total);
      } catch (error) {
        if (error instanceof Stopped || error instanceof RateLimiterWaitTooLong) return false;
        throw error;
      } finally {
        total.close();
      }
    };
  },
};

/**
 * A loop of at most three attempts; `delayOf` returns undefined after the last one. `pay` removes tokens
 * from the client's bucket, or returns false if there are too few. A success refunds the tokens of the
 * last retry, or one token if there was none.
 */
const createLoop =
  (
    delayOf: (
      failure: Attempted,
      retry: number,
      random: () => number,
      pay: (cost: number) => boolean,
    ) => number | undefined,
  ): Policy['client'] =>
  (world, timeline, random) => {
    let tokens = 500;
    return async () => {
      let lastCost: number | undefined;
      const pay = (cost: number): boolean => {
        if (tokens < cost) return false;
        tokens -= cost;
        lastCost = cost;
        return true;
      };
      for (let retry = 1; ; retry += 1) {
        const attempted = await world.request();
        if (isOk(attempted)) {
          tokens = Math.min(500, tokens + (lastCost ?? 1));
          return true;
        }
        const delay = retry > 2 ? undefined : delayOf(attempted, retry, random, pay);
        if (delay === undefined) return false;
        await new Promise<void>((resolve) => {
          timeline.setTimeout(resolve, delay);
        });
      }
    };
  };

/** Standard mode: a bucket of 500 tokens for each client; a successful retry refunds its cost. */
const awsPolicy = (name: string, costOf: (failure: Attempted) => number): Policy => ({
  name,
  client: createLoop((failure, retry, random, pay) => {
    if (!pay(costOf(failure))) return undefined;
    const base = failure.status === 429 ? 1_000 : 50;
    const backoff = random() * Math.min(20_000, base * 2 ** (retry - 1));
    return Math.max(backoff, failure.retryAfterMs ?? 0);
  }),
});

export const policies: readonly Policy[] = [
  { name: 'no retries', client: createLoop(() => undefined) },
  ours,
  awsPolicy('AWS standard mode, costs of November 2026', ({ status }) => (status === 429 ? 5 : 14)),
  awsPolicy('AWS standard mode, costs before', ({ status }) =>
    status === 429 || status === 'timeout' ? 10 : 5,
  ),
  {
    // The delay is half a second to five seconds, with downward jitter, and a 429 is not retried.
    name: 'Stripe',
    client: createLoop(({ status }, retry, random) =>
      status === 429
        ? undefined
        : Math.max(500, Math.min(5_000, 500 * 2 ** (retry - 1)) * (0.5 + random() / 2)),
    ),
  },
  {
    // The delay is half a second to eight seconds, less up to a quarter, or any Retry-After.
    name: 'Stainless',
    client: createLoop(
      ({ retryAfterMs }, retry, random) =>
        retryAfterMs ?? Math.min(8_000, 500 * 2 ** (retry - 1)) * (1 - random() / 4),
    ),
  },
];
