import { cloneInput } from '../../internal/clone.ts';
import { detailedIssuesOf, invalidArguments } from '../../calls/arguments.ts';
import type { Clock } from '../../calls/clock.ts';
import { Deadline, Stopped } from '../../calls/deadline.ts';
import {
  AbortError,
  isPaymentsError,
  NotFoundError,
  PaymentsError,
  ValidationError,
  WaitError,
  type CallIdentity,
  type Issue,
} from '../../errors/errors.ts';
import { reattribute } from '../../errors/message.ts';
import { callHook } from '../../calls/hooks.ts';
import { redactBounded, type Redact } from '../../errors/redact.ts';
import { callOptionChecks, type RequestOptions } from '../../calls/request-options.ts';
import {
  callable,
  checkOptions,
  milliseconds,
  type OptionChecks,
} from '../../calls/option-checks.ts';
import { isTransferId, type Transfer, type TransferId } from '../../schemas/transfer.ts';

/** Options of `transfers.waitFor`. */
export interface WaitOptions extends Omit<RequestOptions, 'timeout'> {
  /**
   * When to stop waiting. Unless it accepts them, `failed` and `cancelled` throw a WaitError. @default when
   * the status is `completed`
   */
  until?: ((transfer: Transfer) => boolean | PromiseLike<boolean>) | undefined;
  /**
   * Milliseconds to wait altogether. `totalTimeout` means the same; the smaller holds.
   * @default 600000
   */
  timeout?: number | undefined;
  /** Milliseconds between the first two polls; grows to about 15 seconds. @default 1000 */
  interval?: number | undefined;
  /** Called with the Transfer after every successful poll. */
  onPoll?: ((transfer: Transfer) => unknown) | undefined;
}

const call: CallIdentity = {
  operation: 'transfers.waitFor',
  method: 'GET',
  path: '/transfers/{id}',
};
const longestInterval = 15_000;
/** How long a Transfer just created may still be unknown to reads: docs/gaps.md, row 40. */
const patienceWith404 = 30_000;
/** Polls that fail one after the other, each with its own retries behind it. */
const failuresInARow = 5;

/**
 * How far a Transfer has come; a status that is not documented has no place in the order. The order
 * itself is assumed: docs/gaps.md, row 37.
 */
const final = 2;
const progress: ReadonlyMap<string, number> = new Map([
  ['pending', 0],
  ['processing', 1],
  ['completed', final],
  ['failed', final],
  ['cancelled', final],
]);

