import { argument, path, type Validator } from '../calls/arguments.ts';
import { responseCheck } from '../calls/response.ts';
import type { Pager } from '../lists/pager.ts';
import type { WatchedCall } from '../calls/tracing.ts';
import type { IdFrom } from '../schemas/ids.ts';
import type { RequestOptions } from '../calls/options.ts';
import {
  transferIdSchema,
  transferListQuerySchema,
  transferSchema,
  type OnceInput,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferId,
  type TransferListQuery,
} from '../schemas/transfer.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';
import type { Call } from '../calls/call.ts';
import { runFromCallSite } from '../errors/call-site.ts';
import { isPage, listOf } from '../lists/list.ts';
import { getCall } from './accounts.ts';
import type { Batch } from '../once/batch.ts';
import { createAllOnce, type BatchOptions } from '../once/create-all-once.ts';
import {
  createOnce,
  onceOptionNames,
  resolveCall,
  resolveOnce,
  type OnceOptions,
  type ResolveOptions,
  creationCall,
  withClockCheck,
} from '../once/create-once.ts';
import type { ClientContext } from '../once/context.ts';
import { openOnce, type OpenOnceOptions, type UndecidedPayment } from '../once/open-once.ts';
import {
  reconcileAll,
  reconcileAllCall,
  type ReconcileAllOptions,
  type ReconciledBooks,
} from '../books/reconcile-all.ts';
import { createRecordReader } from '../once/guarded-journal.ts';
import { reconcileTransfer, type ReconcileOptions } from '../search/reconcile.ts';
import { reconcileCall, TransferSearch, type Reconciliation } from '../search/search.ts';
import { waitCall, waitForTransfer, type WaitOptions } from './wait-for.ts';

// The API reference names no call that cancels one: docs/gaps.md, row 27.
/** Movements of funds. */
export class Transfers {
  readonly #api: RequestPipeline;
  readonly #once: ClientContext;
  readonly #listQuerySchema: () => Validator<TransferListQuery>;

