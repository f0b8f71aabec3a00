import { argument, path } from '../calls/arguments.ts';
import { hasId } from '../calls/call.ts';
import { responseCheck } from '../calls/response.ts';
import type { Pager } from '../lists/pager.ts';
import type { RequestOptions } from '../calls/options.ts';
import {
  accountCreatedSchema,
  accountCreateInputSchema,
  accountIdSchema,
  accountListQuerySchema,
  accountSchema,
  accountUpdateInputSchema,
  type Account,
  type AccountCreated,
  type AccountCreateInput,
  type AccountListQuery,
  type AccountUpdateInput,
} from '../schemas/account.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';
import { listOf } from '../lists/list.ts';

/** Methods for Accounts, which hold balances for Entities. */
export class Accounts {
  readonly #api: RequestPipeline;

  /** @internal */
  constructor(versioned: RequestPipeline) {
    this.#api = versioned;
  }

  /**
   * Creates an Account under an Entity, on the default chain of the Settings.
   * @throws {@link ApiError} when the platform rejects it
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const account = await payments.accounts.create({ entityId: 'ent_000001', name: 'Payroll' });
   * console.log(account.id, account.availableBalance);
   * ```
   */
  create(input: AccountCreateInput, options?: RequestOptions): ApiCall<AccountCreated> {
    return this.#api.call(
      {
        operation: 'accounts.create',
        kind: 'once',
        method: 'POST',
        path: path`/accounts`,
        body: argument(accountCreateInputSchema(), input),
        response: responseCheck(accountCreatedSchema()),
        acceptIf: hasId(accountIdSchema()),
        ifUnknown:
          'the Account may have been created. Look for its name or metadata with payments.accounts.list() before you create it again.',
      },
      options,
    );
  }

  /**
   * Lists Accounts: `await` one page, or `for await` all of them.
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * for await (const { id, availableBalance } of payments.accounts.list()) {
   *   console.log(id, availableBalance);
   * }
   * ```
   */
  list(query?: AccountListQuery, options?: RequestOptions): Pager<Account> {
    return listOf(this.#api, 'accounts', accountSchema(), accountListQuerySchema(), query, options);
  }

  /**
   * Gets one Account with its balances.
   * @throws {@link NotFoundError} when no Account has this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * console.log((await payments.accounts.get('acc_000001')).availableBalance);
   * ```
   */
  get(id: string, options?: RequestOptions): ApiCall<Account> {
    const where = path`/accounts/${argument(accountIdSchema(), id)}`;
    return this.#api.read('accounts.get', where, accountSchema(), options);
  }

  /**
   * Changes the display name or the metadata of an Account. Fields that you leave out stay
   * unchanged.
   * @throws {@link NotFoundError} when no Account has this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * await payments.accounts.update('acc_000001', { name: 'Operating' });
   * ```
   */
  update(id: string, patch: AccountUpdateInput, options?: RequestOptions): ApiCall<Account> {
    return this.#api.call(
      {
        operation: 'accounts.update',
        kind: 'idempotent',
        method: 'PATCH',
        path: path`/accounts/${argument(accountIdSchema(), id)}`,
        body: argument(accountUpdateInputSchema(), patch),
        response: responseCheck(accountSchema()),
        acceptIf: hasId(accountIdSchema()),
        ifUnknown:
          'the Account may have been changed. Look at it with payments.accounts.get(id) before you send the change again.',
      },
      options,
    );
  }
}
