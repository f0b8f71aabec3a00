import {
  callOptionChecks,
  checkBy,
  isBoolean,
  journalCheck,
  millisecondsOrInfinity,
  optionalCheck,
  sinceCheck,
  type OptionChecks,
  type RequestOptions,
} from '../calls/options.ts';
import { describeReferenceProblem } from '../internal/formats.ts';
import type { Journal } from '../journals/journal.ts';

/** Options of `transfers.createOnce`. */
export interface OnceOptions extends RequestOptions {
  /** The journal in which the call records the payment. Default: the client's journal. */
  journal?: Journal | undefined;
  /**
   * How long after its deadline a request may still take effect and appear in the platform's list,
   * in milliseconds; `Infinity` is allowed. Default: the client's `gracePeriod`.
   */
  gracePeriod?: number | undefined;
  /**
   * When this payment was first requested, such as the timestamp of its job: the same at every
   * call, not the time of the call. With `platform.transfersNewestFirst`, a search need not read
   * further back.
   */
  since?: Date | string | undefined;
}

/** Options of `transfers.decide`. */
export interface DecideOptions extends Omit<OnceOptions, 'since'> {
  /** The name of the operator who decides, kept in the payment's journal entry. */
  by?: string | undefined;
  /**
   * Decides in spite of what the list shows, once the claim's request has ended, and accepts an
   * entry of another platform. Also replaces a recorded transfer, unless the list shows a transfer
   * with the reference.
   * @default false
   */
  force?: boolean | undefined;
}

export const checkReference = /* @__PURE__ */ checkBy(describeReferenceProblem);

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

export const decideOptionChecks = (): OptionChecks<DecideOptions> => ({
  by: optionalCheck('a name', (value) => typeof value === 'string' && value !== ''),
  force: isBoolean,
  ...journalOptionChecks(),
});

/** The options of `createOnce` for its reads, without `query` and `body` of the creation. */
export const selectReadOptions = ({
  since: _since,
  journal: _journal,
  gracePeriod: _gracePeriod,
  ...callOptions
}: OnceOptions): RequestOptions => ({
  ...callOptions,
  query: undefined,
  body: undefined,
});
