import * as z from 'zod/mini';
import { createIdGuard } from '../internal/formats.ts';
import { lazy } from '../internal/objects.ts';
import { accountIdSchema, type AccountId } from './account.ts';
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

/** The id of an IBAN (not the IBAN itself). `ibanId(text)` checks a `string` and returns an id. */
export type IbanId = `iban_${string}`;
export const ibanIdSchema = idSchema<IdFrom<'iban_', 'ibanId(text) or as const'>>('iban_');
/** Whether a value is a well-formed id of an IBAN; narrows it. */
export const isIbanId: (value: unknown) => value is IbanId = createIdGuard('iban_');

const ibanStatuses = ['active', 'inactive'] as const;
/** The documented statuses of an IBAN. @useDeclaredType */
export type KnownIbanStatus = (typeof ibanStatuses)[number];
/** One of the documented statuses of an IBAN, or a new one that this version does not know. */
export type IbanStatus = OpenEnum<KnownIbanStatus>;
/** Whether the status of an IBAN is documented. */
export const isKnownIbanStatus: (value: unknown) => value is KnownIbanStatus =
  createGuard(ibanStatuses);

/** A fiat bank identifier, linked to an Account and an Entity, that accepts deposits. */
export interface Iban {
  /** Starts with `iban_`. */
  readonly id: IbanId;
  /** The Entity that the IBAN belongs to. */
  readonly entityId: EntityId;
  /** The Account that deposits reach. */
  readonly accountId: AccountId;
  /** The bank identifier itself. */
  readonly iban: string;
  /** The bank's identifier code. */
  readonly bic: string;
  /** The bank's name. */
  readonly bankName: string;
  /** The fiat currency that the IBAN accepts. */
  readonly currency: string;
  /** Deposits to an IBAN that was deleted are rejected. */
  readonly status: IbanStatus;
  /** ISO 8601 date-time, UTC. */
  readonly createdAt: string;
}

export const ibanShape = () => ({
  id: anyString<IbanId>(),
  entityId: anyString<EntityId>(),
  accountId: anyString<AccountId>(),
  iban: anyString(),
  bic: anyString(),
  bankName: anyString(),
  currency: anyString(),
  status: anyString<IbanStatus>(),
  createdAt: anyString(),
});
export const ibanSchema = lazy((): Schema<Iban> => z.looseObject(ibanShape()));

/** Which IBANs to list. */
export interface IbanListQuery extends PageQuery {
  // The SDK assumes the names of both filters: docs/gaps.md, row 8.
  /** Only IBANs of this Entity. */
  entityId?: IdFrom<'ent_', 'entityId(text) or as const'> | undefined;
  /** Only IBANs of this Account. */
  accountId?: IdFrom<'acc_', 'accountId(text) or as const'> | undefined;
}
export const ibanListQueryShape = () => ({
  ...pageQueryShape(),
  entityId: z.optional(entityIdSchema()),
  accountId: z.optional(accountIdSchema()),
});
export const ibanListQuerySchema = lazy((): Schema<IbanListQuery> =>
  closedObject(ibanListQueryShape()),
);
