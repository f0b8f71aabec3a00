import { isObject } from '../internal/objects.ts';
import { hostName } from '../internal/runtime.ts';
import type {
  AmbiguousEntry,
  JournalEntry,
  JournalTransition,
  NotPaidEntry,
  OpenEntry,
  PaidEntry,
  SendingEntry,
} from '../journals/journal.ts';
import type { TransferId } from '../schemas/transfer.ts';
import { epoch, maxCandidates } from '../search/search.ts';
import type { JournalContext } from './context.ts';
import type { TimeLeft } from './decision.ts';

/** The entry of a payment that is not known to be paid; undefined when the journal has none. */
export type Before = OpenEntry | NotPaidEntry | undefined;

/** Whose payment an entry is. */
export type Terms = Pick<JournalEntry, 'input' | 'platform'>;

/** Whether a payment is not decided. A copy of the one in journals/: the two folders share no code. */
export const isOpen = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry?.state === 'sending' || entry?.state === 'ambiguous';

/** A journal may have lost a field that it does not know. */
export const readFirstClaim = ({ firstClaimedAt }: { firstClaimedAt?: number }): number =>
  firstClaimedAt ?? epoch;

/**
 * How long the request of a claim may still run, and take effect. It may take effect for ever if the claim has no end, or
 * if this caller has `gracePeriod: Infinity`.
 */
export function findTimeLeft(
  { claimedAt, expiresAt }: OpenEntry,
  now: number,
  { totalTimeout, gracePeriod }: Pick<JournalContext, 'totalTimeout' | 'gracePeriod'>,
): TimeLeft {
  if (expiresAt === null || !Number.isFinite(gracePeriod)) {
    return { toRun: claimedAt + totalTimeout - now, toTakeEffect: Number.POSITIVE_INFINITY };
  }
  return { toRun: expiresAt - gracePeriod - now, toTakeEffect: expiresAt - now };
}

/** The history of an entry, without what another program may have written there. */
export const readHistory = ({ history }: { history?: unknown }): readonly JournalTransition[] =>
  Array.isArray(history) ? (history.filter(isObject) as JournalTransition[]) : [];

/** So that an entry does not grow without bound. */
const maxTransitions = 32;

/** The history of the entry that follows `before`. Above the limit, the oldest transition but the first goes. */
function addTransition(
  before: JournalEntry | undefined,
  { at, ...transition }: JournalTransition,
): readonly JournalTransition[] {
  const all = [
    ...readHistory(before ?? {}),
    { at: Math.floor(at), ...transition, host: hostName() },
  ];
  return all.length <= maxTransitions
    ? all
    : [...all.slice(0, 1), ...all.slice(1 - maxTransitions)];
}

/** The entry of a call that sends the payment. `requestedAt`: when the caller first asked for it. */
export const createClaim = (
  before: Before,
  {
    claimedAt,
    expiresAt,
    requestedAt,
  }: Pick<OpenEntry, 'claimedAt' | 'expiresAt'> & { readonly requestedAt: number },
  terms: Terms,
): SendingEntry => {
  const claimId = crypto.randomUUID();
  return {
    state: 'sending',
    claimId,
    host: hostName(),
    claimedAt,
    expiresAt,
    firstClaimedAt: Math.min(
      readFirstClaim(before ?? { firstClaimedAt: claimedAt }),
      claimedAt,
      Math.floor(requestedAt),
    ),
    // An operator has dismissed these once for all calls.
    ...(before?.dismissed !== undefined && { dismissed: before.dismissed }),
    ...terms,
    history: addTransition(before, { at: claimedAt, state: 'sending', claimId }),
  };
};

/**
 * The entry that replaces a claim whose request was rejected. It is the one from before that claim, because the request
 * of an earlier claim may still have paid.
 */
export const withdrawClaim = (before: Before, claim: SendingEntry, at: number): Before =>
  before && {
    ...before,
    history: addTransition(claim, {
      at,
      state: before.state,
      ...(isOpen(before) && { claimId: before.claimId }),
    }),
  };

/** A claim whose times are of a clock that was ahead, at `now`: the time of the first claim is then not known. */
export const correctClaim = <T extends OpenEntry>(claim: T, now: number): T => ({
  ...claim,
  claimedAt: now,
  expiresAt: claim.expiresAt === null ? null : now + claim.expiresAt - claim.claimedAt,
  firstClaimedAt: epoch,
});

/**
 * The entry of a payment that an operator decides. The claim is passed beside `before`, because the journal has none if it
 * has no entry of the payment, or only an operator's decision.
 */
export const createAmbiguous = (
  before: Before,
  {
    claim,
    candidates,
    at,
  }: Pick<AmbiguousEntry, 'candidates'> & {
    readonly claim: OpenEntry;
    readonly at: number;
  },
): AmbiguousEntry => ({
  ...claim,
  state: 'ambiguous',
  candidates,
  history: addTransition(before, { at, state: 'ambiguous', claimId: claim.claimId }),
});

export const createPaid = (
  before: JournalEntry | undefined,
  {
    transferId,
    at,
    by,
  }: Pick<PaidEntry, 'transferId'> & { readonly at: number; readonly by?: string | undefined },
  terms: Terms,
): PaidEntry => ({
  state: 'paid',
  ...terms,
  transferId,
  paidAt: Math.floor(at),
  ...(by !== undefined && { resolvedBy: by }),
  history: addTransition(before, {
    at,
    state: 'paid',
    transferId,
    ...(by !== undefined && { by }),
  }),
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
    history: addTransition(before, {
      at: resolvedAt,
      state: 'not_paid',
      ...(by !== undefined && { by }),
    }),
  };
}
