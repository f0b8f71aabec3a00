import * as z from 'zod/mini';
import {
  entityCreateInputSchema,
  entityStatuses,
  kycStatuses,
  tosStatuses,
  type Entity,
  type EntityCreated,
  type EntityCreateInput,
  type EntityStatus,
  type KycStatus,
  type TosStatus,
} from '../../schemas/entity.ts';
import { dropUndefined, lazy } from '../../internal/objects.ts';
import type { Schema } from '../../schemas/primitives.ts';
import type { Platform } from './platform.ts';
import { unprocessable } from './sandbox-error.ts';
import { oneOf, parseInput } from './validation.ts';

/** What `sandbox.entities.update` changes. An absent field stays as it is. */
export interface SandboxEntityUpdate {
  /** Whether the Entity is active. */
  status?: EntityStatus | undefined;
  /** Status of the Entity's identity verification. */
  kycStatus?: KycStatus | undefined;
  /** Status of the Entity's acceptance of the terms of service. */
  tosStatus?: TosStatus | undefined;
}
const updateSchema = lazy((): Schema<SandboxEntityUpdate> =>
  z.strictObject({
    status: z.optional(oneOf(entityStatuses)),
    kycStatus: z.optional(oneOf(kycStatuses)),
    tosStatus: z.optional(oneOf(tosStatuses)),
  }),
);

/** Creates an Entity as POST /entities does. A business name makes the Entity a business. */
export function createEntity(platform: Platform, input: EntityCreateInput): Entity {
  const createdAt = platform.clock.toIsoNow();
  // Keep the order of the schema's fields, so that an export after an import has the same bytes.
  const row = platform.entities.add((id): Entity => ({
    id,
    email: input.email,
    type: input.businessName === undefined ? 'individual' : 'business',
    kycStatus: 'not_started',
    tosStatus: 'not_started',
    kycLink: `https://verify.sandbox.invalid/kyc/${id}`,
    tosLink: `https://verify.sandbox.invalid/tos/${id}`,
    createdAt,
    status: 'active',
  }));
  scheduleEntity(platform, row);
  platform.changes.add('entity.created', toEntity, null, row);
  return row;
}

/** Whether a verification status advances automatically. Any other stays until a caller sets it. */
const canAdvance = (status: string): boolean =>
  status === 'not_started' || status === 'pending' || status === 'under_review';

const getNextStatus = (status: string) => (status === 'not_started' ? 'pending' : 'approved');

/** Schedules the next automatic status change in an Entity's verification, if there is one. */
export function scheduleEntity(platform: Platform, row: Entity): void {
  if (canAdvance(row.kycStatus) || canAdvance(row.tosStatus)) platform.schedule.start(row.id);
  else platform.schedule.cancel(row.id);
}

/** Takes the next step of an Entity's verification: first to `pending`, then to `approved`. */
export function advanceEntity(platform: Platform, row: Entity): void {
  setStatuses(platform, row, {
    ...(canAdvance(row.kycStatus) && { kycStatus: getNextStatus(row.kycStatus) }),
    ...(canAdvance(row.tosStatus) && { tosStatus: getNextStatus(row.tosStatus) }),
  });
}

function setStatuses(platform: Platform, row: Entity, update: SandboxEntityUpdate): void {
  const before = toEntity(row);
  Object.assign(row, dropUndefined(update));
  scheduleEntity(platform, row);
  if (stringifyStatuses(row) !== stringifyStatuses(before)) {
    platform.changes.add('entity.status', toEntity, before, row);
  }
}

const stringifyStatuses = ({ status, kycStatus, tosStatus }: Entity): string =>
  [status, kycStatus, tosStatus].join(' ');

/** Returns the fields of an Entity that the response of POST /entities contains. */
export function toEntityCreated(entity: Entity): EntityCreated {
  const { status: _status, ...created } = entity;
  return created;
}

export const toEntity = (row: Entity): Entity => ({ ...row });

/**
 * Returns the Entity that a request body names.
 * @throws SandboxError with status 422 when the Entity does not exist.
 */
export function getEntity(platform: Platform, id: string): Entity {
  const entity = platform.entities.find(id);
  if (entity !== undefined) return entity;
  throw unprocessable('unknown_entity', `entityId: no Entity "${id}" exists on this Platform.`, {
    fields: { entityId: 'no such Entity exists' },
  });
}

/** Methods for the Entities of a sandbox, and actions of the platform such as approval. */
export class SandboxEntities {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * Creates an Entity, as POST /entities does.
   * @throws SandboxError when a field is missing or malformed.
   */
  create(input: EntityCreateInput): Entity {
    const report = 'The input of sandbox.entities.create is';
    return toEntity(
      createEntity(this.#platform, parseInput(entityCreateInputSchema(), input, report)),
    );
  }

  /** Returns one Entity. @throws SandboxError when the Entity does not exist. */
  get(id: string): Entity {
    return toEntity(this.#platform.entities.get(id));
  }

  /** Returns every Entity, oldest first. */
  list(): Entity[] {
    return this.#platform.entities.all().map(toEntity);
  }

  /**
   * Completes the verification of an Entity: the KYC status and the terms of service become
   * `approved`.
   * @throws SandboxError when the Entity does not exist.
   */
  approve(id: string): Entity {
    return this.update(id, { kycStatus: 'approved', tosStatus: 'approved' });
  }

  /**
   * Lets the identity verification of an Entity fail: the KYC status becomes `rejected`.
   * @throws SandboxError when the Entity does not exist.
   */
  reject(id: string): Entity {
    return this.update(id, { kycStatus: 'rejected' });
  }

  /**
   * Sets single statuses of an Entity. Every change is allowed, because the API reference does not
   * say which status may follow which.
   * @throws SandboxError when the Entity does not exist or a status is not a documented one.
   *
   * @example
   * ```ts
   * import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
   *
   * const sandbox = seedDemo(new Sandbox());
   * sandbox.entities.update('ent_000001', { kycStatus: 'under_review' });
   * ```
   */
  update(id: string, patch: SandboxEntityUpdate): Entity {
    const row = this.#platform.entities.get(id);
    const report = 'The patch of sandbox.entities.update is';
    setStatuses(this.#platform, row, parseInput(updateSchema(), patch, report));
    return toEntity(row);
  }
}
