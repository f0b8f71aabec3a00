import * as z from 'zod/mini';
import {
  anyString,
  filledText,
  guard,
  idOf,
  known,
  pageQueryShape,
  type OpenEnum,
  type PageQuery,
  type Schema,
} from './primitives.ts';

/** The id of an Entity. */
export type EntityId = `ent_${string}`;
export const EntityIdSchema: Schema<EntityId> = idOf('an Entity', 'ent_');
/** Tells whether a value is a well-formed Entity id, and narrows it. */
export const isEntityId: (value: unknown) => value is EntityId = guard(EntityIdSchema);

const entityTypes = ['individual', 'business'] as const;
export type KnownEntityType = (typeof entityTypes)[number];
export type EntityType = OpenEnum<KnownEntityType>;
/** Tells whether an Entity type is one that the document lists. */
export const isKnownEntityType: (value: unknown) => value is KnownEntityType = known(entityTypes);

export const entityStatuses = ['active', 'inactive'] as const;
export type KnownEntityStatus = (typeof entityStatuses)[number];
export type EntityStatus = OpenEnum<KnownEntityStatus>;
/** Tells whether an Entity status is one that the document lists. */
export const isKnownEntityStatus: (value: unknown) => value is KnownEntityStatus =
  known(entityStatuses);

export const kycStatuses = [
  'not_started',
  'pending',
  'incomplete',
  'under_review',
  'approved',
  'rejected',
] as const;
export type KnownKycStatus = (typeof kycStatuses)[number];
export type KycStatus = OpenEnum<KnownKycStatus>;
/** Tells whether a KYC status is one that the document lists. */
export const isKnownKycStatus: (value: unknown) => value is KnownKycStatus = known(kycStatuses);

export const tosStatuses = ['not_started', 'pending', 'approved'] as const;
export type KnownTosStatus = (typeof tosStatuses)[number];
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

export const entityCreatedShape = {
  id: anyString<EntityId>(),
  email: z.string(),
  type: anyString<EntityType>(),
  kycStatus: anyString<KycStatus>(),
  tosStatus: anyString<TosStatus>(),
  kycLink: z.string(),
  tosLink: z.string(),
  createdAt: z.string(),
};
export const EntityCreatedSchema: Schema<EntityCreated> = z.looseObject(entityCreatedShape);

export const entityShape = { ...entityCreatedShape, status: anyString<EntityStatus>() };
export const EntitySchema: Schema<Entity> = z.looseObject(entityShape);

/** What it takes to create an Entity. How the platform chooses the type is not documented. */
export interface EntityCreateInput {
  /** Where the Entity is reached. */
  email: string;
  /** The name of a person. */
  fullName?: string | undefined;
  /** The name of a business. */
  businessName?: string | undefined;
}

const emailRule = 'expected an email address, such as "ada@example.com"';
export const entityCreateInputShape = {
  email: z
    .string(emailRule)
    .check(z.regex(/^[^\s@]+@[^\s@]+$/, emailRule), z.maxLength(320, emailRule)),
  fullName: z.optional(filledText('a name')),
  businessName: z.optional(filledText('a name')),
};
export const EntityCreateInputSchema: Schema<EntityCreateInput> =
  z.strictObject(entityCreateInputShape);

/** Which Entities to list: paging only. */
export interface EntityListQuery extends PageQuery {}
export const EntityListQuerySchema: Schema<EntityListQuery> = z.strictObject(pageQueryShape);
