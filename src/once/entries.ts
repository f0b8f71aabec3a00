import { hostName } from '../internal/runtime.ts';
import type {
  AmbiguousEntry,
  JournalEntry,
  NotPaidEntry,
  OpenEntry,
  PaidEntry,
  SendingEntry,
} from '../journals/journal.ts';
import type { TransferId } from '../schemas/transfer.ts';
import { epoch, maxCandidates } from '../search/search.ts';

/** The entry of a payment that is not known to be paid; undefined when the journal has none. */
export type Before = OpenEntry | NotPaidEntry | undefined;

/** Whose payment an entry is. */
type Terms = Pick<JournalEntry, 'input' | 'platform'>;

/** Whether a payment is not decided. A copy of the one in journals/: the two folders share no code. */
export const isOpen = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry?.state === 'sending' || entry?.state === 'ambiguous';

/** A journal may have lost a field that it does not know. */
export const readFirstClaim = ({ firstClaimedAt }: { firstClaimedAt?: number }): number =>
  firstClaimedAt ?? epoch;

/** The entry of a call that sends the payment. `requestedAt`: when the caller first asked for it. */
export const createClaim = (
  before: Before,
  {
    claimedAt,
    expiresAt,
    requestedAt,
  }: Pick<OpenEntry, 'claimedAt' | 'expiresAt'> & { readonly requestedAt: number },
  terms: Terms,
): SendingEntry => ({
  state: 'sending',
  claimId: crypto.randomUUID(),
  host: hostName(),
  claimedAt,
  expiresAt,
  firstClaimedAt: Math.min(
    readFirstClaim(before ?? { firstClaimedAt: claimedAt }),
    claimedAt,
    requestedAt,
  ),
  // An operator has dismissed these once for all calls.
  ...(before?.dismissed !== undefined && { dismissed: before.dismissed }),
  ...terms,
});

/** A claim whose times are of a clock that was ahead, at `now`: the time of the first claim is then not known. */
export const correctClaim = <T extends OpenEntry>(claim: T, now: number): T => ({
  ...claim,
  claimedAt: now,
  expiresAt: now + claim.expiresAt - claim.claimedAt,
  firstClaimedAt: epoch,
});

/** The entry that an operator can see and resolve. */
export const createAmbiguous = (
  claim: OpenEntry,
  candidates: readonly TransferId[],
): AmbiguousEntry => ({ ...claim, state: 'ambiguous', candidates });

export const createPaid = (
  transferId: TransferId,
  paidAt: number,
  terms: Terms,
  resolvedBy?: string,
): PaidEntry => ({
  state: 'paid',
  ...terms,
  transferId,
  paidAt,
  ...(resolvedBy !== undefined && { resolvedBy }),
});

/** The entry of an operator's decision, which dismisses the transfers that the list shows. */
export function createNotPaid(
  before: OpenEntry | NotPaidEntry,
  resolvedAt: number,
  { listed, by }: { readonly listed: readonly TransferId[]; readonly by: string | undefined },
  terms: Terms,
): NotPaidEntry {
  const dismissed = [...new Set([...(before.dismissed ?? []), ...listed])];
  return {
    state: 'not_paid',
    ...terms,
    ...(by !== undefined && { resolvedBy: by }),
    resolvedAt,
    firstClaimedAt: readFirstClaim(before),
    ...(dismissed.length > 0 && { dismissed: dismissed.slice(0, maxCandidates) }),
  };
}
