import { argument, path, type Validator } from '../calls/arguments.ts';
import type { RequestOptions } from '../calls/options.ts';
import type { ApiCall, Circumstances, RequestPipeline } from '../calls/pipeline.ts';
import { listOf, type PageSearch } from '../lists/list.ts';
import type { Pager } from '../lists/pager.ts';
import { accountIdSchema, accountSchema, type Account } from '../schemas/account.ts';
import {
  transferIdSchema,
  transferListQuerySchema,
  transferSchema,
  type Transfer,
  type TransferListQuery,
} from '../schemas/transfer.ts';

/** Reads Transfers and their source Account, for callers and for searches of payments. */
export class TransferApi {
  readonly #pipeline: RequestPipeline;
  readonly #filter: string | false;

  /** `filter` is the query parameter that selects an Account's Transfers; false if none does. */
  constructor(pipeline: RequestPipeline, filter: string | false) {
    this.#pipeline = pipeline;
    this.#filter = filter;
  }

  /** Whether the platform can list the Transfers of a single Account. */
  get isFiltered(): boolean {
    return this.#filter !== false;
  }

  list(
    query: TransferListQuery | undefined,
    options: RequestOptions | undefined,
    search?: PageSearch,
  ): Pager<Transfer> {
    return listOf(
      this.#pipeline,
      'transfers',
      transferSchema(),
      createListQuerySchema(this.#filter),
      query,
      options,
      // oxlint-disable-next-line typescript/unbound-method -- never called
      this.list,
      search,
    );
  }

  get(
    id: string,
    options: RequestOptions | undefined,
    circumstances?: Circumstances,
  ): ApiCall<Transfer> {
    const where = path`/transfers/${argument(transferIdSchema(), id)}`;
    return this.#pipeline.read('transfers.get', where, transferSchema(), options, {
      // oxlint-disable-next-line typescript/unbound-method -- never called
      below: this.get,
      ...circumstances,
    });
  }

  getAccount(id: string, options: RequestOptions, circumstances: Circumstances): ApiCall<Account> {
    const where = path`/accounts/${argument(accountIdSchema(), id)}`;
    return this.#pipeline.read('accounts.get', where, accountSchema(), options, circumstances);
  }
}

/** Checks the query of `transfers.list`, and renames `accountId` to the platform's parameter. */
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
