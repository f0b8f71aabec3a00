import { argument, path } from '../calls/arguments.ts';
import { hasId, type Call, type ReportDrift } from '../calls/call.ts';
import { parseHttpDate } from '../calls/time.ts';
import { responseCheck } from '../calls/response.ts';
import {
  transferCreatedSchema,
  transferCreateInputSchema,
  transferIdSchema,
  type TransferCreated,
  type TransferCreateInput,
} from '../schemas/transfer.ts';
import { hasOffset, parseCreatedAt } from '../search/compare.ts';

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

/** How far the clocks behind `createdAt` and `Date` may be apart. */
const clockSkewMs = 120_000;

/** Calls `onDifference` when the clock behind `createdAt` differs from the one behind `Date`. */
export function withClockCheck(
  call: Call<TransferCreated>,
  onDifference: (reportDrift: ReportDrift) => void,
): Call<TransferCreated> {
  let date = Number.NaN;
  let reportDrift: ReportDrift = () => undefined;
  return {
    ...call,
    onHeaders: (headers, reportResponse) => {
      date = parseHttpDate(headers.get('date'));
      reportDrift = reportResponse;
    },
    transform: (transfer) => {
      const { earliest } = parseCreatedAt(transfer.createdAt);
      const isOff = Math.abs(earliest - date) > clockSkewMs;
      if (isOff && hasOffset(transfer.createdAt)) onDifference(reportDrift);
      return transfer;
    },
  };
}
