import { path } from '../calls/arguments.ts';
import type { OffsetPager } from '../lists/pager.ts';
import type { RequestOptions } from '../calls/request-options.ts';
import {
  transactionListInputSchema,
  transactionsSchema,
  type Transaction,
  type TransactionListInput,
} from '../schemas/transaction.ts';
import type { Transport } from '../calls/transport.ts';
import { offsetListOf } from '../lists/list.ts';

/** What Instructions did on chain. Lives at the root URL and takes the JWT. */
export class Transactions {
  readonly #api: Transport;

  /** @internal */
  constructor(root: Transport) {
    this.#api = root;
  }

  /**
   * Lists the transactions of an address: `await` one page, or `for await` all of them. A GET with
   * a JSON body: Node.js, Bun and Deno can send it, Workers and browsers cannot.
   *
   * @throws {@link ConfigurationError} where the runtime cannot send it
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
