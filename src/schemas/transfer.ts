import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { createIdGuard } from '../internal/formats.ts';
import { lazy } from '../internal/objects.ts';
import { accountIdSchema, type AccountId } from './account.ts';
import { counterpartyIdSchema, type CounterpartyId } from './counterparty.ts';
import type { ExactlyOneOf, IdFrom } from './ids.ts';
import {
  anyString,
  closedObject,
  nonEmptyString,
  idSchema,
  createGuard,
  asSchema,
  pageQueryShape,
  positiveAmount,
  stringInput,
  type DecimalString,
  type OpenEnum,
  type PageQuery,
  type Schema,
} from './primitives.ts';

/** The id of a Transfer. `transferId(text)` checks a `string` and returns an id. */
export type TransferId = `txfr_${string}`;
export const transferIdSchema = idSchema<IdFrom<'txfr_', 'transferId(text) or as const'>>('txfr_');
/** Whether a value is a well-formed Transfer id; narrows it. */
export const isTransferId: (value: unknown) => value is TransferId = createIdGuard('txfr_');

const transferTypes = ['book', 'wire', 'on_chain'] as const;
/** The documented types of a Transfer. @useDeclaredType */
export type KnownTransferType = (typeof transferTypes)[number];
/** One of the documented types of a Transfer, or a new one that this version does not know. */
export type TransferType = OpenEnum<KnownTransferType>;
/** Whether the Transfer type is documented. */
export const isKnownTransferType: (value: unknown) => value is KnownTransferType =
  createGuard(transferTypes);

export const transferStatuses = [
  'pending',
  'processing',
  'completed',
  'failed',
  'cancelled',
] as const;
/** The documented statuses of a Transfer. @useDeclaredType */
export type KnownTransferStatus = (typeof transferStatuses)[number];
/** What each status says about the money. All code that decides by a status reads this table. */
export const statusMeanings: Readonly<Record<KnownTransferStatus, 'open' | 'arrived' | 'failed'>> =
  {
    pending: 'open',
    processing: 'open',
    completed: 'arrived',
    failed: 'failed',
    cancelled: 'failed',
  };
/** One of the documented statuses of a Transfer, or a new one that this version does not know. */
export type TransferStatus = OpenEnum<KnownTransferStatus>;
/** Whether the Transfer status is documented; narrows it for a full `switch`. */
export const isKnownTransferStatus: (value: unknown) => value is KnownTransferStatus =
  createGuard(transferStatuses);

const transferDirections = ['outgoing', 'incoming'] as const;
/** The documented directions of a Transfer. @useDeclaredType */
export type KnownTransferDirection = (typeof transferDirections)[number];
/** One of the documented directions of a Transfer, or a new one that this version does not know. */
export type TransferDirection = OpenEnum<KnownTransferDirection>;
/** Whether the Transfer direction is documented. */
export const isKnownTransferDirection: (value: unknown) => value is KnownTransferDirection =
  createGuard(transferDirections);

/**
 * Response to the creation of a Transfer: fewer fields than a {@link Transfer}.
 */
export interface TransferCreated {
  /** Starts with `txfr_`. */
  readonly id: TransferId;
  /** An accepted Transfer is `pending`. */
  readonly status: TransferStatus;
  /** `book` between Accounts of the Platform; `wire` or `on_chain` to a Counterparty. */
  readonly type: TransferType;
  /** ISO 8601 date-time, UTC. */
  readonly createdAt: string;
}

/** A movement of funds from an Account to another Account or to a Counterparty. */
export interface Transfer extends TransferCreated {
  /** The Account that the money leaves. */
  readonly sourceAccountId: AccountId;
  /** The Account that the money reaches; present for book transfers. */
  readonly destinationAccountId?: AccountId | null | undefined;
  /** The Counterparty that the money reaches; present for transfers that leave the Platform. */
  readonly counterpartyId?: CounterpartyId | null | undefined;
  /** A decimal string. */
  readonly amount: string;
  /** `USDC` unless the creation named another currency. */
  readonly currency: string;
  /** `outgoing` or `incoming`. */
  readonly direction: TransferDirection; // Which side sees it: docs/gaps.md, row 42
  /** The description that was given at creation. */
  readonly description?: string | null | undefined;
}

export const transferCreatedShape = () => ({
  id: anyString<TransferId>(),
  status: anyString<TransferStatus>(),
  type: anyString<TransferType>(),
  createdAt: anyString(),
});
export const transferCreatedSchema = lazy((): Schema<TransferCreated> =>
  z.looseObject(transferCreatedShape()),
);

