import { argument, path } from '../arguments.ts';
import { setForEachPage } from '../call.ts';
import { compiledList } from '../compiled.ts';
import { offsetPager, type OffsetPage, type OffsetPager } from '../pager.ts';
import { copyFields } from '../records.ts';
import { copyOptions, type RequestOptions } from '../request-options.ts';
import { millisecondsOf } from '../schemas/primitives.ts';
import {
  transactionListInputSchema,
  transactionsSchema,
  type Transaction,
  type TransactionListInput,
} from '../schemas/transaction.ts';
import type { Transport } from '../transport.ts';

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
    const call = { operation: 'transactions.list', method: 'GET' as const };
    const target = path`/transactions`;
    const asked = copyOptions(options);
    const filters = copyFields(input, (field) => {
      if (Array.isArray(field)) return [...(field as unknown[])];
      const time = millisecondsOf(field);
      return time === undefined ? field : new Date(time);
    });
    return offsetPager({ ...call, path: target.template }, filters, (skip, cancel) =>
      this.#api.call<OffsetPage<Transaction>, Transaction[]>(
        {
          ...call,
          kind: 'safe',
          path: target,
          elsewhere: setForEachPage('skip'),
          body: argument(
            transactionListInputSchema(),
            skip === undefined ? filters : { ...filters, skip },
          ),
          answer: compiledList(transactionsSchema()),
          // As for any list: one page that was asked for is handed out as it is.
          ...(cancel === undefined ? {} : { isUsable: Array.isArray }),
          transform: (data) => ({
            data,
            nextSkip:
              !Array.isArray(data) || data.length === 0 ? null : Number(skip ?? 0) + data.length,
          }),
        },
        asked,
        cancel,
      ),
    );
  }
}
