import { ValidationError } from '../errors/errors.ts';
import { createError } from '../errors/message.ts';
import { issueAt } from '../internal/issues.ts';
import {
  isKnownTransferStatus,
  statusMeanings,
  type KnownTransferStatus,
  type TransferCreated,
} from '../schemas/transfer.ts';

type Meaning = (typeof statusMeanings)[KnownTransferStatus];

/** What a Transfer's status means for the money; undefined, and not final, if undocumented. */
export const statusMeaning = ({ status }: { readonly status: string }): Meaning | undefined =>
  isKnownTransferStatus(status) ? statusMeanings[status] : undefined;

/**
 * Whether a Transfer has one of these statuses. Narrows its type. Use this function instead of
 * `===`, because a misspelt status then does not compile.
 * @throws {@link ValidationError} for a status that is no string, such as an array
 * @example
 * ```ts
 * import { hasTransferStatus, PaymentsClient } from 'payments-platform-sdk';
 *
 * const payments = new PaymentsClient();
 * const transfer = await payments.transfers.get('txfr_000001');
 * if (hasTransferStatus(transfer, 'failed', 'cancelled')) console.log('the money did not arrive');
 * ```
 */
export function hasTransferStatus<T extends TransferCreated, Status extends KnownTransferStatus>(
  transfer: T,
  ...statuses: readonly [Status, ...Status[]]
): transfer is T & { readonly status: Status } {
  const values: readonly string[] = statuses;
  const at = values.findIndex((value) => typeof value !== 'string');
  if (at < 0) return values.includes(transfer.status);
  const issue = issueAt(`statuses[${at}]`, { expected: 'a status' }, values[at]);
  const what = `${issue.path}: ${issue.message}`;
  const hint =
    "Pass each status as an argument: hasTransferStatus(transfer, 'failed', 'cancelled').";
  throw createError(ValidationError, { what, hint }, { outcome: 'not_sent', issues: [issue] });
}