/** Polls with `get` until the Transfer is where it is wanted. */
export async function waitForTransfer(
  id: TransferId,
  get: (polling: RequestOptions) => Promise<Transfer>,
  clock: Required<Clock>,
  redact: Redact,
  options: WaitOptions | undefined,
): Promise<Transfer> {
  const resolved = resolveWaitOptions(cloneInput(options), redact);
  const { until, onPoll, signal, limit, interval, polling } = resolved;
  const deadline = new Deadline(clock, limit, 'total', { signals: [signal] });
  const begun = clock.elapsed();
  // The Transfer goes its way whether or not somebody watches.
  const inDoubt = {
    ...call,
    outcome: 'unknown',
    startedAt: new Date(clock.now()).toISOString(),
  } as const;
  // What is no id has not been refused yet when a signal ends the wait.
  const name = isTransferId(id) ? `transfer ${redact(id)}` : 'transfer';
  let last: Transfer | undefined;
  /** Why there is none so far. */
  let missing: NotFoundError | undefined;
  /** The last with a documented status; others say nothing of how far it has come. */
  let furthest: Transfer | undefined;
  let failures = 0;
  let pause = interval;

  const lastStatus = (): string => (last === undefined ? '' : `; it was ${redact(last.status)}`);
  const gaveUp = (what: string, cause?: PaymentsError): WaitError =>
    new WaitError(
      `The ${name} ${what}.\nThis does not mean that it failed: call waitFor again, or check later.${cause === undefined ? '' : `\n${cause.message}`}`,
      { ...inDoubt, retryable: true, reason: 'timeout', last: shown(last, redact), cause },
    );
  /** Undefined when the look failed and may succeed the next time. */
  const look = async (): Promise<Transfer | undefined> => {
    try {
      const seen = await deadline.race(get({ ...polling, signal: deadline.signal }));
      // An answer may be meant for somebody else.
      if (seen?.id !== id) throw otherTransfer();
      failures = 0;
      missing = undefined;
      return seen;
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      const isYoung = clock.elapsed() - begun < patienceWith404;
      const isNew = error instanceof NotFoundError && last === undefined && isYoung;
      if (!isNew && !error.retryable) throw refused(error);
      missing = isNew ? error : undefined;
      failures = isNew ? 0 : failures + 1;
      if (failures < failuresInARow) return undefined;
      throw gaveUp(`could not be read ${failuresInARow} times in a row${lastStatus()}`, error);
    }
  };
  /** A poll that was refused or could not be sent says nothing of the Transfer; wrong arguments do. */
  const refused = (error: PaymentsError): PaymentsError =>
    error instanceof ValidationError
      ? invalidArguments(call, detailedIssuesOf(error), redact)
      : reattribute(
          error,
          {
            what: `Waiting stopped because the ${name} could not be read${lastStatus()}`,
            hint: 'This does not mean that it failed: fix the cause below and call waitFor again.',
          },
          {
            operation: call.operation,
            outcome: 'unknown',
            retryable: false,
            startedAt: inDoubt.startedAt,
          },
        );

  try {
    for (;;) {
      const seen = await look();
      if (seen !== undefined) {
        if (isBehind(seen, furthest)) {
          throw new WaitError(
            `The ${name} went back from ${furthest?.status} to ${redact(seen.status)}.\nAsk the platform what happened before you rely on it.`,
            { ...inDoubt, reason: 'regressed', last: shown(seen, redact) },
          );
        }
        last = seen;
        if (progress.has(seen.status)) furthest = seen;
        callHook(onPoll, () => seen);
        const arrived =
          until === undefined
            ? seen.status === 'completed'
            : await deadline.race(Promise.resolve(until(seen)));
        if (arrived) return seen;
        if (seen.status === 'failed' || seen.status === 'cancelled') {
          throw new WaitError(`The ${name} ended as ${seen.status}; the money did not arrive.`, {
            ...call,
            outcome: 'rejected',
            reason: 'failed',
            last: shown(seen, redact),
          });
        }
      }
      const jitter = 0.8 + Math.random() * 0.4;
      await deadline.sleep(Math.min(pause, longestInterval) * jitter);
      pause *= 1.5;
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    if (error.why.by === 'caller') {
      const sentence = `Waiting for the ${name} was aborted by its signal.`;
      throw new AbortError(sentence, { ...inDoubt, cause: error.why.reason });
    }
    throw missing === undefined
      ? gaveUp(`did not reach the wanted status within ${limit} ms${lastStatus()}`)
      : gaveUp(
          `was not found within ${limit} ms: the platform answered 404 (check the id and the option baseUrl, too)`,
          missing,
        );
  } finally {
    deadline.close();
  }
}

const waitOptionChecks = (): OptionChecks<WaitOptions> => ({
  until: callable,
  interval: milliseconds,
  onPoll: callable,
  ...callOptionChecks(),
});

/** What to wait for, and how long, out of checked options. */
function resolveWaitOptions(options: WaitOptions | undefined, redact: Redact) {
  const issues: Issue[] = [];
  const given = checkOptions(waitOptionChecks, options, issues);
  if (issues.length > 0) throw invalidArguments(call, issues, redact);
  const { until, timeout, totalTimeout, interval = 1_000, onPoll, signal, ...polling } = given;
  const limit = Math.min(timeout ?? 600_000, totalTimeout ?? Number.POSITIVE_INFINITY);
  return { until, onPoll, signal, limit, interval, polling };
}

/**
 * Whether a status went back or left a final one, which the document does not exclude:
 * docs/gaps.md, row 38.
 */
function isBehind(seen: Transfer, furthest: Transfer | undefined): boolean {
  const before = progress.get(furthest?.status ?? '') ?? 0;
  const now = progress.get(seen.status);
  // What the document does not list may stand anywhere.
  if (now === undefined) return false;
  return now < before || (before === final && seen.status !== furthest?.status);
}

/** As much of a Transfer as an error holds: an answer may be of any size. */
const shown = <T extends Transfer | undefined>(transfer: T, redact: Redact): T =>
  redactBounded(transfer, redact) as T;

const otherTransfer = (): PaymentsError =>
  new PaymentsError('The platform answered with something other than the requested transfer.', {
    ...call,
    outcome: 'unknown',
    retryable: true,
  });
