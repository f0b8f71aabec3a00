import { argument, path } from '../calls/arguments.ts';
import { hasId, identity, type Call } from '../calls/call.ts';
import type { RequestOptions } from '../calls/options.ts';
import { responseCheck } from '../calls/response.ts';
import type { Trace } from '../calls/tracing.ts';
import type { CallIdentity, Issue } from '../errors/errors.ts';
import { isReference } from '../internal/formats.ts';
import { parseJson } from '../internal/json.ts';
import {
  transferCreatedSchema,
  transferCreateInputSchema,
  transferIdSchema,
  type OnceInput,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
} from '../schemas/transfer.ts';
import { isCertainlyOther } from '../search/compare.ts';
import type { ClientContext } from './context.ts';
import { addCreation, hasDoubt, warnOfTerms } from './doubts.ts';
import { PaymentErrors } from './payment-errors.ts';
import { onceOptionNames } from './options.ts';
import { createSimilarFinder } from './similar.ts';

export const createCall: CallIdentity = {
  operation: 'transfers.createOnce',
  method: 'POST',
  path: '/transfers',
};

/** What authorizes and sends a payment. */
export interface Sender {
  /** Calls the option `authorize`. Rejects on a veto, or after `timeLeft`. */
  readonly authorize: (timeLeft: number) => Promise<void>;
  /**
   * Sends the payment within `timeLeft`, and starts no request after `notAfter` (wall clock). Each
   * request first calls `beforeSending`, and is not sent if that throws.
   */
  readonly send: (
    timeLeft: number,
    notAfter: number,
    beforeSending: () => void,
  ) => Promise<TransferCreated>;
}

/** Checks a payment's arguments. If an argument is invalid, adds to `issues` and returns undefined. */
export function checkCreation(
  client: ClientContext,
  input: OnceInput,
  options: RequestOptions | undefined,
  within: Trace,
  issues: Issue[],
): Sender | undefined {
  const reference = (input as Partial<OnceInput> | undefined)?.description;
  const { pipeline } = client;
  const call: Call<TransferCreated> = {
    ...creationCall(input, client),
    findSimilar: createSimilarFinder(client, isReference(reference) ? reference : undefined),
    optionNames: onceOptionNames,
    ifUnknown: 'the transfer may have taken effect. Call createOnce again to find out.',
    idempotencyKey: isReference(reference) ? reference : undefined,
    // The documented response has no terms. If a platform adds terms, they must be those of this payment.
    isOther: (response) => isCertainlyOther(response as Transfer, input),
  };
  const prepared = pipeline.check(call, options, issues);
  if (prepared === undefined) return undefined;
  return {
    authorize: (timeLeft) => {
      const asked = { ...call, operation: createCall.operation };
      return pipeline.authorize(asked, prepared, within, timeLeft);
    },
    send: (timeLeft, notAfter, beforeSending) =>
      pipeline.send({ ...call, beforeSending }, prepared, within, { timeLeft, notAfter }),
  };
}

const inputHint = 'set it in the input, where transfers.reconcile looks for it';
/** Fields not allowed in `options.body`, because `reconcile` compares only the payment's input. */
const inputOnlyFields = { description: inputHint, currency: inputHint };

/** Describes the request that creates a Transfer. */
const creationCall = (input: TransferCreateInput, client: ClientContext): Call<TransferCreated> => {
  const { clockCheck } = client.transferSearch.listOrder;
  return {
    operation: 'transfers.create',
    kind: 'once',
    method: 'POST',
    path: path`/transfers`,
    body: argument(transferCreateInputSchema(), input),
    belongsIn: inputOnlyFields,
    response: responseCheck(transferCreatedSchema()),
    acceptIf: hasId(transferIdSchema()),
    findSimilar: createSimilarFinder(client),
    ifUnknown:
      'the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.',
    ...(clockCheck && { transform: clockCheck }),
  };
};

/**
 * Describes the call of `transfers.create`. The call is rejected if `createOnce` in this process is
 * making, or has left in doubt, a payment with the same reference.
 */
export function createCallOf(input: TransferCreateInput, client: ClientContext) {
  const { baseUrl, pipeline } = client;
  const call = creationCall(input, client);
  const beforeSending = (body: string): void => {
    const sent = parseJson(body) as TransferCreateInput;
    const { description } = sent;
    if (hasDoubt(baseUrl, description)) {
      const errors = new PaymentErrors(identity(call), String(description), client);
      throw errors.createError('in_doubt', fallbackProblem);
    }
    warnOfTerms(baseUrl, sent, pipeline.redactOwn);
  };
  const onUnknown = (body: string): void => {
    const sent = parseJson(body) as TransferCreateInput;
    addCreation(baseUrl, sent, pipeline.redactOwn, client.clock.now());
  };
  return { ...call, beforeSending, onUnknown };
}

const fallbackProblem =
  'A call of createOnce is making the payment with this reference, or has left it in doubt, so this create was not sent; that call may have paid.\nCall createOnce again with the same reference to find out';
