import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { idGuard, type IdFrom } from './ids.ts';
import {
  anyString,
  closed,
  idOf,
  known,
  lazy,
  pageQueryShape,
  text,
  type OpenEnum,
  type PageQuery,
  type Schema,
} from './primitives.ts';

/** The id of an Entity; `entityId(text)` makes one of a `string`. */
export type EntityId = `ent_${string}`;
export const entityIdSchema = idOf<IdFrom<'entityId(text) or as const'>>('ent_');
/** Tells whether a value is a well-formed Entity id, and narrows it. */
export const isEntityId: (value: unknown) => value is EntityId = idGuard('ent_');

const entityTypes = ['individual', 'business'] as const;
/** The documented types of an Entity. @useDeclaredType */
export type KnownEntityType = (typeof entityTypes)[number];
/** One of the documented types of an Entity, or a new one that this version does not know. */
export type EntityType = OpenEnum<KnownEntityType>;
/** Tells whether an Entity type is one that the document lists. */
export const isKnownEntityType: (value: unknown) => value is KnownEntityType = known(entityTypes);

export const entityStatuses = ['active', 'inactive'] as const;
/** The documented statuses of an Entity. @useDeclaredType */
export type KnownEntityStatus = (typeof entityStatuses)[number];
/** One of the documented statuses of an Entity, or a new one that this version does not know. */
export type EntityStatus = OpenEnum<KnownEntityStatus>;
/** Tells whether an Entity status is one that the document lists. */
export const isKnownEntityStatus: (value: unknown) => value is KnownEntityStatus =
  known(entityStatuses);

// How these come after each other is not documented: docs/gaps.md, row 39.
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
/** Tells whether a KYC status is one that the document lists. */
export const isKnownKycStatus: (value: unknown) => value is KnownKycStatus = known(kycStatuses);

export const tosStatuses = ['not_started', 'pending', 'approved'] as const;
/** The documented statuses of the terms of service. @useDeclaredType */
export type KnownTosStatus = (typeof tosStatuses)[number];
/**
 * One of the documented statuses of the terms of service, or a new one that this version does not
 * know.
 */
export type TosStatus = OpenEnum<KnownTosStatus>;
/** Tells whether a terms-of-service status is one that the document lists. */
export const isKnownTosStatus: (value: unknown) => value is KnownTosStatus = known(tosStatuses);

/** What the platform answers when an Entity has been created: an {@link Entity} without `status`. */
export interface EntityCreated {
  /** Starts with `ent_`. */
  id: EntityId;
  /** The email address that the Entity was created with. */
  email: string;
  /** An individual (verified by KYC) or a business (verified by KYB). */
  type: EntityType;
  /** Where identity verification stands; a new Entity has `not_started`. */
  kycStatus: KycStatus;
  /** Where acceptance of the terms of service stands; a new Entity has `not_started`. */
  tosStatus: TosStatus;
  /** Share this link with the Entity: there it completes identity verification. */
  kycLink: string;
  /** Share this link with the Entity: there it accepts the terms of service. */
  tosLink: string;
  /** ISO 8601 date-time, UTC. */
  createdAt: string;
}

/** An individual or a business on whose behalf Accounts are held. */
export interface Entity extends EntityCreated {
  /** Whether the Entity is active. */
  status: EntityStatus;
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

// Which fields are required, and how the platform chooses the type: docs/gaps.md, rows 1 and 2.
/** Input for creating an Entity. */
export interface EntityCreateInput {
  /** Where the Entity is reached. */
  email: string;
  /** The name of a person. */
  fullName?: string | undefined;
  /** The name of a business. */
  businessName?: string | undefined;
}

const emailRule = /* @__PURE__ */ expectation('an email address, such as "ada@example.com"');
export const entityCreateInputShape = () => ({
  email: z.string(emailRule).check(z.regex(/^(?=[^]{3,320}$)[^\s@]+@[^\s@]+$/, emailRule)),
  fullName: z.optional(text(expectation('a name as a string'))),
  businessName: z.optional(text(expectation('a name as a string'))),
});
export const entityCreateInputSchema = lazy((): Schema<EntityCreateInput> =>
  closed(entityCreateInputShape()),
);

/** Which Entities to list: paging only. */
export interface EntityListQuery extends PageQuery {}
export const entityListQuerySchema = lazy((): Schema<EntityListQuery> => closed(pageQueryShape()));