  /** @internal */
  constructor(
    versioned: RequestPipeline,
    defaults: Omit<
      ClientContext,
      'pipeline' | 'creationCall' | 'transferSearch' | 'get' | 'getAccount'
    > & {
      readonly transfersNewestFirst: boolean;
      readonly transfersFilter: string | false;
    },
  ) {
    this.#api = versioned;
    this.#listQuerySchema = () => createListQuerySchema(defaults.transfersFilter);
    this.#once = {
      ...defaults,
      pipeline: versioned,
      creationCall: (input) => this.#creationCall(input),
      transferSearch: new TransferSearch(
        // A search reads what there is: one transfer without an amount hides no other.
        (query, paging, target) => this.#list(query, paging, { ...target, isUsable: isPage }),
        {
          now: () => defaults.clock.now(),
          redact: versioned.redact,
          isNewestFirst: defaults.transfersNewestFirst,
          isFiltered: defaults.transfersFilter !== false,
        },
      ),
      get: (id, options, within) => this.#get(id, options, within),
      getAccount: (id, options, within) => versioned.call({ ...getCall(id), within }, options),
    };
  }

  /** The call that creates a Transfer; with `transfersNewestFirst`, it also compares the platform's clocks. */
  #creationCall(input: TransferCreateInput): Call<TransferCreated> {
    const call = creationCall(input);
    const { transferSearch } = this.#once;
    if (!transferSearch.isNewestFirst) return call;
    return withClockCheck(call, (reportDrift) => {
      transferSearch.distrustClocks(reportDrift);
    });
  }

  /**
   * Sends money from an Account; resolves to the accepted Transfer. It is sent again only if the
   * last attempt provably had no effect, or with `idempotencyHeader`.
   * @throws {@link PaymentsError} with an `outcome`: whether money may have moved
   * @example
   * ```ts
   * import { isOutcomeUnknown, PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const input = {
   *   sourceAccountId: 'acc_000001',
   *   destinationAccountId: 'acc_000002',
   *   amount: '12.50',
   * } as const;
   * try {
   *   console.log((await payments.transfers.create(input)).id);
   * } catch (error) {
   *   if (!isOutcomeUnknown(error)) throw error; // No money moved.
   *   console.log(await payments.transfers.reconcile(input, { since: error.startedAt }));
   * }
   * ```
   */
  create(input: TransferCreateInput, options?: RequestOptions): ApiCall<TransferCreated> {
    const call = { ...this.#creationCall(input), optionNames: onceOptionNames };
    return this.#api.call({ ...call, needsAuthorization: true }, options);
  }

  /**
   * Makes a payment once, for any number of calls and processes; `input.description` is its
   * reference. Needs a shared {@link ClientOptions.journal}. Resolves to the accepted Transfer.
   * @throws {@link PaymentInDoubtError} while that is in doubt: call again after `retryAfterMs`
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   * import { memoryJournal } from 'payments-platform-sdk/journals';
   *
   * const payments = new PaymentsClient({ journal: memoryJournal() });
   * const { id, status } = await payments.transfers.createOnce({
   *   sourceAccountId: 'acc_000001',
   *   destinationAccountId: 'acc_000002',
   *   amount: '12.50',
   *   description: 'invoice 4711',
   * });
   * console.log(id, status);
   * ```
   */
  createOnce(input: OnceInput, options?: OnceOptions): Promise<TransferCreated> {
    return runFromCallSite(() => createOnce(this.#once, input, options));
  }

  /**
   * Makes many payments, each once, as `createOnce` does: `await` it or iterate, and again after a crash. An
   * accepted Transfer may still fail: see `waitFor`.
   * @example
   * ```ts
   * import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
   * import { memoryJournal } from 'payments-platform-sdk/journals';
   *
   * const payments = new PaymentsClient({ journal: memoryJournal() });
   * const salaries: OnceInput[] = [];
   * const { counts, unpaid } = await payments.transfers.createAllOnce(salaries);
   * for (const { reference, error } of unpaid) console.error(reference, error.message);
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
   * Lists the payments that are not decided, oldest first. `createOnce` with the `input` of one finishes it.
   * @throws {@link PaymentInDoubtError} when the journal fails
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   * import { memoryJournal } from 'payments-platform-sdk/journals';
   *
   * const payments = new PaymentsClient({ journal: memoryJournal() });
   * for await (const { input } of payments.transfers.openOnce({ olderThan: 900_000 })) {
   *   if (input) console.log((await payments.transfers.createOnce(input)).id);
   * }
   * ```
   */
  openOnce(options?: OpenOnceOptions): AsyncIterable<UndecidedPayment> {
    return openOnce(this.#once, options);
  }

  /**
   * Records an operator's decision on a payment in doubt: its Transfer's id, or `'not_paid'` to send it
   * at the next `createOnce`.
   * @throws {@link PaymentInDoubtError} `in_doubt` too early, `conflict` if it is listed as made
   * @throws {@link ValidationError} for an unknown reference
   * @example
   * ```ts
   * import { PaymentsClient, ValidationError } from 'payments-platform-sdk';
   * import { memoryJournal } from 'payments-platform-sdk/journals';
   *
   * const payments = new PaymentsClient({ journal: memoryJournal() });
   * try {
   *   await payments.transfers.resolveOnce('invoice 4711', 'txfr_000001', { by: 'ops' });
   * } catch (error) {
   *   if (!(error instanceof ValidationError)) throw error;
   *   console.log('The journal does not know this reference.');
   * }
   * ```
   */
  resolveOnce(
    reference: string,
    verdict: IdFrom<'txfr_', 'transferId(text) or as const'> | 'not_paid',
    options?: ResolveOptions,
  ): Promise<void> {
    return runFromCallSite(() =>
      this.#api.watch(resolveCall, reference, (watched) =>
        resolveOnce(this.#once, reference, verdict, options, watched),
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
   * const query = { accountId: 'acc_000001' } as const;
   * for await (const { id, amount } of payments.transfers.list(query)) console.log(id, amount);
   * ```
   */
  list(query?: TransferListQuery, options?: RequestOptions): Pager<Transfer> {
    return this.#list(query, options);
  }

  #list(
    query: TransferListQuery | undefined,
    options: RequestOptions | undefined,
    target?: Pick<Call<unknown>, 'onHeaders' | 'within' | 'isUsable'>,
  ): Pager<Transfer> {
    return listOf(
      this.#api,
      { operation: 'transfers.list', path: path`/transfers`, ...target },
      transferSchema(),
      this.#listQuerySchema(),
      query,
      options,
    );
  }

  /**
   * One Transfer.
   * @throws {@link NotFoundError} when there is none with this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * console.log((await payments.transfers.get('txfr_000001')).status);
   * ```
   */
  get(
    id: IdFrom<'txfr_', 'transferId(text) or as const'>,
    options?: RequestOptions,
  ): ApiCall<Transfer> {
    return this.#get(id, options);
  }

  #get(
    id: TransferId,
    options: RequestOptions | undefined,
    within?: WatchedCall,
  ): ApiCall<Transfer> {
    return this.#api.call(
      {
        operation: 'transfers.get',
        within,
        kind: 'safe',
        method: 'GET',
        path: path`/transfers/${argument(transferIdSchema(), id)}`,
        response: responseCheck(transferSchema()),
      },
      options,
    );
  }

  /**
   * Polls a Transfer until it is `completed`, and resolves to it.
   * @throws {@link WaitError} with `last`, when it failed, its status went backwards, or time ran
   * out, which proves nothing about the money
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const until = ({ status }: { status: string }) => status !== 'completed';
   * console.log((await payments.transfers.waitFor('txfr_000001', { until })).status);
   * ```
   */
  waitFor(
    id: IdFrom<'txfr_', 'transferId(text) or as const'>,
    options?: WaitOptions,
  ): Promise<Transfer> {
    return runFromCallSite(() =>
      this.#api.watch(waitCall, undefined, (watched) => {
        const poll = (polling: RequestOptions) => this.#get(id, polling, watched);
        return waitForTransfer(id, poll, this.#once.clock, this.#api.redactOwn, options);
      }),
    );
  }

  /**
   * After an unknown outcome: looks for the Transfer among those of its source, and sends nothing.
   * `not_found` proves nothing before `totalTimeout` and some minutes have passed.
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
   * } as const;
   * console.log((await payments.transfers.reconcile(input)).result);
   * ```
   */
  reconcile(input: TransferCreateInput, options?: ReconcileOptions): Promise<Reconciliation> {
    return runFromCallSite(() =>
      this.#api.watch(reconcileCall, undefined, (watched) =>
        reconcileTransfer(this.#once.transferSearch, input, options, this.#api.redact, watched),
      ),
    );
  }

  /**
   * Compares a payroll or a day of your own books with the platform; sends nothing. `await` it for totals
   * and what is open, or iterate.
   * @throws {@link PaymentsError} if a list could not be read: call again
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
    const readRecord = createRecordReader(this.#once, reconcileAllCall);
    const context = { ...this.#once, readRecord, redact: this.#api.redact };
    return reconcileAll(context, inputs, options);
  }
}

/** The check of a query, which gives its account the name that the platform knows. */
function createListQuerySchema(filter: string | false): Validator<TransferListQuery> {
  const schema: Validator<TransferListQuery> = transferListQuerySchema();
  if (filter === false || filter === 'accountId') return schema;
  const safeParse: typeof schema.safeParse = (...query) => {
    const result = schema.safeParse(...query);
    if (!result.success || result.data.accountId === undefined) return result;
    const { accountId, ...others } = result.data;
    return { success: true, data: { ...others, [filter]: accountId } };
  };
  return Object.create(schema, { safeParse: { value: safeParse } }) as typeof schema;
}
