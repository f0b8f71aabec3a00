import { path } from '../calls/arguments.ts';
import type { OffsetPager } from '../lists/pager.ts';
import type { RequestOptions } from '../calls/options.ts';
import {
  transactionListInputSchema,
  transactionsSchema,
  type Transaction,
  type TransactionListInput,
} from '../schemas/transaction.ts';
import type { RequestPipeline } from '../calls/pipeline.ts';
import { offsetListOf } from '../lists/list.ts';

/** Methods for on-chain transactions of Instructions. They use the root URL and need `jwt`. */
export class Transactions {
  readonly #api: RequestPipeline;

  /** @internal */
  constructor(root: RequestPipeline) {
    this.#api = root;
  }

  /**
   * Lists the transactions of an address: `await` one page, or `for await` all. The request is a
   * GET with a body, which Workers and browsers cannot send.
   * @throws {@link ConfigurationError} when the runtime cannot send a GET with a body
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const address = '0x00000000000000000000000000000000000000aa';
   * console.log(await payments.transactions.list({ address }).toArray({ max: 100 }));
   * ```
   */
  list(input: TransactionListInput, options?: RequestOptions): OffsetPager<Transaction> {
    return offsetListOf(
      this.#api,
      { operation: 'transactions.list', path: path`/transactions` },
      transactionsSchema(),
      transactionListInputSchema(),
      input,
      options,
    );
  }
}
