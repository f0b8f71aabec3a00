import { cloneInput } from '../internal/objects.ts';
import { detailedIssuesOf, invalidArguments } from '../calls/arguments.ts';
import { type Clock, Deadline, Stopped } from '../calls/time.ts';
import {
  AbortError,
  InvalidResponseError,
  NotFoundError,
  PaymentsError,
  ValidationError,
  WaitError,
  type CallIdentity,
  type Issue,
} from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import { callHook } from '../calls/hooks.ts';
import { redactBounded, type Redact } from '../errors/redact.ts';
import {
  callOptionChecks,
  type RequestOptions,
  callable,
  checkOptions,
  milliseconds,
  type OptionChecks,
} from '../calls/options.ts';
import { statusMeaning, isTransferId, type Transfer } from '../schemas/transfer.ts';

/** Options of `transfers.waitFor`. */
export interface WaitOptions extends Omit<RequestOptions, 'timeout'> {
  /**
   * Returns whether to stop waiting. Unless your function accepts `failed` or `cancelled`, both
   * throw a WaitError.
   * @default whether the status is `completed`
   */
  until?: ((transfer: Transfer) => boolean | PromiseLike<boolean>) | undefined;
  /**
   * Milliseconds to wait in total. `totalTimeout` means the same; the smaller value applies.
   * @default 600000
   */
  timeout?: number | undefined;
  /** Milliseconds between the first two polls; grows to about 15 seconds. @default 1000 */
  interval?: number | undefined;
  /** Called with the Transfer after every successful poll. */
  onPoll?: ((transfer: Transfer) => unknown) | undefined;
}

export const waitCall: CallIdentity = {
  operation: 'transfers.waitFor',
  method: 'GET',
  path: '/transfers/{id}',
};
const maxIntervalMs = 15_000;
/** For how many milliseconds a new Transfer may give a 404 when read: docs/gaps.md, row 40. */
const newTransferMs = 30_000;
/** After so many failed polls in a row, each with its own retries, waitFor throws an error. */
const maxConsecutiveFailures = 5;

/**
 * Polls with `get` until the Transfer has the requested status, and returns the Transfer. Throws if
 * the Transfer ends in another status, or if the time is over.
 */
