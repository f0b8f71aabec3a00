import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { isWellFormedId } from '../internal/formats.ts';
import { lazy } from '../internal/objects.ts';
import { accountIdSchema } from './account.ts';
import { counterpartyIdSchema } from './counterparty.ts';
import {
  anyString,
  closedObject,
  currencyCode,
  enumString,
  idSchema,
  asSchema,
  pageQueryShape,
  positiveAmount,
  stringInput,
  type PageQuery,
  type Schema,
} from './primitives.ts';

export const transferIdSchema = idSchema('txfr_');
/** Whether a value is a well-formed id of a Transfer (`txfr_…`). */
export const isTransferId = (value: unknown): boolean => isWellFormedId('txfr_', value);

const transferTypes = ['book', 'wire', 'on_chain'] as const;
/** The documented types of a Transfer. @useDeclaredType */
type TransferType = (typeof transferTypes)[number];

export const transferStatuses = [
  'pending',
  'processing',
  'completed',
  'failed',
  'cancelled',
] as const;
/** The documented statuses of a Transfer. @useDeclaredType */
export type TransferStatus = (typeof transferStatuses)[number];
type StatusMeaning = 'open' | 'arrived' | 'failed';
/** What each status of a Transfer says about the money. Use this table to decide by a status. */
export const statusMeanings: Readonly<Record<TransferStatus, StatusMeaning>> = {
  pending: 'open',
  processing: 'open',
  completed: 'arrived',
  failed: 'failed',
  cancelled: 'failed',
};
/** What a Transfer's status means for the money; undefined, and not final, if undocumented. */
export const statusMeaning = ({
  status,
}: {
  readonly status: string;
}): StatusMeaning | undefined =>
  Object.hasOwn(statusMeanings, status) ? statusMeanings[status as TransferStatus] : undefined;

const transferDirections = ['outgoing', 'incoming'] as const;
/** The documented directions of a Transfer. @useDeclaredType */
type TransferDirection = (typeof transferDirections)[number];

/** The response to `transfers.create`, which has fewer fields than a {@link Transfer}. */
export interface TransferCreated {
  /** Id of the Transfer, which starts with `txfr_`. */
  readonly id: string;
  /** Status of the Transfer. A new Transfer is `pending`. */
  readonly status: TransferStatus;
  /** Type of the Transfer: `book` between Accounts, `wire` or `on_chain` to a Counterparty. */
  readonly type: TransferType;
  /** When the Transfer was created: an ISO 8601 date-time in UTC. */
  readonly createdAt: string;
}

/** A movement of funds from an Account to another Account or to a Counterparty. */
export interface Transfer extends TransferCreated {
  /** The Account that the money leaves. */
  readonly sourceAccountId: string;
  /** The Account that the money reaches. Present for book transfers. */
  readonly destinationAccountId?: string | null | undefined;
  /** The Counterparty that the money reaches. Present for transfers that leave the Platform. */
  readonly counterpartyId?: string | null | undefined;
  /** The amount of money, a decimal string. */
  readonly amount: string;
  /** Currency of the amount: `USDC` unless you named another currency in `transfers.create`. */
  readonly currency: string;
  /** Direction of the Transfer: `outgoing` or `incoming`. */
  readonly direction: TransferDirection; // How a book transfer gets its direction: docs/gaps.md, row 42
  /** The description that you passed to `transfers.create`. */
  readonly description?: string | null | undefined;
}

export const transferCreatedShape = () => ({
  id: anyString(),
  status: enumString(transferStatuses),
  type: enumString(transferTypes),
  createdAt: anyString(),
});
export const transferCreatedSchema = lazy((): Schema<TransferCreated> =>
  z.looseObject(transferCreatedShape()),
);

export const transferShape = () => ({
  ...transferCreatedShape(),
  sourceAccountId: anyString(),
  destinationAccountId: z.nullish(anyString()),
  counterpartyId: z.nullish(anyString()),
  amount: anyString(),
  currency: anyString(),
  direction: enumString(transferDirections),
  description: z.nullish(anyString()),
});
export const transferSchema = lazy((): Schema<Transfer> => z.looseObject(transferShape()));

