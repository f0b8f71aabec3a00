import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import { entityIdSchema } from './entity.ts';
import {
  anyString,
  closedObject,
  enumString,
  idSchema,
  metadata,
  metadataInput,
  pageQueryShape,
  stringInput,
  type Metadata,
  type PageQuery,
  type Schema,
} from './primitives.ts';
import { chains, type Chain } from './settings.ts';

export const accountIdSchema = idSchema('acc_');

export const accountTypes = ['wallet', 'bank'] as const;
/** The documented types of an Account. @useDeclaredType */
export type AccountType = (typeof accountTypes)[number];

export const accountStatuses = ['active', 'inactive'] as const;
/** The documented statuses of an Account. @useDeclaredType */
export type AccountStatus = (typeof accountStatuses)[number];

/** The response to `accounts.create`, which has fewer fields than an {@link Account}. */
export interface AccountCreated {
  /** Id of the Account, which starts with `acc_`. */
  readonly id: string;
  /** The Entity that owns the Account. */
  readonly entityId: string;
  /** Name of the Account, for display. */
  readonly name: string;
  /** Whether the Account is a wallet or a bank account. */
  readonly type: AccountType;
  /** The chain that the Account is provisioned on. */
  readonly chain: Chain;
  /** Status of the Account. A new Account is `active`. */
  readonly status: AccountStatus;
  /** Whether the Account earns yield on idle balances, as the Settings said at its creation. */
  readonly autoEarn: boolean;
  /** Available balance, a decimal string. The unit and the precision are not documented. */
  readonly availableBalance: string;
  /** Currency of the balances: `USDC` unless the platform says otherwise. */
  readonly currency: string;
  /** When the Account was created: an ISO 8601 date-time in UTC. */
  readonly createdAt: string;
}

/** A wallet or bank account that belongs to an Entity and holds balances in one currency. */
export interface Account extends AccountCreated {
  /** Pending balance of the Account, a decimal string. */
  readonly pendingBalance: string;
  /** Locked balance of the Account, a decimal string. */
  readonly lockedBalance: string;
  /** Holding balance of the Account, a decimal string. */
  readonly holdingBalance: string;
  /** Your own free-form data about the Account. Absent or null if there is none. */
  readonly metadata?: Metadata | null | undefined;
  /** When the Account was last changed: an ISO 8601 date-time in UTC. */
  readonly updatedAt: string;
}

export const accountCreatedShape = () => ({
  id: anyString(),
  entityId: anyString(),
  name: anyString(),
  type: enumString(accountTypes),
  chain: enumString(chains),
  status: enumString(accountStatuses),
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

// The API reference does not say which fields a new Account needs: docs/gaps.md, row 3.
/** Input of `accounts.create`. The platform uses the default chain of the Settings. */
export interface AccountCreateInput {
  /** The Entity that will own the Account. */
  entityId: string;
  /** Name of the Account, for display. */
  name?: string | undefined;
  /** Your own free-form data about the Account. */
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
  /** New name of the Account, for display. */
  name?: string | undefined;
  /** Your own free-form data. Whether the platform merges or replaces it is not documented. */
  metadata?: Metadata | undefined; // A PATCH may merge or replace metadata: docs/gaps.md, row 14
}
export const accountUpdateInputSchema = lazy((): Schema<AccountUpdateInput> =>
  closedObject(accountUpdateInputShape()),
);

// The API reference names no filter for the list of Accounts: docs/gaps.md, row 4.
/** Which Accounts to list. To filter them, pass a parameter of your platform in `options.query`. */
export interface AccountListQuery extends PageQuery {}
export const accountListQuerySchema = lazy((): Schema<AccountListQuery> =>
  closedObject(pageQueryShape()),
);
