import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import {
  anyString,
  closedObject,
  enumString,
  idSchema,
  pageQueryShape,
  stringInput,
  type PageQuery,
  type Schema,
} from './primitives.ts';

export const entityIdSchema = idSchema('ent_');

const entityTypes = ['individual', 'business'] as const;
/** The documented types of an Entity. @useDeclaredType */
type EntityType = (typeof entityTypes)[number];

export const entityStatuses = ['active', 'inactive'] as const;
/** The documented statuses of an Entity. @useDeclaredType */
export type EntityStatus = (typeof entityStatuses)[number];

// The API reference does not show the order of these KYC statuses: docs/gaps.md, row 39.
export const kycStatuses = [
  'not_started',
  'pending',
  'incomplete',
  'under_review',
  'approved',
  'rejected',
] as const;
/** The documented statuses of an Entity's identity verification. @useDeclaredType */
export type KycStatus = (typeof kycStatuses)[number];

export const tosStatuses = ['not_started', 'pending', 'approved'] as const;
/** The documented statuses of an Entity's consent to the terms of service. @useDeclaredType */
export type TosStatus = (typeof tosStatuses)[number];

/** The response to `entities.create`: an {@link Entity} without `status`. */
export interface EntityCreated {
  /** Id of the Entity, which starts with `ent_`. */
  readonly id: string;
  /** The email address that the Entity was created with. */
  readonly email: string;
  /** Whether the Entity is an individual (verified by KYC) or a business (verified by KYB). */
  readonly type: EntityType;
  /** Status of the Entity's identity verification. A new Entity has `not_started`. */
  readonly kycStatus: KycStatus;
  /** Status of the Entity's consent to the terms of service. A new Entity has `not_started`. */
  readonly tosStatus: TosStatus;
  /** Link where the Entity completes identity verification; share it with the Entity. */
  readonly kycLink: string;
  /** Link where the Entity accepts the terms of service; share it with the Entity. */
  readonly tosLink: string;
  /** When the Entity was created: an ISO 8601 date-time in UTC. */
  readonly createdAt: string;
}

/** An individual or a business that holds Accounts. */
export interface Entity extends EntityCreated {
  /** Whether the Entity is `active` or `inactive`. */
  readonly status: EntityStatus;
}

export const entityCreatedShape = () => ({
  id: anyString(),
  email: anyString(),
  type: enumString(entityTypes),
  kycStatus: enumString(kycStatuses),
  tosStatus: enumString(tosStatuses),
  kycLink: anyString(),
  tosLink: anyString(),
  createdAt: anyString(),
});
export const entityCreatedSchema = lazy((): Schema<EntityCreated> =>
  z.looseObject(entityCreatedShape()),
);

export const entityShape = () => ({ ...entityCreatedShape(), status: enumString(entityStatuses) });
export const entitySchema = lazy((): Schema<Entity> => z.looseObject(entityShape()));

// How the platform sets the type of a new Entity is not documented: docs/gaps.md, rows 1 and 2.
/** Input of `entities.create`. */
export interface EntityCreateInput {
  /** Email address of the Entity. */
  email: string;
  /** Full name, if the Entity is an individual. */
  fullName?: string | undefined;
  /** Name of the business, if the Entity is a business. */
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

/** Query of `entities.list`, which has only the paging parameters. */
export interface EntityListQuery extends PageQuery {}
export const entityListQuerySchema = lazy((): Schema<EntityListQuery> =>
  closedObject(pageQueryShape()),
);
