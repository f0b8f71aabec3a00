import { argument, path } from '../calls/arguments.ts';
import { hasId } from '../calls/call.ts';
import type { Clock } from '../calls/clock.ts';
import { answerCheck } from '../calls/answer-check.ts';
import type { Pager } from '../lists/pager.ts';
import type { RequestOptions } from '../calls/request-options.ts';
import {
  transferCreatedSchema,
  transferCreateInputSchema,
  transferIdSchema,
  transferListQuerySchema,
  transferSchema,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferId,
  type TransferListQuery,
} from '../schemas/transfer.ts';
import type { ApiCall, Transport } from '../calls/transport.ts';
import { listOf } from '../lists/list.ts';
import { reconcileTransfer, type ReconcileOptions, type Reconciliation } from './reconcile.ts';
import { waitForTransfer, type WaitOptions } from './wait.ts';

/** By options.body they would be sent, but the input of `reconcile` would not have them. */
const inTheInput = 'set it in the input, where transfers.reconcile looks for it';
const soughtByReconcile = { description: inTheInput, currency: inTheInput };

/** Movements of funds. The document names no call that cancels one: docs/gaps.md, row 27. */
export class Transfers {
  readonly #api: Transport;
  readonly #clock: Required<Clock>;

  /** @internal */
  constructor(versioned: Transport, clock: Required<Clock>) {
    this.#api = versioned;
    this.#clock = clock;
  }

  /**
   * Sends money from an Account to another Account or to a Counterparty. It is retried only if the
   * previous attempt provably had no effect (never sent, or refused with 425, 429 or, if the
   * credential is a function, 401), or if `idempotencyHeader` is set. On failure, `error.outcome`
   * says whether money may have moved.
   *
   * @throws {@link UnprocessableEntityError} or another ApiError when the platform refuses it
   *
   * @example
   * ```ts
   * import { isPaymentsError } from 'payments-platform-sdk';
   *
   * const since = new Date();
   * try {
   *   await payments.transfers.create(input);
   * } catch (error) {
   *   // Refused or never sent: no money moved.
   *   if (isPaymentsError(error) && error.outcome !== 'unknown') throw error;
   *   console.log(await payments.transfers.reconcile(input, { since }));
   * }
   * ```
   */
  create(input: TransferCreateInput, options?: RequestOptions): ApiCall<TransferCreated> {
    return this.#api.call(
      {
        operation: 'transfers.create',
        kind: 'once',
        method: 'POST',
        path: path`/transfers`,
        body: argument(transferCreateInputSchema(), input),
        belongsIn: soughtByReconcile,
        answer: answerCheck(transferCreatedSchema()),
        acceptIf: hasId(transferIdSchema()),
        ifUnknown:
          'the transfer may have taken effect. Do not send it again before checking with payments.transfers.reconcile(input, { since }), where since is the time of your first attempt at this payment. It may still be on its way: not_found counts only when totalTimeout and a few minutes have passed.',
      },
      options,
    );
  }

  /** Lists Transfers: `await` one page, or `for await` all of them. */
  list(query?: TransferListQuery, options?: RequestOptions): Pager<Transfer> {
    return this.#list(query, options);
  }

  #list(
    query: TransferListQuery | undefined,
    options: RequestOptions | undefined,
    onHeaders?: (headers: Headers) => void,
  ): Pager<Transfer> {
    return listOf(
      this.#api,
      { operation: 'transfers.list', path: path`/transfers`, onHeaders },
      transferSchema(),
      transferListQuerySchema(),
      query,
      options,
    );
  }

  /**
   * One Transfer.
   *
   * @throws {@link NotFoundError} when there is none with this id
   */
  get(id: TransferId, options?: RequestOptions): ApiCall<Transfer> {
    return this.#api.call(
      {
        operation: 'transfers.get',
        kind: 'safe',
        method: 'GET',
        path: path`/transfers/${argument(transferIdSchema(), id)}`,
        answer: answerCheck(transferSchema()),
      },
      options,
    );
  }

  /**
   * Polls a Transfer until it is `completed`, and resolves to it.
   *
   * @throws {@link WaitError} with `last`, the Transfer as last seen: reason `failed` when it failed or was
   * cancelled, `timeout` when time ran out or five polls in a row failed (which says nothing about
   * the money), `regressed` when its status went backwards. A poll that is refused throws its own
   * error with `outcome` `unknown`
   */
  waitFor(id: TransferId, options?: WaitOptions): Promise<Transfer> {
    return waitForTransfer(
      id,
      (polling) => this.get(id, polling),
      this.#clock,
      this.#api.redactOwn,
      options,
    );
  }

  /**
   * Answers the question after a creation whose outcome is unknown: does the Transfer exist? It
   * pages through the Transfers of the source and never sends anything again.
   *
   * `not_found` proves nothing while the first request may still be on its way: look again when
   * `totalTimeout` and some minutes have passed. `found` means that it was accepted; see its
   * `status`. If the search fails, or an argument is invalid, it throws with `outcome` `unknown`:
   * reconcile again, do not send.
   */
  reconcile(input: TransferCreateInput, options?: ReconcileOptions): Promise<Reconciliation> {
    return reconcileTransfer(
      (query, paging, onHeaders) => this.#list(query, paging, onHeaders),
      () => this.#clock.now(),
      input,
      options,
      this.#api.redact,
    );
  }
}
