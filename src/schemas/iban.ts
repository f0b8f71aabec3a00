import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import { accountIdSchema } from './account.ts';
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

export const ibanIdSchema = idSchema('iban_');

const ibanStatuses = ['active', 'inactive'] as const;
/** The documented statuses of an IBAN. @useDeclaredType */
type IbanStatus = (typeof ibanStatuses)[number];

/** A fiat bank identifier, linked to an Account and an Entity, that accepts deposits. */
export interface Iban {
  /** Id of the IBAN record, which starts with `iban_`. */
  readonly id: string;
  /** The Entity that the IBAN belongs to. */
  readonly entityId: string;
  /** The Account that receives deposits to the IBAN. */
  readonly accountId: string;
  /** The IBAN itself, to which a sender pays. */
  readonly iban: string;
  /** Identifier code (BIC) of the bank. */
  readonly bic: string;
  /** Name of the bank. */
  readonly bankName: string;
  /** The fiat currency that the IBAN accepts. */
  readonly currency: string;
  /** Status of the IBAN. The platform rejects deposits to an IBAN that was deleted. */
  readonly status: IbanStatus;
  /** When the IBAN was created: an ISO 8601 date-time in UTC. */
  readonly createdAt: string;
}

export const ibanShape = () => ({
  id: anyString(),
  entityId: anyString(),
  accountId: anyString(),
  iban: anyString(),
  bic: anyString(),
  bankName: anyString(),
  currency: anyString(),
  status: enumString(ibanStatuses),
  createdAt: anyString(),
});
export const ibanSchema = lazy((): Schema<Iban> => z.looseObject(ibanShape()));

/** Query of `ibans.list`: which IBANs to list. */
export interface IbanListQuery extends PageQuery {
  // The API reference does not name the filters by Entity and by Account: docs/gaps.md, row 8.
  /** Lists only IBANs of this Entity. */
  entityId?: string | undefined;
  /** Lists only IBANs of this Account. */
  accountId?: string | undefined;
}
export const ibanListQueryShape = () => ({
  ...pageQueryShape(),
  entityId: z.optional(entityIdSchema()),
  accountId: z.optional(accountIdSchema()),
});
export const ibanListQuerySchema = lazy((): Schema<IbanListQuery> =>
  closedObject(ibanListQueryShape()),
);
