import { argument, path, type Validator } from '../calls/arguments.ts';
import type { Call } from '../calls/call.ts';
import type { RequestOptions } from '../calls/options.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';
import { responseCheck } from '../calls/response.ts';
import type { WatchedCall } from '../calls/tracing.ts';
import { listOf } from '../lists/list.ts';
import type { Pager } from '../lists/pager.ts';
import { accountIdSchema, accountSchema, type Account } from '../schemas/account.ts';
import {
  transferIdSchema,
  transferListQuerySchema,
  transferSchema,
  type Transfer,
  type TransferId,
  type TransferListQuery,
} from '../schemas/transfer.ts';

/** The reads of Transfers and of their source Account, for callers and for the searches of payments. */
export class TransferApi {
  readonly #pipeline: RequestPipeline;
  readonly #filter: string | false;

  /** `filter`: the name by which the platform's list filters by Account; false if it does not. */
  constructor(pipeline: RequestPipeline, filter: string | false) {
    this.#pipeline = pipeline;
    this.#filter = filter;
  }

  /** Whether the platform can be asked for the Transfers of one Account alone. */
  get isFiltered(): boolean {
    return this.#filter !== false;
  }

  list(
    query: TransferListQuery | undefined,
    options: RequestOptions | undefined,
    target?: Pick<Call<unknown>, 'onHeaders' | 'within' | 'isUsable'>,
  ): Pager<Transfer> {
    return listOf(
      this.#pipeline,
      { operation: 'transfers.list', path: path`/transfers`, ...target },
      transferSchema(),
      createListQuerySchema(this.#filter),
      query,
      options,
    );
  }

  get(
    id: TransferId,
    options: RequestOptions | undefined,
    within?: WatchedCall,
  ): ApiCall<Transfer> {
    return this.#pipeline.call(
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

  getAccount(id: string, options: RequestOptions, within?: WatchedCall): ApiCall<Account> {
    return this.#pipeline.call({ ...getAccountCall(id), within }, options);
  }
}

/** The call that reads one Account. */
export const getAccountCall = (id: string): Call<Account> => ({
  operation: 'accounts.get',
  kind: 'safe',
  method: 'GET',
  path: path`/accounts/${argument(accountIdSchema(), id)}`,
  response: responseCheck(accountSchema()),
});

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
