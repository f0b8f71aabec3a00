import { argument, path } from '../calls/arguments.ts';
import { hasId } from '../calls/call.ts';
import { responseCheck } from '../calls/response.ts';
import type { Pager } from '../lists/pager.ts';
import type { RequestOptions } from '../calls/options.ts';
import {
  entityCreatedSchema,
  entityCreateInputSchema,
  entityIdSchema,
  entityListQuerySchema,
  entitySchema,
  type Entity,
  type EntityCreated,
  type EntityCreateInput,
  type EntityListQuery,
} from '../schemas/entity.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';
import { listOf } from '../lists/list.ts';

/** Methods for Entities, the individuals and businesses that own Accounts. */
export class Entities {
  readonly #api: RequestPipeline;

  /** @internal */
  constructor(versioned: RequestPipeline) {
    this.#api = versioned;
  }

  /**
   * Creates an Entity and starts its verification. Share `kycLink` and `tosLink` with the Entity.
   * @throws {@link ApiError} when the platform rejects it
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const entity = await payments.entities.create({ email: 'grace@example.com' });
   * console.log(entity.id, entity.kycLink);
   * ```
   */
  create(input: EntityCreateInput, options?: RequestOptions): ApiCall<EntityCreated> {
    return this.#api.call(
      {
        operation: 'entities.create',
        kind: 'once',
        method: 'POST',
        path: path`/entities`,
        body: argument(entityCreateInputSchema(), input),
        response: responseCheck(entityCreatedSchema()),
        acceptIf: hasId(entityIdSchema()),
        ifUnknown:
          'the Entity may have been created. Look for its email with payments.entities.list() before you create it again.',
      },
      options,
    );
  }

  /**
   * Lists Entities: `await` one page, or `for await` all of them.
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * for await (const { id, kycStatus } of payments.entities.list()) console.log(id, kycStatus);
   * ```
   */
  list(query?: EntityListQuery, options?: RequestOptions): Pager<Entity> {
    return listOf(this.#api, 'entities', entitySchema(), entityListQuerySchema(), query, options);
  }

  /**
   * Gets one Entity with its current verification status.
   * @throws {@link NotFoundError} when no Entity has this id
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * console.log((await payments.entities.get('ent_000001')).kycStatus);
   * ```
   */
  get(id: string, options?: RequestOptions): ApiCall<Entity> {
    const where = path`/entities/${argument(entityIdSchema(), id)}`;
    return this.#api.read('entities.get', where, entitySchema(), options);
  }
}
