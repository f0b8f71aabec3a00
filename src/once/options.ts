import {
  callOptionChecks,
  isBoolean,
  journalCheck,
  millisecondsOrInfinity,
  optionalCheck,
  sinceCheck,
  type OptionChecks,
  type RequestOptions,
} from '../calls/options.ts';
import type { Journal } from '../journals/journal.ts';

/** Options of `transfers.createOnce`. */
export interface OnceOptions extends RequestOptions {
  /** Where the call records what it is about to do. Default: the client's. */
  journal?: Journal | undefined;
  /**
   * How long after its deadline a request may still take effect and appear in the list, in
   * milliseconds; `Infinity` is allowed. Default: the client's.
   */
  gracePeriod?: number | undefined;
  /**
   * When this payment was first requested, the same at every call: the timestamp of its job, never of the
   * call. With `transfersNewestFirst`, a search stops before it.
   */
  since?: Date | string | undefined;
}

/** Options of `transfers.resolveOnce`. */
export interface ResolveOptions extends Omit<OnceOptions, 'since'> {
  /** Who decides; kept in the journal's entry. */
  by?: string | undefined;
  /**
   * Accepts `'not_paid'` even if the claim has not expired, the list shows the payment, or the entry is of another
   * platform. @default false
   */
  force?: boolean | undefined;
}

const journalOptionChecks = (): OptionChecks<Omit<OnceOptions, 'since'>> => ({
  journal: journalCheck(),
  gracePeriod: millisecondsOrInfinity,
  ...callOptionChecks(),
});

export const onceOptionChecks = (): OptionChecks<OnceOptions> => ({
  since: sinceCheck,
  ...journalOptionChecks(),
});

/** The names of the options of `create` and `createOnce`. */
export const onceOptionNames = (): string[] => Object.keys(onceOptionChecks());

export const resolveOptionChecks = (): OptionChecks<ResolveOptions> => ({
  by: optionalCheck('a name', (value) => typeof value === 'string' && value !== ''),
  force: isBoolean,
  ...journalOptionChecks(),
});

/** The options that a call passes to its reads. Its `query` and `body` are left out, because they are meant for the creation. */
export const selectReadOptions = ({
  journal: _journal,
  gracePeriod: _gracePeriod,
  ...callOptions
}: Omit<OnceOptions, 'since'>): RequestOptions => ({
  ...callOptions,
  query: undefined,
  body: undefined,
});
