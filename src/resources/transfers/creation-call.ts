import { argument, path } from '../../calls/arguments.ts';
import { hasId, type Call } from '../../calls/call.ts';
import { responseCheck } from '../../calls/response-check.ts';
import {
  transferCreatedSchema,
  transferCreateInputSchema,
  transferIdSchema,
  type TransferCreated,
  type TransferCreateInput,
} from '../../schemas/transfer.ts';

const inputHint = 'set it in the input, where transfers.reconcile looks for it';
/** In `options.body` they would be sent, but the input of `reconcile` would not have them. */
const inputOnlyFields = { description: inputHint, currency: inputHint };

/** The call that creates a Transfer. */
export const creationCall = (input: TransferCreateInput): Call<TransferCreated> => ({
  operation: 'transfers.create',
  kind: 'once',
  method: 'POST',
  path: path`/transfers`,
  body: argument(transferCreateInputSchema(), input),
  belongsIn: inputOnlyFields,
  response: responseCheck(transferCreatedSchema()),
  acceptIf: hasId(transferIdSchema()),
  ifUnknown:
    'the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.',
});
