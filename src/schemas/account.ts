import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { createIdGuard } from '../internal/formats.ts';
import { lazy } from '../internal/objects.ts';
import { entityIdSchema, type EntityId } from './entity.ts';
import type { IdFrom } from './ids.ts';
import {
  anyString,
  closedObject,
  idSchema,
  createGuard,
  metadata,
  metadataInput,
  pageQueryShape,
  stringInput,
  type Metadata,
  type OpenEnum,
  type PageQuery,
  type Schema,
} from './primitives.ts';
import type { Chain } from './settings.ts';

/** The id of an Account. `accountId(text)` checks a `string` and returns an id. */
export type AccountId = `acc_${string}`;
export const accountIdSchema = idSchema<IdFrom<'acc_', 'accountId(text) or as const'>>('acc_');
/** Whether a value is a well-formed Account id; narrows it. */
export const isAccountId: (value: unknown) => value is AccountId = createIdGuard('acc_');

export const accountTypes = ['wallet', 'bank'] as const;
/** The documented types of an Account. @useDeclaredType */
export type KnownAccountType = (typeof accountTypes)[number];
/** One of the documented types of an Account, or a new one that this version does not know. */
export type AccountType = OpenEnum<KnownAccountType>;
/** Whether the Account type is documented. */
export const isKnownAccountType: (value: unknown) => value is KnownAccountType =
  createGuard(accountTypes);

export const accountStatuses = ['active', 'inactive'] as const;
/** The documented statuses of an Account. @useDeclaredType */
export type KnownAccountStatus = (typeof accountStatuses)[number];
/** One of the documented statuses of an Account, or a new one that this version does not know. */
export type AccountStatus = OpenEnum<KnownAccountStatus>;
/** Whether the Account status is documented. */
export const isKnownAccountStatus: (value: unknown) => value is KnownAccountStatus =
  createGuard(accountStatuses);

/** Response to the creation of an Account: fewer fields than an {@link Account}. */
export interface AccountCreated {
  /** Starts with `acc_`. */
  readonly id: AccountId;
  /** The Entity that owns the Account. */
  readonly entityId: EntityId;
  /** Display name. */
  readonly name: string;
  /** A wallet or a bank account. */
  readonly type: AccountType;
  /** The chain that the Account is provisioned on. */
  readonly chain: Chain;
  /** A new Account is `active`. */
  readonly status: AccountStatus;
  /** Whether the Account earns yield on idle balances; set from the Settings at creation. */
  readonly autoEarn: boolean;
  /** A decimal string; its unit and precision are not documented. */
  readonly availableBalance: string;
  /** `USDC` unless the platform says otherwise. */
  readonly currency: string;
  /** ISO 8601 date-time, UTC. */
  readonly createdAt: string;
}

/** A wallet or bank account that belongs to an Entity and holds balances in one currency. */
export interface Account extends AccountCreated {
  /** A decimal string. */
  readonly pendingBalance: string;
  /** A decimal string. */
  readonly lockedBalance: string;
  /** A decimal string. */
  readonly holdingBalance: string;
  /** Your own free-form data; absent or null when there is none. */
  readonly metadata?: Metadata | null | undefined;
  /** ISO 8601 date-time, UTC. */
  readonly updatedAt: string;
}

export const accountCreatedShape = () => ({
  id: anyString<AccountId>(),
  entityId: anyString<EntityId>(),
  name: anyString(),
  type: anyString<AccountType>(),
  chain: anyString<Chain>(),
  status: anyString<AccountStatus>(),
  autoEarn: z.boolean(),
  availableBalance: anyString(),
  currency: anyString(),
  createdAt: anyString(),
});
export const accountCreatedSchema = lazy((): Schema<AccountCreated> =>
  z.looseObject(accountCreatedShape()),
);

export const accountShape = () => ({
  ...accountCreatedShape(),
  pendingBalance: anyString(),
  lockedBalance: anyString(),
  holdingBalance: anyString(),
  metadata: z.nullish(metadata()),
  updatedAt: anyString(),
});
export const accountSchema = lazy((): Schema<Account> => z.looseObject(accountShape()));

// The SDK assumes which fields are required: docs/gaps.md, row 3.
/** Input for creating an Account, which is provisioned on the default chain of the Settings. */
export interface AccountCreateInput {
  /** The Entity that will own the Account. */
  entityId: IdFrom<'ent_', 'entityId(text) or as const'>;
  /** Display name. */
  name?: string | undefined;
  /** Your own free-form data. */
  metadata?: Metadata | undefined;
}
export const accountUpdateInputShape = () => ({
  name: z.optional(stringInput(expectation('a display name as a string'))),
  metadata: z.optional(metadataInput()),
});
export const accountCreateInputShape = () => ({
  entityId: entityIdSchema(),
  ...accountUpdateInputShape(),
});
export const accountCreateInputSchema = lazy((): Schema<AccountCreateInput> =>
  closedObject(accountCreateInputShape()),
);

/** The fields of an Account to change; omitted fields stay unchanged. */
export interface AccountUpdateInput {
  /** Display name. */
  name?: string | undefined;
  /** Your own free-form data. Whether the platform merges or replaces it is not documented. */
  metadata?: Metadata | undefined; // A PATCH may merge or replace: docs/gaps.md, row 14
}
export const accountUpdateInputSchema = lazy((): Schema<AccountUpdateInput> =>
  closedObject(accountUpdateInputShape()),
);

// The API reference names no filter: docs/gaps.md, row 4.
/** Which Accounts to list. To filter them, pass a parameter of your platform in `options.query`. */
export interface AccountListQuery extends PageQuery {}
export const accountListQuerySchema = lazy((): Schema<AccountListQuery> =>
  closedObject(pageQueryShape()),
);
