import { argument, path } from '../calls/arguments.ts';
import type { Pager } from '../lists/pager.ts';
import type { RequestOptions } from '../calls/options.ts';
import {
  ibanIdSchema,
  ibanListQuerySchema,
  ibanSchema,
  type Iban,
  type IbanListQuery,
} from '../schemas/iban.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';
import { listOf } from '../lists/list.ts';

// The API reference has no call that creates an IBAN: docs/gaps.md, row 25.
/** Methods for IBANs, the bank identifiers that accept deposits. The API cannot create them. */
export class Ibans {
  readonly #api: RequestPipeline;

  /** @internal */
  constructor(versioned: RequestPipeline) {
    this.#api = versioned;
  }

  /**
   * Lists IBANs: `await` one page, or `for await` all of them.
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * for await (const { iban, status } of payments.ibans.list()) console.log(iban, status);
   * ```
   */
  list(query?: IbanListQuery, options?: RequestOptions): Pager<Iban> {
    return listOf(this.#api, 'ibans', ibanSchema(), ibanListQuerySchema(), query, options);
  }

  /**
   * Gets one IBAN.
   * @throws {@link NotFoundError} when no IBAN has this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * console.log((await payments.ibans.get('iban_000001')).iban);
   * ```
   */
  get(id: string, options?: RequestOptions): ApiCall<Iban> {
    const where = path`/ibans/${argument(ibanIdSchema(), id)}`;
    return this.#api.read('ibans.get', where, ibanSchema(), options);
  }

  /**
   * Deactivates an IBAN and deletes it permanently; later deposits to the IBAN are rejected.
   * @throws {@link NotFoundError} when no IBAN has this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * await payments.ibans.delete('iban_000001');
   * ```
   */
  delete(id: string, options?: RequestOptions): ApiCall<void> {
    return this.#api.call(
      {
        operation: 'ibans.delete',
        kind: 'idempotent',
        method: 'DELETE',
        path: path`/ibans/${argument(ibanIdSchema(), id)}`,
        response: 'nothing',
        ifUnknown:
          'the IBAN may be deleted, and deposits to it rejected. payments.ibans.get(id) throws NotFoundError if it is.',
      },
      options,
    );
  }
}
