import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { createIdGuard } from '../internal/formats.ts';
import { lazy } from '../internal/objects.ts';
import type { IdFrom } from './ids.ts';
import {
  anyString,
  closedObject,
  idSchema,
  createGuard,
  pageQueryShape,
  stringInput,
  type OpenEnum,
  type PageQuery,
  type Schema,
} from './primitives.ts';

/** The id of an Entity. `entityId(text)` checks a `string` and returns an id. */
export type EntityId = `ent_${string}`;
export const entityIdSchema = idSchema<IdFrom<'ent_', 'entityId(text) or as const'>>('ent_');
/** Whether a value is a well-formed Entity id; narrows it. */
export const isEntityId: (value: unknown) => value is EntityId = createIdGuard('ent_');

const entityTypes = ['individual', 'business'] as const;
/** The documented types of an Entity. @useDeclaredType */
export type KnownEntityType = (typeof entityTypes)[number];
/** One of the documented types of an Entity, or a new one that this version does not know. */
export type EntityType = OpenEnum<KnownEntityType>;
/** Whether the Entity type is documented. */
export const isKnownEntityType: (value: unknown) => value is KnownEntityType =
  createGuard(entityTypes);

export const entityStatuses = ['active', 'inactive'] as const;
/** The documented statuses of an Entity. @useDeclaredType */
export type KnownEntityStatus = (typeof entityStatuses)[number];
/** One of the documented statuses of an Entity, or a new one that this version does not know. */
export type EntityStatus = OpenEnum<KnownEntityStatus>;
/** Whether the Entity status is documented. */
export const isKnownEntityStatus: (value: unknown) => value is KnownEntityStatus =
  createGuard(entityStatuses);

// The API reference does not show in which order these follow: docs/gaps.md, row 39.
export const kycStatuses = [
  'not_started',
  'pending',
  'incomplete',
  'under_review',
  'approved',
  'rejected',
] as const;
/** The documented statuses of identity verification. @useDeclaredType */
export type KnownKycStatus = (typeof kycStatuses)[number];
/**
 * One of the documented statuses of identity verification, or a new one that this version does not
 * know.
 */
export type KycStatus = OpenEnum<KnownKycStatus>;
/** Whether the KYC status is documented. */
export const isKnownKycStatus: (value: unknown) => value is KnownKycStatus =
  createGuard(kycStatuses);

export const tosStatuses = ['not_started', 'pending', 'approved'] as const;
/** The documented statuses of the terms of service. @useDeclaredType */
export type KnownTosStatus = (typeof tosStatuses)[number];
/**
 * One of the documented statuses of the terms of service, or a new one that this version does not
 * know.
 */
export type TosStatus = OpenEnum<KnownTosStatus>;
/** Whether the terms-of-service status is documented. */
export const isKnownTosStatus: (value: unknown) => value is KnownTosStatus =
  createGuard(tosStatuses);

/** Response to the creation of an Entity: an {@link Entity} without `status`. */
export interface EntityCreated {
  /** Starts with `ent_`. */
  readonly id: EntityId;
  /** The email address that the Entity was created with. */
  readonly email: string;
  /** An individual (verified by KYC) or a business (verified by KYB). */
  readonly type: EntityType;
  /** Status of identity verification; a new Entity has `not_started`. */
  readonly kycStatus: KycStatus;
  /** Status of the terms of service; a new Entity has `not_started`. */
  readonly tosStatus: TosStatus;
  /** Link where the Entity completes identity verification; share it with the Entity. */
  readonly kycLink: string;
  /** Link where the Entity accepts the terms of service; share it with the Entity. */
  readonly tosLink: string;
  /** ISO 8601 date-time, UTC. */
  readonly createdAt: string;
}

/** An individual or a business that holds Accounts. */
export interface Entity extends EntityCreated {
  /** Whether the Entity is active. */
  readonly status: EntityStatus;
}

export const entityCreatedShape = () => ({
  id: anyString<EntityId>(),
  email: anyString(),
  type: anyString<EntityType>(),
  kycStatus: anyString<KycStatus>(),
  tosStatus: anyString<TosStatus>(),
  kycLink: anyString(),
  tosLink: anyString(),
  createdAt: anyString(),
});
export const entityCreatedSchema = lazy((): Schema<EntityCreated> =>
  z.looseObject(entityCreatedShape()),
);

export const entityShape = () => ({ ...entityCreatedShape(), status: anyString<EntityStatus>() });
export const entitySchema = lazy((): Schema<Entity> => z.looseObject(entityShape()));

// The SDK assumes what is required, and how the platform sets the type: docs/gaps.md, rows 1 and 2.
/** Input for creating an Entity. */
export interface EntityCreateInput {
  /** Email address of the Entity. */
  email: string;
  /** The name of an individual. */
  fullName?: string | undefined;
  /** The name of a business. */
  businessName?: string | undefined;
}

const expectedEmail = /* @__PURE__ */ expectation('an email address, such as "ada@example.com"');
export const entityCreateInputShape = () => ({
  email: z.string(expectedEmail).check(z.regex(/^(?=[^]{3,320}$)[^\s@]+@[^\s@]+$/, expectedEmail)),
  fullName: z.optional(stringInput(expectation('a name as a string'))),
  businessName: z.optional(stringInput(expectation('a name as a string'))),
});
export const entityCreateInputSchema = lazy((): Schema<EntityCreateInput> =>
  closedObject(entityCreateInputShape()),
);

/** Which Entities to list: paging only. */
export interface EntityListQuery extends PageQuery {}
export const entityListQuerySchema = lazy((): Schema<EntityListQuery> =>
  closedObject(pageQueryShape()),
);
