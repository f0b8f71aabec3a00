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
import { epoch, maxCandidates } from '../search/search.ts';
import type { JournalContext } from './context.ts';
import type { TimeLeft } from './decision.ts';

/** The journal entry of a payment not recorded as paid; undefined if there is no entry. */
export type Before = OpenEntry | NotPaidEntry | undefined;

/** The payment that a journal entry is about. */
export type Terms = Pick<JournalEntry, 'input' | 'platform'>;

/** Whether a journal entry is open. journals/ has a copy, as the folders share no code. */
export const isOpen = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry?.state === 'sending' || entry?.state === 'ambiguous';

/** The time of the entry's first change; 1970 if the entry does not say. It bounds searches. */
export const readFirstTime = (entry: JournalEntry): number => {
  const at: unknown = readHistory(entry)[0]?.at ?? (isOpen(entry) ? entry.firstClaimedAt : epoch);
  return typeof at === 'number' && Number.isFinite(at) ? at : epoch;
};

/**
 * How long the request of a claim may still run, and how long the request may still take effect.
 * The latter has no end if the claim or this call has `gracePeriod: Infinity`.
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

/** Reads an entry's history. Leaves out what is no object, because the SDK writes only objects. */
export const readHistory = ({ history }: { history?: unknown }): readonly JournalTransition[] =>
  Array.isArray(history) ? (history.filter(isObject) as JournalTransition[]) : [];

/** The most transitions in an entry's history, so that the entry does not grow without bound. */
const maxTransitions = 32;

/** Adds a change of state to an entry's history. A full history drops its second change. */
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

/**
 * The journal entry of a call that will send the payment. `requestedAt` is when the payment was
 * first requested, as the caller states; `Infinity` if the caller does not.
 */
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
  const { firstClaimedAt = claimedAt } = isOpen(before) ? before : {};
  return {
    state: 'sending',
    claimId,
    host: hostName(),
    claimedAt,
    expiresAt,
    firstClaimedAt: Math.min(firstClaimedAt, claimedAt, Math.floor(requestedAt)),
    // A transfer that an operator has declared to be another payment is ignored in later calls.
    ...(before?.dismissed !== undefined && { dismissed: before.dismissed }),
    ...terms,
    history: addTransition(before, { at: claimedAt, state: 'sending', claimId }),
  };
};

/**
 * The entry that replaces a claim whose request was rejected. The entry from before the claim is
 * restored, because the request of an earlier claim may still have paid.
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

/** Sets a claim's time to `now` and shifts its end, because the clock that dated it was ahead. */
export const correctClaim = <T extends OpenEntry>(claim: T, now: number): T => ({
  ...claim,
  claimedAt: now,
  expiresAt: claim.expiresAt === null ? null : now + claim.expiresAt - claim.claimedAt,
  firstClaimedAt: epoch,
});

/**
 * The journal entry of a payment that an operator has to decide. `claim` is passed beside `before`,
 * because `before` has no claim if it is undefined or an operator's earlier decision.
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

/** The journal entry of a payment that was made. `by` names the operator, if one has decided. */
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

/**
 * The journal entry of an operator's decision that no transfer in `listed` is the payment. The
 * entry keeps these transfers in `dismissed`, so that no later search takes one for the payment.
 */
export function createNotPaid(
  before: OpenEntry | NotPaidEntry,
  resolvedAt: number,
  { listed, by }: { readonly listed: readonly string[]; readonly by: string | undefined },
  terms: Terms,
): NotPaidEntry {
  const dismissed = [...new Set([...(before.dismissed ?? []), ...listed])];
  return {
    state: 'not_paid',
    ...terms,
    ...(by !== undefined && { resolvedBy: by }),
    resolvedAt,
    ...(dismissed.length > 0 && { dismissed: dismissed.slice(0, maxCandidates) }),
    history: addTransition(before, {
      at: resolvedAt,
      state: 'not_paid',
      ...(by !== undefined && { by }),
    }),
  };
}