export async function waitForTransfer(
  id: string,
  get: (polling: RequestOptions) => Promise<Transfer>,
  clock: Required<Clock>,
  redact: Redact,
  options: WaitOptions | undefined,
): Promise<Transfer> {
  const resolved = resolveWaitOptions(cloneInput(options), redact);
  const { until, onPoll, signal, limit, interval, polling } = resolved;
  const deadline = new Deadline(clock, limit, 'total', { signals: [signal] });
  const startedMs = clock.elapsed();
  // The Transfer proceeds whether this call waits or not, so an error of the wait leaves its outcome open.
  const unknownOutcome = {
    ...waitCall,
    outcome: 'unknown',
    startedAt: new Date(clock.now()).toISOString(),
  } as const;
  // An invalid id may contain a secret, and a signal may end the wait before the id is checked.
  const name = isTransferId(id) ? `transfer ${redact(id)}` : 'transfer';
  let last: Transfer | undefined;
  /** The latest poll's error, if it is a 404 that a new Transfer may give for some seconds. */
  let notFoundError: NotFoundError | undefined;
  /** The latest final status that `until` did not accept. */
  let end: string | undefined;
  /** How many polls have failed in a row. */
  let failures = 0;
  let pause = interval;

  const describeLastStatus = (): string => {
    const status: unknown = last?.status;
    if (last === undefined) return '';
    return typeof status === 'string' ? `; it was ${redact(status)}` : '; it had no status';
  };
  const timeoutError = (problem: string, cause?: PaymentsError): WaitError =>
    new WaitError(
      `The ${name} ${problem}.\nThis does not mean that it failed: call waitFor again, or check later.${cause === undefined ? '' : `\n${cause.message}`}`,
      {
        ...unknownOutcome,
        retryable: true,
        reason: 'timeout',
        last: limitSize(last, redact),
        cause,
      },
    );
  /** Reads the Transfer. Resolves to undefined if this read failed but the next one may succeed. */
  const poll = async (): Promise<Transfer | undefined> => {
    try {
      const transfer = await deadline.race(get({ ...polling, signal: deadline.signal }));
      failures = 0;
      notFoundError = undefined;
      return transfer;
    } catch (error) {
      if (!(error instanceof PaymentsError)) throw error;
      const isYoung = clock.elapsed() - startedMs < newTransferMs;
      const isNew = error instanceof NotFoundError && last === undefined && isYoung;
      // If fields are missing in this response, the next response may contain them.
      const isIncomplete = error instanceof InvalidResponseError && error.reason === 'shape';
      if (!isNew && !error.retryable && !isIncomplete) throw pollError(error);
      notFoundError = isNew ? error : undefined;
      failures = isNew ? 0 : failures + 1;
      if (failures < maxConsecutiveFailures) return undefined;
      throw timeoutError(
        `could not be read ${maxConsecutiveFailures} times in a row${describeLastStatus()}`,
        error,
      );
    }
  };
  /** The outcome of a failed poll is `unknown`, unless the arguments were invalid (`not_sent`). */
  const pollError = (error: PaymentsError): PaymentsError =>
    error instanceof ValidationError
      ? invalidArguments(waitCall, detailedIssuesOf(error), redact)
      : reattribute(
          error,
          {
            what: `Waiting stopped because the ${name} could not be read${describeLastStatus()}`,
            hint: 'This does not mean that it failed: fix the cause below and call waitFor again.',
          },
          { ...unknownOutcome, retryable: false },
        );

  try {
    for (;;) {
      const transfer = await poll();
      if (transfer !== undefined) {
        const meaning = statusMeaning(transfer);
        // The API reference does not say how a status changes: docs/gaps.md, rows 37 and 38.
        if (end !== undefined && meaning === 'open') {
          throw new WaitError(
            `The ${name} went back from ${end} to ${transfer.status}.\nAsk the platform what happened before you rely on it.`,
            { ...unknownOutcome, reason: 'regressed', last: limitSize(transfer, redact) },
          );
        }
        last = transfer;
        if (meaning !== undefined && meaning !== 'open') end = transfer.status;
        callHook({ onPoll }, 'onPoll', () => transfer);
        const isDone =
          until === undefined
            ? meaning === 'arrived'
            : await deadline.race(Promise.resolve(until(transfer)));
        if (isDone) return transfer;
        if (meaning === 'failed') {
          throw new WaitError(
            `The ${name} ended as ${transfer.status}; the payee does not have the money.`,
            {
              ...waitCall,
              outcome: 'rejected',
              reason: 'failed',
              last: limitSize(transfer, redact),
            },
          );
        }
      }
      // Each pause varies by up to 20%, so that calls that began together do not poll together.
      const jitter = 0.8 + Math.random() * 0.4;
      await deadline.sleep(Math.min(pause, maxIntervalMs) * jitter);
      pause *= 1.5;
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    if (error.why.by === 'caller') {
      const message = `Waiting for the ${name} was aborted by its signal.`;
      throw new AbortError(message, { ...unknownOutcome, cause: error.why.reason });
    }
    throw notFoundError === undefined
      ? timeoutError(`did not reach the requested status within ${limit} ms${describeLastStatus()}`)
      : timeoutError(
          `was not found within ${limit} ms: the platform responded with 404 (check the id and the option baseUrl, too)`,
          notFoundError,
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

/** Checks the options of `waitFor`. `polling` has the options that each request gets. */
function resolveWaitOptions(options: WaitOptions | undefined, redact: Redact) {
  const issues: Issue[] = [];
  const checkedOptions = checkOptions(waitOptionChecks, options, issues);
  if (issues.length > 0) throw invalidArguments(waitCall, issues, redact);
  const {
    until,
    timeout,
    totalTimeout,
    interval = 1_000,
    onPoll,
    signal,
    ...polling
  } = checkedOptions;
  const limit = Math.min(timeout ?? 600_000, totalTimeout ?? Number.POSITIVE_INFINITY);
  return { until, onPoll, signal, limit, interval, polling };
}

/** Shortens a Transfer that an error is going to contain, because a response may have any size. */
const limitSize = <T extends Transfer | undefined>(transfer: T, redact: Redact): T =>
  redactBounded(transfer, redact) as T;