/*
 * The SDK assumes which fields a payment needs, which currencies exist, and that the description
 * comes back unchanged: docs/gaps.md, rows 5, 10 and 60. Both members of the union list every
 * field, because an editor then shows all of them.
 */
/**
 * Money to send from an Account to one destination, `destinationAccountId` or `counterpartyId`.
 */
export type TransferCreateInput =
  | {
      /** The Account that the money leaves. */
      sourceAccountId: string;
      /** The Account of this Platform to pay. Leave out `counterpartyId` then. */
      destinationAccountId: string;
      /** External wallet or bank account to pay. Leave out if you pass `destinationAccountId`. */
      counterpartyId?: undefined;
      /** Decimal string above zero, such as `'12.50'`. A number cannot hold every decimal. */
      amount: string;
      /** Currency code of 2 to 12 letters and digits. If you leave it out, `USDC` is used. */
      currency?: string | undefined;
      /** Your own unique reference, by which `transfers.reconcile` finds the Transfer. */
      description?: string | undefined;
    }
  | {
      /** The Account that the money leaves. */
      sourceAccountId: string;
      /** The Account of this Platform to pay. Leave out if you pass `counterpartyId`. */
      destinationAccountId?: undefined;
      /** The external wallet or bank account to pay. Leave out `destinationAccountId` then. */
      counterpartyId: string;
      /** Decimal string above zero, such as `'12.50'`. A number cannot hold every decimal. */
      amount: string;
      /** Currency code of 2 to 12 letters and digits. If you leave it out, `USDC` is used. */
      currency?: string | undefined;
      /** Your own unique reference, by which `transfers.reconcile` finds the Transfer. */
      description?: string | undefined;
    };

/** Input of `transfers.createOnce`: a payment to make once, with a reference as `description`. */
export type OnceInput = TransferCreateInput & {
  /**
   * The payment's reference. Never use the same reference for another payment; upper and lower case
   * do not count. 1 to 140 printable ASCII characters with a letter or digit, no space at either
   * end.
   */
  readonly description: string;
};

/**
 * The terms of a payment for a function that adds the reference, as in `{ ...terms, description }`.
 * `Omit<OnceInput, 'description'>` would lose the union of destinations.
 */
export type OnceTerms = TransferCreateInput extends infer Terms
  ? Terms extends unknown
    ? Omit<Terms, 'description'>
    : never
  : never;

export const transferCreateInputShape = () => ({
  sourceAccountId: accountIdSchema(),
  amount: positiveAmount(),
  destinationAccountId: z.optional(accountIdSchema()),
  counterpartyId: z.optional(counterpartyIdSchema()),
  currency: z.optional(currencyCode()),
  description: z.optional(stringInput()),
});
export const transferCreateInputSchema = lazy((): Schema<TransferCreateInput> =>
  asSchema(
    closedObject(transferCreateInputShape()).check(
      // What the platform does with two destinations is not documented: docs/gaps.md, row 48.
      z.refine(
        (input) =>
          (input.destinationAccountId === undefined) !== (input.counterpartyId === undefined),
        {
          path: ['destinationAccountId'],
          error: ({ input }) =>
            Reflect.get(Object(input), 'counterpartyId') === undefined
              ? expectation({
                  expected: 'destinationAccountId or counterpartyId',
                  hint: 'The first is an Account of this Platform, the other an external wallet or bank account',
                })
              : expectation({
                  got: 'counterpartyId, too',
                  expected: 'one destination',
                  hint: 'Leave one of them out',
                }),
          // Also checks an input with other problems, so that one error lists all problems.
          when: (payload) => payload.value !== null && typeof payload.value === 'object',
        },
      ),
    ),
  ),
);

/** Query of `transfers.list`: which Transfers to list. */
export interface TransferListQuery extends PageQuery {
  // The API reference does not name the filter by Account: docs/gaps.md, row 6.
  /** Lists only Transfers of this Account. */
  accountId?: string | undefined;
}
export const transferListQueryShape = () => ({
  ...pageQueryShape(),
  accountId: z.optional(accountIdSchema()),
});
export const transferListQuerySchema = lazy((): Schema<TransferListQuery> =>
  closedObject(transferListQueryShape()),
);
