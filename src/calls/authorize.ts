import { createCallError } from '../errors/call-error.ts';
import { timeoutFailure, vetoFailure } from '../errors/failure.ts';
import { parseJson } from '../internal/json.ts';
import type { TransferCreateInput } from '../schemas/transfer.ts';
import type { RunningCall } from './attempt.ts';
import { Stopped } from './time.ts';

/** A payment that the option `authorize` decides on. */
export interface ProposedPayment {
  /** Which method pays. A payment of a batch also has `transfers.createOnce`. */
  readonly operation: 'transfers.create' | 'transfers.createOnce';
  /** A copy of the body that is to be sent, with the fields of `options.body`. */
  readonly input: TransferCreateInput;
  /** The reference of a payment that is made once. */
  readonly reference?: string | undefined;
}

/** Return true to permit a payment. Anything else vetoes it, so a forgotten `return` is safe. */
export type Authorize = (payment: ProposedPayment) => boolean | Promise<boolean>;

/** Calls the option `authorize` for a payment, within the call's `totalTimeout`. */
export async function askAuthorize(running: RunningCall, authorize: Authorize): Promise<void> {
  const { call, prepared, total, totalTimeout } = running;
  // The body is parsed again, so that the function sees what is sent and cannot change it.
  const input = parseJson(prepared.body ?? '') as TransferCreateInput;
  const isOnce = call.operation === 'transfers.createOnce';
  const payment: ProposedPayment = isOnce
    ? { operation: 'transfers.createOnce', input, reference: input.description }
    : { operation: 'transfers.create', input };
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
