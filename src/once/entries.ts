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
export type Terms = Pick<OpenEntry, 'input' | 'platform'>;

/** Whether a journal entry is open. journals/ has a copy, because once/ imports only types from there. */
export const isOpen = (entry: JournalEntry | undefined): entry is OpenEntry =>
  entry?.state === 'sending' || entry?.state === 'ambiguous';

/** The time of the first claim since the latest `not_paid`, at which the age of an open payment begins. */
export const readFirstClaim = ({ firstClaimedAt, claimedAt }: OpenEntry): number =>
  // 0.4.0 wrote 0 for a time that it did not know, and another program may write none.
  firstClaimedAt > 0 ? Math.min(firstClaimedAt, claimedAt) : claimedAt;

/** The time of the entry's first change, to bound a search; 1970 if the entry does not say. */
export const readFirstTime = (entry: JournalEntry): number => {
  const at: unknown = readHistory(entry)[0]?.at ?? (isOpen(entry) ? entry.firstClaimedAt : epoch);
  return typeof at === 'number' && Number.isFinite(at) ? at : epoch;
};

/**
 * How long a claim's request may still run, and how long it may still take effect. The longer grace
 * period decides, the claim's or this call's. Assumption A2: docs/proof.md.
 */
export function findTimeLeft(
  claim: OpenEntry,
  now: number,
  { totalTimeout, gracePeriod }: Pick<JournalContext, 'totalTimeout' | 'gracePeriod'>,
): TimeLeft {
  const { deadline, expiresAt } = claim;
  const endsAt = expiresAt ?? Number.POSITIVE_INFINITY;
  const toRun = readDeadline(claim, totalTimeout) - now;
  if (deadline === undefined) {
    const toTakeEffect = Number.isFinite(gracePeriod) ? endsAt - now : Number.POSITIVE_INFINITY;
    return { toRun, toTakeEffect };
  }
  return { toRun, toTakeEffect: Math.max(endsAt, deadline + gracePeriod) - now };
}

/** When a claim's request ends. A claim of 0.4.0 says only when its grace period ends. */
export const readDeadline = (
  { claimedAt, deadline, expiresAt }: OpenEntry,
  totalTimeout: number,
): number => deadline ?? Math.min(claimedAt + totalTimeout, expiresAt ?? Number.POSITIVE_INFINITY);

/** Reads an entry's history, without values that are no objects, because another program may have written them. */
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

/** How long the request of a new claim may run and take effect, by the journal's clock. */
export interface ClaimTimes {
  readonly claimedAt: number;
  readonly totalTimeout: number;
  readonly gracePeriod: number;
  /** The latest time of the platform that this process knows. */
  readonly platformTime: number | undefined;
}

/** Creates the journal entry of a call that will send the payment. */
export const createClaim = (
  before: Before,
  { claimedAt, totalTimeout, gracePeriod, platformTime }: ClaimTimes,
  terms: Terms,
): SendingEntry => {
  const claimId = crypto.randomUUID();
  const deadline = claimedAt + totalTimeout;
  const first = isOpen(before)
    ? { firstClaimedAt: readFirstClaim(before), platformTime: before.platformTime }
    : { firstClaimedAt: claimedAt, platformTime };
  return {
    state: 'sending',
    claimId,
    host: hostName(),
    claimedAt,
    deadline,
    // If a claim never expires, the entry has `null`, because JSON has no Infinity.
    expiresAt: Number.isFinite(gracePeriod) ? deadline + gracePeriod : null,
    firstClaimedAt: first.firstClaimedAt,
    ...(Number.isFinite(first.platformTime) && { platformTime: first.platformTime }),
    ...keepDismissed(before),
    ...terms,
    history: addTransition(before, { at: claimedAt, state: 'sending', claimId }),
  };
};

/** Keeps the ids that an operator has dismissed, so that later searches ignore these transfers. */
const keepDismissed = (before: JournalEntry | undefined) =>
  before?.dismissed !== undefined && { dismissed: before.dismissed };

/**
 * Returns the entry from before a claim whose request had no effect. That entry may be an earlier
 * claim, whose request may still have paid.
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

/** Moves a claim's times to the present, because the clock that dated the claim was ahead. */
export const correctClaim = <T extends OpenEntry>(claim: T, now: number): T => {
  const { claimedAt, deadline, expiresAt } = claim;
  const ahead = claimedAt - now;
  return {
    ...claim,
    claimedAt: now,
    ...(deadline !== undefined && { deadline: deadline - ahead }),
    expiresAt: expiresAt === null ? null : expiresAt - ahead,
    firstClaimedAt: readFirstClaim(claim) - ahead,
    history: readHistory(claim).map((change) => ({ ...change, at: change.at - ahead })),
  };
};

/**
 * Creates the entry of a payment that an operator has to decide. `claim` is the open claim. `before`
 * is the stored entry, whose history goes on; it may be absent or an earlier decision.
 */
export const createAmbiguous = (
  before: Before,
  {
    claim,
    candidates,
    sharedWith,
    at,
  }: Pick<AmbiguousEntry, 'candidates' | 'sharedWith'> & {
    readonly claim: OpenEntry;
    readonly at: number;
  },
): AmbiguousEntry => ({
  ...claim,
  state: 'ambiguous',
  candidates,
  ...(sharedWith !== undefined && { sharedWith }),
  history: addTransition(before, { at, state: 'ambiguous', claimId: claim.claimId }),
});

/** Creates the entry of a payment that was made. `by` names the operator, if an operator decided. */
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
  ...keepDismissed(before),
  ...(by !== undefined && { resolvedBy: by }),
  history: addTransition(before, {
    at,
    state: 'paid',
    transferId,
    ...(by !== undefined && { by }),
  }),
});

/**
 * Creates the entry of an operator's decision that no transfer in `listed` is the payment. Keeps
 * these transfers in `dismissed`, so that later searches ignore them.
 */
export function createNotPaid(
  before: JournalEntry,
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
