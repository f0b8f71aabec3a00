import { argument, path } from '../calls/arguments.ts';
import type { Pager } from '../lists/pager.ts';
import type { RequestOptions } from '../calls/options.ts';
import {
  counterpartyIdSchema,
  counterpartyListQuerySchema,
  counterpartySchema,
  type Counterparty,
  type CounterpartyListQuery,
} from '../schemas/counterparty.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';
import { listOf } from '../lists/list.ts';

// The API reference has no call that creates a Counterparty: docs/gaps.md, row 24.
/** Methods for Counterparties, the external wallets and bank accounts. The API cannot create them. */
export class Counterparties {
  readonly #api: RequestPipeline;

  /** @internal */
  constructor(versioned: RequestPipeline) {
    this.#api = versioned;
  }

  /**
   * Lists Counterparties: `await` one page, or `for await` all of them.
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * for await (const { id, name } of payments.counterparties.list()) console.log(id, name);
   * ```
   */
  list(query?: CounterpartyListQuery, options?: RequestOptions): Pager<Counterparty> {
    return listOf(
      this.#api,
      'counterparties',
      counterpartySchema(),
      counterpartyListQuerySchema(),
      query,
      options,
    );
  }

  /**
   * Gets one Counterparty, with a masked account number.
   * @throws {@link NotFoundError} when no Counterparty has this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * console.log((await payments.counterparties.get('cpty_000001')).name);
   * ```
   */
  get(id: string, options?: RequestOptions): ApiCall<Counterparty> {
    const where = path`/counterparties/${argument(counterpartyIdSchema(), id)}`;
    return this.#api.read('counterparties.get', where, counterpartySchema(), options);
  }

  /**
   * Deletes a Counterparty permanently; pending Transfers to the Counterparty fail.
   * @throws {@link NotFoundError} when no Counterparty has this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * await payments.counterparties.delete('cpty_000001');
   * ```
   */
  delete(id: string, options?: RequestOptions): ApiCall<void> {
    return this.#api.call(
      {
        operation: 'counterparties.delete',
        kind: 'idempotent',
        method: 'DELETE',
        path: path`/counterparties/${argument(counterpartyIdSchema(), id)}`,
        response: 'nothing',
        ifUnknown:
          'the Counterparty may be deleted, and pending Transfers to it failed. payments.counterparties.get(id) throws NotFoundError if it is.',
      },
      options,
    );
  }
}
