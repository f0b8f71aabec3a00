import { createCallError } from '../errors/call-error.ts';
import { timeoutFailure, vetoFailure } from '../errors/failure.ts';
import { parseJson } from '../internal/json.ts';
import type { TransferCreateInput } from '../schemas/transfer.ts';
import type { RunningCall } from './attempt.ts';
import type { SimilarPayment } from './call.ts';
import { Stopped } from './time.ts';

/** The payment that your function `authorize` permits or vetoes. */
export interface ProposedPayment {
  /** The method that makes the payment; `transfers.createOnce` also for a payment of a batch. */
  readonly operation: 'transfers.create' | 'transfers.createOnce';
  /** A copy of the request body that the SDK will send, including the fields of `options.body`. */
  readonly input: TransferCreateInput;
  /** The reference of the payment, if `createOnce` or a batch makes the payment. */
  readonly reference?: string | undefined;
  /**
   * Lists the payments of the last 30 days with the same source, recipient, amount and currency, at
   * most 100, newest first. Absent if the journal cannot list them.
   * @example
   * ```ts
   * import type { Authorize } from 'payments-platform-sdk';
   *
   * const isNew: Authorize = async ({ similar }) => (await similar?.())?.length === 0;
   * console.log(isNew.name);
   * ```
   */
  readonly similar?: (() => Promise<SimilarPayment[]>) | undefined;
}

/**
 * Return true within `totalTimeout` to permit a payment; any other result is a veto, so a forgotten
 * `return` is safe. The SDK asks again at each try of a payment, so count payments by `reference`.
 */
export type Authorize = (payment: ProposedPayment) => boolean | Promise<boolean>;

/**
 * Calls the option `authorize` for a payment, within the call's `totalTimeout`. Throws, before the
 * payment is sent, unless the function returns `true`.
 */
export async function askAuthorize(running: RunningCall, authorize: Authorize): Promise<void> {
  const { call, prepared, total, totalTimeout } = running;
  // Parse the request body again, so that `authorize` sees what is sent and cannot change it.
  const readInput = () => parseJson(prepared.body ?? '') as TransferCreateInput;
  const input = readInput();
  const { findSimilar } = call;
  const payment: ProposedPayment = {
    ...(call.operation === 'transfers.createOnce'
      ? { operation: 'transfers.createOnce', input, reference: input.description }
      : { operation: 'transfers.create', input }),
    ...(findSimilar && { similar: () => findSimilar(readInput()) }),
  };
  let verdict: unknown;
  try {
    verdict = await total.race((async () => authorize(payment))());
  } catch (error) {
    if (!(error instanceof Stopped)) throw createCallError(vetoFailure({ error }), running);
    if (error.why.by === 'caller') throw error;
    const hint = 'The function in the option authorize did not decide in time.';
    throw createCallError(timeoutFailure('total', totalTimeout, {}, hint), running);
  }
  if (verdict !== true) {
    throw createCallError(vetoFailure(undefined), running);
  }
  total.check();
}
