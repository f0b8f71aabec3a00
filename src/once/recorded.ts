import { NotFoundError, PaymentsError } from '../errors/errors.ts';
import { reattribute } from '../errors/message.ts';
import type { PaidEntry } from '../journals/journal.ts';
import { isReference, journalKey } from '../internal/formats.ts';
import type { OnceInput, Transfer } from '../schemas/transfer.ts';
import { hasEqualTerms, isCertainlyOther } from '../search/compare.ts';
import type { OnceContext } from './context.ts';
import type { GuardedJournal } from './guarded-journal.ts';

/**
 * Reads the transfer of a payment that the journal records as made. Throws if the transfer belongs
 * to another payment, or does not exist on this platform.
 */
export async function readRecorded(
  entry: PaidEntry,
  input: OnceInput,
  context: OnceContext,
  journal: GuardedJournal,
): Promise<Transfer> {
  const { transferId, platform } = entry;
  const { errors } = journal;
  const isElsewhere = platform !== context.baseUrl;
  const madeElsewhere = `The payment was made (${transferId}) on another platform (${platform})`;
  let transfer: Transfer;
  try {
    transfer = await context.reads.get(transferId, journal.timeLeft);
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
  const isOther =
    isCertainlyOther(transfer, input) || (await isOfAnother(transfer, input, journal));
  if (isOther) {
    throw errors.createConflictError(
      `The journal names ${transferId} for this payment, but that transfer is another payment.\n${checkJournal}`,
    );
  }
  // If the entry has no terms, only the transfer can show that the caller has passed other terms.
  if (entry.input.amount !== undefined || hasEqualTerms(transfer, input)) return transfer;
  throw errors.createConflictError(
    `The payment was made with other terms (${transferId}).\nIf it is the same payment, pass the terms of its first call`,
  );
}

/** Whether a transfer's description is the reference of another payment in the journal, in the same spelling. */
async function isOfAnother(
  { description }: Transfer,
  input: OnceInput,
  journal: GuardedJournal,
): Promise<boolean> {
  if (!isReference(description) || journalKey(description) === journalKey(input.description)) {
    return false;
  }
  return (await journal.read(description))?.input.description === description;
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
  const isUnknown = error instanceof NotFoundError && error.code !== undefined;
  const what = isUnknown
    ? `The journal says that the payment was made (${transferId}), and the platform does not know that transfer`
    : `The payment was made (${transferId}), but could not be read`;
  const hint = [
    isUnknown && `${checkJournal}. ${lostTransfer}`,
    retryable && 'Call createOnce again to get it.',
  ]
    .filter(Boolean)
    .join('\n');
  return reattribute(error, { what, hint }, { ...journal.errors.commonFields, retryable });
}

const checkJournal =
  'Check that the journal belongs to this platform and credential; a platform that was reset, such as a sandbox restarted without --state, gives its ids again and needs a new journal';
const lostTransfer =
  'Otherwise the platform has lost the transfer: ask it, then record with transfers.decide and force what it says.';
