import { invalidArguments, readInput } from '../calls/arguments.ts';
import { callHook, type OnceEvent } from '../calls/hooks.ts';
import { checkOptions, parseSince } from '../calls/options.ts';
import type { Trace } from '../calls/tracing.ts';
import { PaymentsError, type Issue } from '../errors/errors.ts';
import { isReference } from '../internal/formats.ts';
import { warn } from '../internal/runtime.ts';
import {
  statusMeaning,
  transferCreateInputSchema,
  type OnceInput,
  type Transfer,
  type TransferCreated,
} from '../schemas/transfer.ts';
import type { TransferredResult } from './batch-results.ts';
import { applyOptions, type ClientContext } from './context.ts';
import { checkCreation, createCall, type Sender } from './creation.ts';
import { checkReference, onceOptionChecks, type OnceOptions } from './options.ts';
import { Payment, type ReadPayment } from './payment.ts';
import type { SharedSearches } from './shared-searches.ts';

/** What `transfers.createOnce` resolves to. */
export type TransferCreatedOnce =
  | (TransferCreated & {
      /** The payment was made by this call. */
      readonly result: 'created';
    })
  | (Transfer & {
      /**
       * `found`: the platform's list had the payment. `recorded`: an earlier call made the payment, as
       * the journal says. If you expected `created`, the reference was used before.
       */
      readonly result: 'found' | 'recorded';
    });

/** Makes a payment once, and reports by `hooks.onOnce` how the payment ended. */
export async function createOnce(
  client: ClientContext,
  callerInput: OnceInput,
  options: OnceOptions | undefined,
): Promise<TransferCreatedOnce> {
  const { hooks, clock } = client;
  const input = readInput(callerInput, transferCreateInputSchema());
  const startedAt = clock.elapsed();
  running += 1;
  if (running === manyPayments) warn(manyPaymentsWarning);
  const report = (decision: OnceDecision): void => {
    callHook(hooks, 'onOnce', () => createOnceEvent(input, decision, clock.elapsed() - startedAt));
  };
  try {
    // If the journal records the payment as made, `read` reads its transfer. A batch may skip that.
    const made = await payOnce(client, input, options, { readRecorded: (read) => read() });
    if (isOldPayment(made, clock.now())) warn(oldPayment);
    // The hook hears `failed` of a transfer that has failed, and the caller `found` or `recorded`.
    report({ ...made, result: describeEnd(made) });
    // The compiler does not see that only a `created` transfer may have fewer fields than a Transfer.
    return { ...made.transfer, result: made.result } as TransferCreatedOnce;
  } catch (error) {
    if (error instanceof PaymentsError) report({ result: describeFailure(error), error });
    throw error;
  } finally {
    running -= 1;
  }
}

/** How many calls of createOnce this process makes at this moment. */
let running = 0;
/** This many calls at a time, as Promise.all makes, may exhaust connections and leave payments in doubt. */
const manyPayments = 1_000;
const manyPaymentsWarning = `payments-platform-sdk: ${manyPayments} calls of createOnce run at the same time. createAllOnce makes 16 at a time (concurrency).`;

/** After a week, a call with the same reference was probably meant to pay again. */
const oldPaymentMs = 604_800_000;
const oldPayment =
  'payments-platform-sdk: a reference belongs to a payment that was made more than a week ago, so nothing was paid for it. If it was meant to pay again, it needs another reference.';

/** Whether the journal records that the payment was made more than a week ago. */
export const isOldPayment = (
  made: ReadPayment<unknown>,
  now: number,
): made is ReadPayment<unknown> & { readonly paidAt: number } =>
  made.paidAt !== undefined && now - made.paidAt > oldPaymentMs;

/** Returns `in_doubt` if the payment may have been made in spite of the error. */
export const describeFailure = ({ outcome }: PaymentsError): 'not_paid' | 'in_doubt' =>
  outcome === 'unknown' ? 'in_doubt' : 'not_paid';

/** Returns `failed` if the transfer was read and has failed or was cancelled, and `result` otherwise. */
export const describeEnd = ({
  result,
  transfer,
}: ReadPayment<Transfer | undefined>): TransferredResult['result'] =>
  transfer !== undefined && statusMeaning(transfer) === 'failed' ? 'failed' : result;

export const createOnceEvent = (
  input: Partial<OnceInput> | undefined,
  { result, transferId, error }: OnceDecision,
  ms: number,
): OnceEvent => ({
  reference: input?.description,
  result,
  transferId,
  error,
  durationMs: Math.round(ms),
});

type OnceDecision = Pick<OnceEvent, 'result'> & Partial<OnceEvent>;

interface PaymentParts<T> {
  readonly readRecorded: (read: () => Promise<Transfer>) => Promise<T>;
  /** The searches that the payments of a batch share. */
  readonly searches?: SharedSearches;
  /** Sends the payment instead of the usual request. */
  readonly sender?: Sender | undefined;
}

/** Tries to make a payment, as one call for hooks and traces. */
export const payOnce = <T>(
  client: ClientContext,
  input: OnceInput,
  options: OnceOptions | undefined,
  { readRecorded, ...parts }: PaymentParts<T>,
): Promise<ReadPayment<T>> =>
  client.pipeline.trace(
    createCall,
    (input as Partial<OnceInput> | undefined)?.description,
    // The function is async, so that an invalid argument rejects inside of the trace.
    async (trace) => checkPayment(client, input, options, trace, parts).make(readRecorded),
  );

/**
 * Checks the arguments of `createOnce`, and returns the payment before anything is recorded or
 * sent. Throws one error that lists the problems.
 */
function checkPayment(
  client: ClientContext,
  input: OnceInput,
  options: OnceOptions | undefined,
  within: Trace,
  { searches, sender }: Omit<PaymentParts<unknown>, 'readRecorded'>,
): Payment {
  const issues: Issue[] = [];
  const checked = checkOptions(onceOptionChecks, options, issues);
  const { since, ...journalOptions } = checked;
  const { journal = client.journal, gracePeriod: _gracePeriod, ...callOptions } = journalOptions;
  const requestedAt = parseSince(since, client.clock.now(), issues);
  // If the options are invalid, only the input is checked, as if there were no options.
  const validOptions = issues.length === 0 ? callOptions : undefined;
  const reference = (input as Partial<OnceInput> | undefined)?.description;
  checkReference(reference, 'description', issues);
  const inputIssues: Issue[] = [];
  const creation = checkCreation({ ...client, journal }, input, validOptions, within, inputIssues);
  // `checkReference` has already reported an invalid `description`.
  issues.push(
    ...inputIssues.filter(({ path }) => path !== 'description' || isReference(reference)),
  );
  if (creation === undefined || issues.length > 0) {
    throw invalidArguments(createCall, issues, client.pipeline.redact);
  }
  const context = applyOptions(client, journalOptions, within, requestedAt, searches);
  return new Payment(createCall, input, sender ?? creation, context);
}
