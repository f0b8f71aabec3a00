import type { Pager } from '../lists/pager.ts';
import { defaultGracePeriod, type RequestOptions } from '../calls/options.ts';
import {
  isTransferId,
  type OnceInput,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferListQuery,
} from '../schemas/transfer.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';
import type { ResolvedPlatform } from '../calls/platform.ts';
import { runFromCallSite } from '../errors/call-site.ts';
import type { CallIdentity } from '../errors/errors.ts';
import type { Batch } from '../once/batch-results.ts';
import { createAllOnce, type BatchOptions } from '../once/create-all-once.ts';
import { createOnce, type TransferCreatedOnce } from '../once/create-once.ts';
import { createCallOf } from '../once/creation.ts';
import { forgetCreations } from '../once/doubts.ts';
import type { ClientContext } from '../once/context.ts';
import {
  listUndecided,
  type ListUndecidedOptions,
  type UndecidedPayment,
} from '../once/list-undecided.ts';
import { decide, decideCall } from '../once/decide.ts';
import { LastSearches } from '../once/last-searches.ts';
import type { DecideOptions, OnceOptions } from '../once/options.ts';
import {
  reconcileAll,
  reconcileAllCall,
  type ReconcileAllOptions,
} from '../books/reconcile-all.ts';
import type { ReconciledBooks } from '../books/reconciled-books.ts';
import type { ReconciledPayment } from '../books/rows.ts';
import { waitForAll, waitForAllCall, type WaitForAllOptions } from '../books/wait-for-all.ts';
import { createRecordReader, GuardedJournal } from '../once/guarded-journal.ts';
import { findOwner } from '../once/payment-search.ts';
import { ListOrder } from '../search/list-order.ts';
import { reconcileTransfer, type ReconcileOptions } from '../search/reconcile.ts';
import { reconcileCall, TransferSearch, type Reconciliation } from '../search/search.ts';
import { TransferApi } from '../search/transfer-api.ts';
import { waitCall, waitForTransfer, type WaitOptions } from './wait-for.ts';

// The API reference names no call that cancels a Transfer: docs/gaps.md, row 27.
/** Methods for Transfers, the movements of funds. */
export class Transfers {
  readonly #api: TransferApi;
  readonly #once: ClientContext;
  readonly #pipeline: RequestPipeline;

  /** @internal */
  constructor(
    versioned: RequestPipeline,
    defaults: Omit<ClientContext, 'pipeline' | 'api' | 'transferSearch' | 'lastSearches'> & {
      readonly platform: Pick<
        ResolvedPlatform,
        'transfersFilter' | 'transfersNewestFirst' | 'descriptions'
      >;
    },
  ) {
    const { clock, platform } = defaults;
    const { redact } = versioned;
    const api = new TransferApi(versioned, platform.transfersFilter);
    const now = () => clock.now();
    const listOrder = new ListOrder(platform.transfersNewestFirst);
    const transferSearch = new TransferSearch(api, { now, redact, listOrder });
    this.#api = api;
    const lastSearches = new LastSearches();
    this.#once = { ...defaults, pipeline: versioned, api, transferSearch, lastSearches };
    this.#pipeline = versioned;
  }

