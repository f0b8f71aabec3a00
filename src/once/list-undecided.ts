import { invalidArguments } from '../calls/arguments.ts';
import {
  journalCheck,
  checkOptions,
  milliseconds,
  type OptionChecks,
  callOptionChecks,
  type RequestOptions,
} from '../calls/options.ts';
import { captureCallSite, rejectFromCallSite } from '../errors/call-site.ts';
import type { CallIdentity, Issue } from '../errors/errors.ts';
import { formatTime } from '../internal/text.ts';
import type { Journal, JournalTransition, OpenEntry } from '../journals/journal.ts';
import type { OnceInput } from '../schemas/transfer.ts';
import { GuardedJournal } from './guarded-journal.ts';
import { readFirstClaim, readHistory } from './entries.ts';
import type { ClientContext } from './context.ts';

/** Options of `transfers.listUndecided`. */
export interface ListUndecidedOptions extends Pick<RequestOptions, 'signal' | 'totalTimeout'> {
  /** Leaves out payments first claimed less than this many milliseconds ago, by the journal's clock. */
  olderThan?: number | undefined;
  /** The journal to list, with the method `open`. Default: the client's journal. */
  journal?: Journal | undefined;
}

/** A payment that `createOnce` has not decided yet, or a journal entry that cannot be read. */
export type UndecidedPayment = ClaimedPayment | UnreadablePayment;

/**
 * A journal entry that this SDK cannot read. Restore the entry from a backup, or search the
 * platform's list.
 */
type UnreadablePayment = {
  /** The key of the unreadable entry in the journal. */
  readonly reference: string;
  /** Marks a journal entry that this SDK cannot read. */
  readonly state: 'unreadable';
} & {
  /** Always absent, because the journal entry cannot be read. */
  readonly [Field in Exclude<keyof ClaimedPayment, 'reference' | 'state'>]?: undefined;
};

/** One change of state in the history of an undecided payment. */
type PaymentTransition = {
  /** When the change was made, in ISO 8601 by the journal's clock. */
  readonly at: string;
} & { [Field in keyof Omit<JournalTransition, 'at'>]: JournalTransition[Field] };

/** A payment that `createOnce` has not decided yet. */
type ClaimedPayment = {
  /** The reference of the payment, the `description` of its input. */
  readonly reference: string;
  /** `sending`: a call is paying, or has left the outcome unknown. `ambiguous`: an operator decides. */
  readonly state: OpenEntry['state'];
  /** When the latest call claimed the payment, in ISO 8601 by the journal's clock. */
  readonly claimedAt: string;
  /** When a call first claimed the payment, since the latest `not_paid`. */
  readonly firstClaimedAt: string;
  /** Until when the claim's request may take effect; null with `gracePeriod: Infinity`. */
  readonly expiresAt: string | null;
  /** The host name of the machine that claimed the payment. */
  readonly host: string;
  /** The input with which `createOnce` finishes the payment. */
  readonly input: OnceInput;
  /** The changes of the payment's journal entry, oldest first. */
  readonly history: readonly PaymentTransition[];
  /** Ids of the transfers that may be the payment; set when `state` is `ambiguous`. */
  readonly candidates?: readonly string[];
};

const openCall: CallIdentity = {
  operation: 'transfers.listUndecided',
  method: 'GET',
  path: '/transfers',
};

const openOptionChecks = (): OptionChecks<ListUndecidedOptions> => {
  const { signal, totalTimeout } = callOptionChecks();
  return { olderThan: milliseconds, journal: journalCheck(), signal, totalTimeout };
};

/** Lists undecided payments, then unreadable entries. Each loop reads the journal again. */
export function listUndecided(
  context: ClientContext,
  options: ListUndecidedOptions | undefined,
): AsyncIterable<UndecidedPayment> {
  const site = captureCallSite(listUndecided);
  return {
    async *[Symbol.asyncIterator]() {
      yield* await rejectFromCallSite(site, readUndecided(context, options));
    },
  };
}

/**
 * Reads the undecided payments, then the entries that cannot be read. With `olderThan`, leaves out
 * payments that were first claimed later.
 */
async function readUndecided(
  context: ClientContext,
  options: ListUndecidedOptions | undefined,
): Promise<UndecidedPayment[]> {
  const issues: Issue[] = [];
  const { olderThan, journal, signal, totalTimeout } = checkOptions(
    openOptionChecks,
    options,
    issues,
  );
  if (issues.length > 0) throw invalidArguments(openCall, issues, context.pipeline.redact);
  const guarded = new GuardedJournal(openCall, '', {
    ...context,
    journal: journal ?? context.journal,
    totalTimeout: totalTimeout ?? context.totalTimeout,
    signal,
  });
  const { open, unreadable } = await guarded.readOpen();
  const [oldest] = open;
  let claimedBefore = Infinity;
  if (olderThan !== undefined && oldest !== undefined) {
    claimedBefore = (await guarded.now(oldest.reference)) - olderThan;
  }
  const claimed = open
    .filter(({ entry }) => readFirstClaim(entry) < claimedBefore)
    .map(({ entry }) => ({
      reference: entry.input.description,
      state: entry.state,
      claimedAt: formatTime(entry.claimedAt),
      firstClaimedAt: formatTime(readFirstClaim(entry)),
      expiresAt: entry.expiresAt === null ? null : formatTime(entry.expiresAt),
      host: entry.host,
      input: entry.input,
      history: readHistory(entry).map(({ at, ...others }) => ({ at: formatTime(at), ...others })),
      ...(entry.state === 'ambiguous' && { candidates: entry.candidates }),
    }));
  return [
    ...claimed,
    ...unreadable.map((reference) => ({ reference, state: 'unreadable' as const })),
  ];
}
