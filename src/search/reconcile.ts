import { cloneInput } from '../internal/objects.ts';
import { argument, invalidArguments, validate } from '../calls/arguments.ts';
import type { Issue } from '../errors/errors.ts';
import type { Redact } from '../errors/redact.ts';
import {
  parseSince,
  sinceCheck,
  callOptionChecks,
  type RequestOptions,
  checkOptions,
  optionalCheck,
  type OptionChecks,
} from '../calls/options.ts';
import type { Clock } from '../calls/time.ts';
import type { Trace } from '../calls/tracing.ts';
import { transferCreateInputSchema, type TransferCreateInput } from '../schemas/transfer.ts';
import {
  epoch,
  reconcileCall,
  stillInDoubt,
  type Reconciliation,
  type Search,
  type TransferSearch,
} from './search.ts';

/** Options of `transfers.reconcile`. */
export interface ReconcileOptions extends RequestOptions {
  /**
   * When this payment was first tried: a time before that call, or `error.startedAt`. Without
   * `since`, only an input with a `description` can be `found`.
   * @default 1970
   */
  since?: Date | string | undefined;
  /**
   * How many milliseconds this machine's clock and the platform's may differ. A Transfer from up to
   * that long before `since` is `found` only if your input has a `description`.
   * @default 120000
   */
  clockSkew?: number | undefined;
}

/**
 * Searches the source account's list for one payment, the whole list unless the user asserts its
 * order: docs/gaps.md, row 54. Each error, also of an invalid argument, says that the payment is
 * still in doubt.
 */
export async function reconcileTransfer(
  search: TransferSearch,
  input: TransferCreateInput,
  options: ReconcileOptions | undefined,
  client: {
    readonly pipeline: { readonly redact: Redact };
    readonly clock: Required<Clock>;
    readonly totalTimeout: number;
  },
  within: Trace,
): Promise<Reconciliation> {
  const { clock, pipeline } = client;
  const issues: Issue[] = [];
  const { since, clockSkew, ...paging } = checkOptions(
    reconcileOptionChecks,
    cloneInput(options),
    issues,
  );
  // Without a valid `since`, a later search has to start in 1970, before the first Transfer.
  const start = parseSince(since, search.now(), issues, clockSkew) ?? epoch;
  // With the option names, the error can say that an unknown field of the input is an option.
  const checkedInput = validate(argument(transferCreateInputSchema(), input), issues, () =>
    Object.keys(reconcileOptionChecks()),
  );
  if (checkedInput === undefined || issues.length > 0) {
    throw stillInDoubt(invalidArguments(reconcileCall, issues, pipeline.redact), start);
  }
  const target: Search = {
    input: checkedInput,
    start,
    clockSkew,
    earliest: start,
    scans: 'confirmed',
  };
  const endsAt = clock.elapsed() + (paging.totalTimeout ?? client.totalTimeout);
  const timeLeft = () => endsAt - clock.elapsed();
  const scanOptions = { paging, within, timeLeft };
  return await search.searchOne(target, scanOptions);
}

const reconcileOptionChecks = (): OptionChecks<ReconcileOptions> => ({
  since: sinceCheck,
  clockSkew: optionalCheck(
    'milliseconds, 0 or more',
    (value) => typeof value === 'number' && value >= 0,
  ),
  ...callOptionChecks(),
});
