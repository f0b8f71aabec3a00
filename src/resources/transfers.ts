import { argument, path } from '../calls/arguments.ts';
import { hasId } from '../calls/call.ts';
import type { Clock } from '../calls/clock.ts';
import { answerCheck } from '../calls/answer-check.ts';
import type { Pager } from '../lists/pager.ts';
import type { IdFrom } from '../schemas/ids.ts';
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
  type TransferListQuery,
} from '../schemas/transfer.ts';
import type { Call } from '../calls/call.ts';
import type { ApiCall, Transport } from '../calls/transport.ts';
import { fromCallSite } from '../errors/call-site.ts';
import { listOf } from '../lists/list.ts';
import {
  createOnce,
  settleOnce,
  type OnceDefaults,
  type OnceOptions,
  type OnceWays,
} from './once.ts';
import type { OnceInput } from './payment.ts';
import { reconcileTransfer, type ReconcileOptions, type Reconciliation } from './reconcile.ts';
import { waitForTransfer, type WaitOptions } from './wait.ts';

/** By options.body they would be sent, but the input of `reconcile` would not have them. */
const inTheInput = 'set it in the input, where transfers.reconcile looks for it';
const soughtByReconcile = { description: inTheInput, currency: inTheInput };

/** Movements of funds. The document names no call that cancels one: docs/gaps.md, row 27. */
export class Transfers {
  readonly #api: Transport;
  readonly #clock: Required<Clock>;
  readonly #once: OnceDefaults;

  /** @internal */
  constructor(versioned: Transport, clock: Required<Clock>, once: OnceDefaults) {
    this.#api = versioned;
    this.#clock = clock;
    this.#once = once;
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
    return this.#api.call(this.#creation(input), options);
  }

  #creation(input: TransferCreateInput): Call<TransferCreated> {
    return {
      operation: 'transfers.create',
      kind: 'once',
      method: 'POST',
      path: path`/transfers`,
      body: argument(transferCreateInputSchema(), input),
      belongsIn: soughtByReconcile,
      answer: answerCheck(transferCreatedSchema()),
      acceptIf: hasId(transferIdSchema()),
      ifUnknown:
        'the transfer may have taken effect. Do not send it again before payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.',
    };
  }

  /**
   * Makes a payment once, whoever calls this and however often: after a timeout, a crash or a deploy, in
   * another process, the same call again resolves to the same Transfer. `input.description` is the
   * reference: required, and never used for another payment. It never waits for another caller; it rejects
   * and says when to call again.
   *
   * Needs a {@link ClientOptions.journal} that all who pay share. Resolves to the Transfer as it was accepted
   * or is now; one that later `failed` or was `cancelled` needs another reference to be paid again.
   *
   * @throws {@link UnsettledError} when it is not known yet whether the payment was made: call again after
   * `retryAfterMs`; without it, a person has to look. Any other error of `create` with `outcome` `rejected` or
   * `not_sent`: no money moved, and the same call is a fresh try
   *
   * @example
   * ```ts
   * import { memoryJournal } from 'payments-platform-sdk/journals';
   *
   * const client = payments.withOptions({ journal: memoryJournal() });
   * const transfer = await client.transfers.createOnce({ ...input, description: 'invoice 4711' });
   * console.log(transfer.id, transfer.status);
   * ```
   */
  createOnce(input: OnceInput, options?: OnceOptions): Promise<TransferCreated> {
    return fromCallSite(() => createOnce(this.#onceWays(), input, options));
  }

  /**
   * A person's word on a payment that `createOnce` leaves in doubt: the id of the Transfer that made it, or
   * `'not_paid'`, after which the next `createOnce` sends it. Say `'not_paid'` only when the time of
   * `retryAfterMs` is over: until then an earlier request may still take effect, and this word is believed.
   *
   * @throws {@link UnsettledError} `conflict` when the journal has it that it was paid; {@link NotFoundError} for
   * an id that does not exist
   */
  settleOnce(
    reference: string,
    verdict: IdFrom<'transferId(text) or as const'> | 'not_paid',
    options?: OnceOptions,
  ): Promise<void> {
    return fromCallSite(() => settleOnce(this.#onceWays(), reference, verdict, options));
  }

  #onceWays(): OnceWays {
    return {
      ...this.#once,
      api: this.#api,
      clock: this.#clock,
      transfers: this,
      ready: (input, options) => {
        const call = this.#creation(input);
        const prepared = this.#api.check(call, options);
        return (totalTimeout, notAfter) => {
          const within = { ...prepared, options: { ...prepared.options, totalTimeout } };
          return this.#api.call({ ...call, notAfter, prepared: within }, undefined);
        };
      },
    };
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
  get(id: IdFrom<'transferId(text) or as const'>, options?: RequestOptions): ApiCall<Transfer> {
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
  waitFor(id: IdFrom<'transferId(text) or as const'>, options?: WaitOptions): Promise<Transfer> {
    const poll = (polling: RequestOptions): ApiCall<Transfer> => this.get(id, polling);
    return fromCallSite(() => waitForTransfer(id, poll, this.#clock, this.#api.redactOwn, options));
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
    return fromCallSite(() =>
      reconcileTransfer(
        (query, paging, onHeaders) => this.#list(query, paging, onHeaders),
        () => this.#clock.now(),
        input,
        options,
        this.#api.redact,
      ),
    );
  }
}
