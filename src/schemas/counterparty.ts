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
  pageQueryShape,
  type OpenEnum,
  type PageQuery,
  type Schema,
} from './primitives.ts';
import type { Chain } from './settings.ts';

/** The id of a Counterparty. `counterpartyId(text)` checks a `string` and returns an id. */
export type CounterpartyId = `cpty_${string}`;
export const counterpartyIdSchema =
  idSchema<IdFrom<'cpty_', 'counterpartyId(text) or as const'>>('cpty_');
/** Whether a value is a well-formed Counterparty id; narrows it. */
export const isCounterpartyId: (value: unknown) => value is CounterpartyId = createIdGuard('cpty_');

export const counterpartyTypes = ['wallet', 'bank_account'] as const;
/** The documented types of a Counterparty. @useDeclaredType */
export type KnownCounterpartyType = (typeof counterpartyTypes)[number];
/** One of the documented types of a Counterparty, or a new one that this version does not know. */
export type CounterpartyType = OpenEnum<KnownCounterpartyType>;
/** Whether the Counterparty type is documented. */
export const isKnownCounterpartyType: (value: unknown) => value is KnownCounterpartyType =
  createGuard(counterpartyTypes);

/** An external wallet or bank account that can receive transfers. */
export interface Counterparty {
  /** Starts with `cpty_`. */
  readonly id: CounterpartyId;
  /** The Entity that the Counterparty belongs to. */
  readonly entityId: EntityId;
  /** Display name. */
  readonly name: string;
  /** A wallet or a bank account. */
  readonly type: CounterpartyType;
  /** The name of the bank, if this is a bank account. */
  readonly bankName?: string | null | undefined;
  /** The account number of a bank account, masked: only the last digits are visible. */
  readonly accountNumber?: string | null | undefined;
  /** The routing number of a bank account. */
  readonly routingNumber?: string | null | undefined;
  /** The address of a wallet. */
  readonly walletAddress?: string | null | undefined;
  /** The chain of a wallet. */
  readonly chain?: Chain | null | undefined;
  /** ISO 8601 date-time, UTC. */
  readonly createdAt: string;
}

export const counterpartyShape = () => ({
  id: anyString<CounterpartyId>(),
  entityId: anyString<EntityId>(),
  name: anyString(),
  type: anyString<CounterpartyType>(),
  bankName: z.nullish(anyString()),
  accountNumber: z.nullish(anyString()),
  routingNumber: z.nullish(anyString()),
  walletAddress: z.nullish(anyString()),
  chain: z.nullish(anyString<Chain>()),
  createdAt: anyString(),
});
export const counterpartySchema = lazy((): Schema<Counterparty> =>
  z.looseObject(counterpartyShape()),
);

/** Which Counterparties to list. */
export interface CounterpartyListQuery extends PageQuery {
  // The API reference mentions a filter, but not its name: docs/gaps.md, row 7.
  /** Only Counterparties of this Entity. */
  entityId?: IdFrom<'ent_', 'entityId(text) or as const'> | undefined;
}
export const counterpartyListQueryShape = () => ({
  ...pageQueryShape(),
  entityId: z.optional(entityIdSchema()),
});
export const counterpartyListQuerySchema = lazy((): Schema<CounterpartyListQuery> =>
  closedObject(counterpartyListQueryShape()),
);
