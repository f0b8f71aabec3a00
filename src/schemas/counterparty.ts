import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import { entityIdSchema } from './entity.ts';
import {
  anyString,
  closedObject,
  enumString,
  idSchema,
  pageQueryShape,
  type PageQuery,
  type Schema,
} from './primitives.ts';

export const counterpartyIdSchema = idSchema('cpty_');

export const counterpartyTypes = ['wallet', 'bank_account'] as const;
/** The documented types of a Counterparty. @useDeclaredType */
export type CounterpartyType = (typeof counterpartyTypes)[number];

/** An external wallet or bank account that can receive transfers. */
export interface Counterparty {
  /** Id of the Counterparty, which starts with `cpty_`. */
  readonly id: string;
  /** The Entity that the Counterparty belongs to. */
  readonly entityId: string;
  /** Name of the Counterparty, for display. */
  readonly name: string;
  /** Whether the Counterparty is a wallet or a bank account. */
  readonly type: CounterpartyType;
  /** Name of the bank, if the Counterparty is a bank account. */
  readonly bankName?: string | null | undefined;
  /** Account number of a bank account. The platform shows only the last digits. */
  readonly accountNumber?: string | null | undefined;
  /** The routing number of a bank account. */
  readonly routingNumber?: string | null | undefined;
  /** The address of a wallet. */
  readonly walletAddress?: string | null | undefined;
  /** The chain of a wallet, such as `base`. */
  readonly chain?: string | null | undefined;
  /** When the Counterparty was created: an ISO 8601 date-time in UTC. */
  readonly createdAt: string;
}

export const counterpartyShape = () => ({
  id: anyString(),
  entityId: anyString(),
  name: anyString(),
  type: enumString(counterpartyTypes),
  bankName: z.nullish(anyString()),
  accountNumber: z.nullish(anyString()),
  routingNumber: z.nullish(anyString()),
  walletAddress: z.nullish(anyString()),
  chain: z.nullish(anyString()),
  createdAt: anyString(),
});
export const counterpartySchema = lazy((): Schema<Counterparty> =>
  z.looseObject(counterpartyShape()),
);

/** Query of `counterparties.list`: which Counterparties to list. */
export interface CounterpartyListQuery extends PageQuery {
  // The API reference does not name the filter by Entity: docs/gaps.md, row 7.
  /** Lists only Counterparties of this Entity. */
  entityId?: string | undefined;
}
export const counterpartyListQueryShape = () => ({
  ...pageQueryShape(),
  entityId: z.optional(entityIdSchema()),
});
export const counterpartyListQuerySchema = lazy((): Schema<CounterpartyListQuery> =>
  closedObject(counterpartyListQueryShape()),
);
