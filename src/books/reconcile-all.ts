import { invalidArguments } from '../calls/arguments.ts';
import {
  callOptionChecks,
  checkBy,
  checkOptions,
  isBoolean,
  optionalCheck,
  parseSince,
  sinceCheck,
  type OptionChecks,
  type RequestOptions,
} from '../calls/options.ts';
import type { Inputs, ReadInput } from '../calls/inputs.ts';
import { PaymentInDoubtError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { describeIdProblem } from '../internal/formats.ts';
import { join } from '../internal/issues.ts';
import { cloneInput } from '../internal/objects.ts';
import type { OnceInput } from '../schemas/transfer.ts';
import { FailedAccounts, requireOfOneAccount } from './failed-accounts.ts';
import { readInputsOfBooks, type BookedInputs } from './inputs.ts';
import { createReconciledBooks, type ReconciledBooks } from './reconciled-books.ts';
import { SourceBooks, type Books, type BooksContext } from './source-books.ts';

/** Options of `transfers.reconcileAll`. */
export interface ReconcileAllOptions extends RequestOptions {
  /**
   * Transfers that were created before this time are not reported as `unexpected`. With
   * `platform.transfersNewestFirst`, the list is read only back to this time, so choose a time
   * before the first of your payments.
   * @default 1970
   */
  since?: Date | string | undefined;
  /**
   * Transfers created at this time or later are not reported as `unexpected`. A Transfer without a
   * readable `createdAt` is reported in spite of `since` and `until`. Default: no limit.
   */
  until?: Date | string | undefined;
  /** Whether to also return Transfers that match none of your inputs. @default false */
  unexpected?: boolean | undefined;
  /** Further accounts to check for `unexpected` Transfers, although no input pays from them. */
  accounts?: readonly string[] | undefined;
}

export const reconcileAllCall: CallIdentity = {
  operation: 'transfers.reconcileAll',
  method: 'GET',
  path: '/transfers',
};

const reconcileAllOptionChecks = (): OptionChecks<ReconcileAllOptions> => ({
  since: sinceCheck,
  until: sinceCheck,
  unexpected: isBoolean,
  accounts: (value, at, issues) => {
    optionalCheck('an array of account ids', Array.isArray)(value, at, issues);
    for (const [index, id] of Array.isArray(value) ? value.entries() : []) {
      checkBy((account) => describeIdProblem('acc_', account))(id, join(at, [index]), issues);
    }
  },
  ...callOptionChecks(),
});

/** Compares the caller's payments with the platform's lists of transfers. Sends no payment. */
export function reconcileAll(
  context: BooksContext,
  inputs: Inputs<OnceInput>,
  options: ReconcileAllOptions | undefined,
): ReconciledBooks {
  return createReconciledBooks(
    context,
    reconcileAllCall,
    inputs,
    reconcileAll,
    async function* (readInputs) {
      const { sources, books } = await readBooks(context, inputs, readInputs, options);
      const failures = new FailedAccounts(context, reconcileAllCall);
      for (const [source, payments] of sources) {
        try {
          yield* new SourceBooks(books, source, payments).rows();
        } catch (error) {
          // The journal would also fail for the other accounts.
          if (error instanceof PaymentInDoubtError) throw error;
          failures.add(source, requireOfOneAccount(error));
        }
      }
      failures.throwIfAny();
    },
  );
}

/**
 * Checks the arguments and reads the inputs. Returns the payments by source account, and the
 * settings of the comparison.
 */
async function readBooks(
  context: BooksContext,
  inputs: Inputs<OnceInput>,
  readInputs: () => Inputs<ReadInput<OnceInput>>,
  options: ReconcileAllOptions | undefined,
): Promise<{ sources: BookedInputs['sources']; books: Books }> {
  const issues: Issue[] = [];
  const checked = checkOptions(reconcileAllOptionChecks, cloneInput(options), issues);
  const { since, until, unexpected = false, accounts = [], ...paging } = checked;
  const start = parseSince(since, context.transferSearch.now(), issues);
  const end = until === undefined || issues.length > 0 ? undefined : new Date(until).getTime();
  if (start !== undefined && end !== undefined && end <= start) {
    issues.push({ path: 'options.until', message: 'expected a time after options.since' });
  }
  const { sources, references } = await readInputsOfBooks(inputs, readInputs, issues);
  if (issues.length > 0) throw invalidArguments(reconcileAllCall, issues, context.redact);
  // The list of an account without payments is read, too, because it may show unexpected transfers.
  for (const account of accounts) sources.set(account, sources.get(account) ?? []);
  const limits = { paging, since: start, until: end, unexpected };
  return { sources, books: { ...context, ...limits, references } };
}