export const transferShape = () => ({
  ...transferCreatedShape(),
  sourceAccountId: anyString<AccountId>(),
  destinationAccountId: z.nullish(anyString<AccountId>()),
  counterpartyId: z.nullish(anyString<CounterpartyId>()),
  amount: anyString(),
  currency: anyString(),
  direction: anyString<TransferDirection>(),
  description: z.nullish(anyString()),
});
export const transferSchema = lazy((): Schema<Transfer> => z.looseObject(transferShape()));

/*
 * The SDK assumes which fields are required, which currencies exist, and that the description comes
 * back unchanged: docs/gaps.md, rows 5, 10 and 60. Both members list every field, because an editor
 * then shows all of them.
 */
/**
 * Money to send from an Account to one destination, `destinationAccountId` or `counterpartyId`. If
 * you keep an input in a variable, add `as const` or `satisfies TransferCreateInput`.
 */
export type TransferCreateInput =
  | {
      /** The Account that the money leaves. */
      sourceAccountId: IdFrom<'acc_', 'accountId(text) or as const'>;
      /** The Account of this Platform to pay. Leave out `counterpartyId` then. */
      destinationAccountId: AccountId;
      /** The wallet or bank account to pay. Leave out if you pass `destinationAccountId`. */
      counterpartyId?:
        | ExactlyOneOf<
            'destinationAccountId or counterpartyId',
            'cpty_',
            'counterpartyId(text) or as const'
          >
        | undefined;
      /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
      amount: DecimalString<'12.50'>;
      /** A currency code. Not sent by default; the platform then uses `USDC`. */
      currency?: string | undefined;
      /** Your own unique reference, by which `reconcile` finds the Transfer. */
      description?: string | undefined;
    }
  | {
      /** The Account that the money leaves. */
      sourceAccountId: IdFrom<'acc_', 'accountId(text) or as const'>;
      /** The Account of this Platform to pay. Leave out if you pass `counterpartyId`. */
      destinationAccountId?:
        | ExactlyOneOf<
            'destinationAccountId or counterpartyId',
            'acc_',
            'accountId(text) or as const'
          >
        | undefined;
      /** The external wallet or bank account to pay. Leave out `destinationAccountId` then. */
      counterpartyId: CounterpartyId;
      /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
      amount: DecimalString<'12.50'>;
      /** A currency code. Not sent by default; the platform then uses `USDC`. */
      currency?: string | undefined;
      /** Your own unique reference, by which `reconcile` finds the Transfer. */
      description?: string | undefined;
    };

/** A payment to make once, with its reference as `description`. */
export type OnceInput = TransferCreateInput & {
  /**
   * The payment's reference. Never use the same reference for another payment; upper and lower case
   * do not count. 1 to 140 printable ASCII characters with a letter or digit, no space at either
   * end.
   */
  readonly description: string;
};

/**
 * The terms of a payment without its reference, for a function that adds the reference:
 * `{ ...terms, description }`. A union, which `Omit<OnceInput, 'description'>` would lose.
 */
export type OnceTerms = TransferCreateInput extends infer Terms
  ? Terms extends unknown
    ? Omit<Terms, 'description'>
    : never
  : never;

export const transferCreateInputShape = () => ({
  sourceAccountId: accountIdSchema(),
  amount: positiveAmount(),
  destinationAccountId: z.optional<Schema<AccountId>>(accountIdSchema()),
  counterpartyId: z.optional<Schema<CounterpartyId>>(counterpartyIdSchema()),
  currency: z.optional(nonEmptyString('a currency code, such as "USDC"')),
  description: z.optional(stringInput()),
});
export const transferCreateInputSchema = lazy((): Schema<TransferCreateInput> =>
  asSchema(
    closedObject(transferCreateInputShape()).check(
      // It is not documented what the platform does with two destinations: docs/gaps.md, row 48.
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
          when: (payload) => payload.value !== null && typeof payload.value === 'object',
        },
      ),
    ),
  ),
);

/** Which Transfers to list. */
export interface TransferListQuery extends PageQuery {
  // The API reference mentions a filter, but not its name: docs/gaps.md, row 6.
  /** Only Transfers of this Account. */
  accountId?: IdFrom<'acc_', 'accountId(text) or as const'> | undefined;
}
export const transferListQueryShape = () => ({
  ...pageQueryShape(),
  accountId: z.optional(accountIdSchema()),
});
export const transferListQuerySchema = lazy((): Schema<TransferListQuery> =>
  closedObject(transferListQueryShape()),
);
