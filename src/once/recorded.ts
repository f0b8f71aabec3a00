import { NotFoundError, PaymentsError } from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import type { PaidEntry } from '../journals/journal.ts';
import type { Transfer } from '../schemas/transfer.ts';
import { isCertainlyOther } from '../search/compare.ts';
import type { OnceContext } from './context.ts';
import type { GuardedJournal } from './guarded-journal.ts';

/**
 * Reads the transfer of a payment that the journal records as made. Throws if the transfer is
 * another payment, or does not exist because the payment was made on another platform.
 */
export async function readRecorded(
  entry: PaidEntry,
  context: OnceContext,
  journal: GuardedJournal,
): Promise<Transfer> {
  const { transferId, input, platform } = entry;
  const { errors } = journal;
  journal.startPhase(context.signal);
  const isElsewhere = platform !== context.baseUrl;
  const madeElsewhere = `The payment was made (${transferId}) on another platform (${platform})`;
  let transfer: Transfer;
  try {
    transfer = await context.reads.get(transferId);
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error;
    if (error instanceof NotFoundError && isElsewhere) {
      throw errors.createConflictError(`${madeElsewhere}, and is not found here`, error);
    }
    throw await describeFailedRead(error, entry, context, journal);
  }
  if (isElsewhere && transfer.description !== input.description) {
    throw errors.createConflictError(`${madeElsewhere}, and here that transfer is another payment`);
  }
  // After a reset, a sandbox assigns ids again that an older journal records for other payments.
  if (!isCertainlyOther(transfer, input)) return transfer;
  throw errors.createConflictError(
    `The journal names ${transferId} for this payment, but that transfer is another payment.\n${checkJournal}`,
  );
}

/**
 * Describes why the recorded transfer could not be read. A 404 within the grace period is
 * retryable, because a replica may not show a new transfer yet.
 */
async function describeFailedRead(
  error: PaymentsError,
  { transferId, paidAt }: PaidEntry,
  { gracePeriod }: OnceContext,
  journal: GuardedJournal,
): Promise<PaymentsError> {
  const retryable =
    !(error instanceof NotFoundError) || (await journal.now()) - paidAt < gracePeriod;
  const hint = retryable ? 'Call createOnce again to get it.' : `${checkJournal}.`;
  const what = `The payment was made (${transferId}), but could not be read`;
  return reattribute(error, { what, hint }, { ...journal.errors.commonFields, retryable });
}

const checkJournal =
  'Check that the journal belongs to this platform; a sandbox that was reset needs a new one';