  /**
   * Makes a payment once, by `input.description`, as long as you keep the
   * {@link ClientOptions.journal}, and a request has taken effect and is listed within 15 minutes of
   * its end (`gracePeriod`).
   * @throws {@link PaymentInDoubtError} call again after `retryAfterMs`
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   * import { sqliteJournal } from 'payments-platform-sdk/journals';
   * const journal = sqliteJournal('/var/lib/payments/journal.db');
   * const payments = new PaymentsClient({ journal });
   * const { id, result } = await payments.transfers.createOnce({
   *   sourceAccountId: 'acc_000001',
   *   destinationAccountId: 'acc_000002',
   *   amount: '12.50',
   *   description: 'invoice 4711',
   * });
   * console.log(id, result);
   * ```
   */
  createOnce(input: OnceInput, options?: OnceOptions): Promise<TransferCreatedOnce> {
    return runFromCallSite(() => createOnce(this.#once, input, options));
  }

  /**
   * Sends money and resolves to the accepted Transfer; unlike `createOnce`, each call pays again.
   * Retries only if the last attempt provably had no effect, or with `platform.idempotencyHeader`.
   * @throws {@link PaymentsError} whose `outcome` says whether money may have moved
   * @example
   * ```ts
   * import { isOutcomeUnknown, PaymentsClient } from 'payments-platform-sdk';
   * const payments = new PaymentsClient();
   * const input = {
   *   sourceAccountId: 'acc_000001',
   *   destinationAccountId: 'acc_000002',
   *   amount: '12.50',
   * };
   * try {
   *   console.log((await payments.transfers.create(input)).id);
   * } catch (error) {
   *   if (!isOutcomeUnknown(error)) throw error; // No money moved.
   *   console.log(await payments.transfers.reconcile(input, { since: error.startedAt }));
   * }
   * ```
   */
  create(input: TransferCreateInput, options?: RequestOptions): ApiCall<TransferCreated> {
    const call = createCallOf(input, this.#once);
    return this.#pipeline.call(call, options, { needsAuthorization: true });
  }

  /**
   * Makes many payments, each once, as `createOnce` does. `await` the batch or iterate; after a
   * crash, call again with the same inputs. An accepted Transfer may still fail: see `waitForAll`.
   * @example
   * ```ts
   * import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
   * import { sqliteJournal } from 'payments-platform-sdk/journals';
   *
   * const journal = sqliteJournal('/var/lib/payments/journal.db');
   * const payments = new PaymentsClient({ journal });
   * const salaries: OnceInput[] = [];
   * const { counts, unpaid } = await payments.transfers.createAllOnce(salaries);
   * for (const { reference, result, error } of unpaid) console.error(reference, result, error);
   * console.log(counts.paid);
   * ```
   */
  createAllOnce(
    inputs: Iterable<OnceInput> | AsyncIterable<OnceInput>,
    options?: BatchOptions,
  ): Batch {
    return createAllOnce(this.#once, inputs, options);
  }

  /**
   * Lists the undecided payments in the journal, oldest first. To finish a payment, pass
   * its `input` to `createOnce`.
   * @throws {@link PaymentInDoubtError} when the journal fails
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   * import { memoryJournal } from 'payments-platform-sdk/journals';
   *
   * const payments = new PaymentsClient({ journal: memoryJournal() });
   * for await (const { input } of payments.transfers.listUndecided({ olderThan: 1_200_000 })) {
   *   if (input) console.log((await payments.transfers.createOnce(input)).id);
   * }
   * ```
   */
  listUndecided(options?: ListUndecidedOptions): AsyncIterable<UndecidedPayment> {
    return listUndecided(this.#once, options);
  }

  /**
   * Records an operator's decision on a payment in doubt: its Transfer's id, or `'not_paid'`, so
   * that the next `createOnce` sends it.
   * @throws {@link PaymentInDoubtError} `in_doubt` if too early, `conflict` if the list shows it
   * @throws {@link ValidationError} for an unknown reference
   * @example
   * ```ts
   * import { PaymentInDoubtError, PaymentsClient } from 'payments-platform-sdk';
   * import { memoryJournal } from 'payments-platform-sdk/journals';
   *
   * const payments = new PaymentsClient({ journal: memoryJournal() });
   * try {
   *   await payments.transfers.decide('invoice 4711', 'txfr_000001', { by: 'ops' });
   * } catch (error) {
   *   if (!(error instanceof PaymentInDoubtError)) throw error;
   *   console.log(error.reason, error.message); // conflict, if it is the transfer of another payment
   * }
   * ```
   */
  decide(reference: string, verdict: string, options?: DecideOptions): Promise<void> {
    return runFromCallSite(() =>
      this.#pipeline.trace(decideCall, reference, (trace) =>
        decide(this.#once, reference, verdict, options, trace),
      ),
    );
  }

  /**
   * Lists Transfers: `await` one page, or `for await` all of them.
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const query = { accountId: 'acc_000001' };
   * for await (const { id, amount } of payments.transfers.list(query)) console.log(id, amount);
   * ```
   */
  list(query?: TransferListQuery, options?: RequestOptions): Pager<Transfer> {
    return this.#api.list(query, options);
  }

  /**
   * Gets one Transfer.
   * @throws {@link NotFoundError} when no Transfer has this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * console.log((await payments.transfers.get('txfr_000001')).status);
   * ```
   */
  get(id: string, options?: RequestOptions): ApiCall<Transfer> {
    return this.#api.get(id, options);
  }

  /**
   * Polls a Transfer until it is `completed`, and resolves to it. To follow many, use `waitForAll`.
   * @throws {@link WaitError} with `last`, when it failed, was open again after its end, or
   *   time ran out, which proves nothing about the money
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const until = ({ status }: { status: string }) => status !== 'completed';
   * console.log((await payments.transfers.waitFor('txfr_000001', { until })).status);
   * ```
   */
  waitFor(id: string, options?: WaitOptions): Promise<Transfer> {
    return runFromCallSite(() =>
      this.#pipeline.trace(waitCall, undefined, (trace) => {
        const poll = (polling: RequestOptions) => this.#api.get(id, polling, { within: trace });
        return waitForTransfer(id, poll, this.#once.clock, this.#pipeline.redactOwn, options);
      }),
    );
  }

  /**
   * Searches the source Account for a Transfer whose outcome is unknown; sends no payment.
   * `not_found` proves nothing until `totalTimeout` and some minutes have passed.
   * @throws {@link PaymentsError} with `outcome` `unknown`: reconcile again
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const input = {
   *   sourceAccountId: 'acc_000001',
   *   destinationAccountId: 'acc_000002',
   *   amount: '12.50',
   *   description: 'invoice 4711',
   * };
   * console.log((await payments.transfers.reconcile(input)).result);
   * ```
   */
  reconcile(input: TransferCreateInput, options?: ReconcileOptions): Promise<Reconciliation> {
    return runFromCallSite(() =>
      this.#pipeline.trace(reconcileCall, undefined, async (trace) => {
        const client = this.#once;
        const found = await reconcileTransfer(client.transferSearch, input, options, client, trace);
        // A search that comes too early proves nothing, and after an ambiguous search somebody has to look.
        const decides = {
          found: Number.POSITIVE_INFINITY,
          not_found: client.clock.now() - defaultGracePeriod,
          ambiguous: Number.NEGATIVE_INFINITY,
        };
        forgetCreations(client.baseUrl, input, decides[found.result]);
        return found;
      }),
    );
  }

  /**
   * Compares a payroll or a day of your own books with the platform; sends no payment. `await`
   * the result for totals and open payments, or iterate over all payments.
   * @throws {@link PaymentsError} with `errors`, if accounts could not be read
   * @example
   * ```ts
   * import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const salaries: OnceInput[] = [];
   * const { totals, open } = await payments.transfers.reconcileAll(salaries);
   * for (const { reference, result } of open) console.error(reference, result);
   * console.log(totals.completed.amounts);
   * ```
   */
  reconcileAll(
    inputs: Iterable<OnceInput> | AsyncIterable<OnceInput>,
    options?: ReconcileAllOptions,
  ): ReconciledBooks {
    return reconcileAll(this.#booksContext(reconcileAllCall), inputs, options);
  }

  /**
   * Follows payments until they end; sends no payment, keeps no state. `for await` yields each
   * payment at its end or after `timeout`; `await` returns totals and what did not arrive.
   * @throws {@link PaymentsError} with `errors` of failed accounts; 401, abort
   * @example
   * ```ts
   * import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
   * const payments = new PaymentsClient();
   * const salaries: OnceInput[] = [];
   * for await (const { reference, result } of payments.transfers.waitForAll(salaries)) {
   *   console.log(reference, result);
   * }
   * ```
   */
  waitForAll(
    inputs: Iterable<OnceInput> | AsyncIterable<OnceInput>,
    options?: WaitForAllOptions,
  ): ReconciledBooks<ReconciledPayment> {
    return waitForAll(this.#booksContext(waitForAllCall), inputs, options);
  }

  #booksContext(call: CallIdentity) {
    const readRecord = createRecordReader(this.#once, call);
    const isOfJournal = async (transfer: Transfer, signal: AbortSignal | undefined) => {
      const journal = new GuardedJournal(call, '', { ...this.#once, signal });
      return isTransferId(transfer.id) && (await findOwner(journal, transfer)) !== undefined;
    };
    return {
      ...this.#once,
      readRecord,
      isOfJournal: readRecord && isOfJournal,
      redact: this.#pipeline.redact,
    };
  }
}
