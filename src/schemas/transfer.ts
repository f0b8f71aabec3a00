import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { accountIdSchema, type AccountId } from './account.ts';
import { counterpartyIdSchema, type CounterpartyId } from './counterparty.ts';
import { idGuard, type IdFrom, type OneDestination } from './ids.ts';
import {
  anyString,
  closed,
  filledText,
  idOf,
  known,
  lazy,
  asSchema,
  pageQueryShape,
  positiveAmount,
  text,
  type OpenEnum,
  type PageQuery,
  type Schema,
} from './primitives.ts';

/** The id of a Transfer; `transferId(text)` makes one of a `string`. */
export type TransferId = `txfr_${string}`;
export const transferIdSchema = idOf<IdFrom<'transferId(text) or as const'>>('txfr_');
/** Tells whether a value is a well-formed Transfer id, and narrows it. */
export const isTransferId: (value: unknown) => value is TransferId = idGuard('txfr_');

const transferTypes = ['book', 'wire', 'on_chain'] as const;
/** The documented types of a Transfer. @useDeclaredType */
export type KnownTransferType = (typeof transferTypes)[number];
/** One of the documented types of a Transfer, or a new one that this version does not know. */
export type TransferType = OpenEnum<KnownTransferType>;
/** Tells whether a Transfer type is one that the document lists. */
export const isKnownTransferType: (value: unknown) => value is KnownTransferType =
  known(transferTypes);

export const transferStatuses = [
  'pending',
  'processing',
  'completed',
  'failed',
  'cancelled',
] as const;
/** The documented statuses of a Transfer. @useDeclaredType */
export type KnownTransferStatus = (typeof transferStatuses)[number];
/** One of the documented statuses of a Transfer, or a new one that this version does not know. */
export type TransferStatus = OpenEnum<KnownTransferStatus>;
/** Tells whether a Transfer status is one that the document lists; narrows it for a full `switch`. */
export const isKnownTransferStatus: (value: unknown) => value is KnownTransferStatus =
  known(transferStatuses);

const transferDirections = ['outgoing', 'incoming'] as const;
/** The documented directions of a Transfer. @useDeclaredType */
export type KnownTransferDirection = (typeof transferDirections)[number];
/** One of the documented directions of a Transfer, or a new one that this version does not know. */
export type TransferDirection = OpenEnum<KnownTransferDirection>;
/** Tells whether a Transfer direction is one that the document lists. */
export const isKnownTransferDirection: (value: unknown) => value is KnownTransferDirection =
  known(transferDirections);

/**
 * What the platform answers when a Transfer has been accepted: fewer fields than a
 * {@link Transfer}.
 */
export interface TransferCreated {
  /** Starts with `txfr_`. */
  id: TransferId;
  /** An accepted Transfer is `pending`. */
  status: TransferStatus;
  /** `book` between Accounts of the Platform; `wire` or `on_chain` to a Counterparty. */
  type: TransferType;
  /** ISO 8601 date-time, UTC. */
  createdAt: string;
}

/** A movement of funds from an Account to another Account or to a Counterparty. */
export interface Transfer extends TransferCreated {
  /** The Account that the money leaves. */
  sourceAccountId: AccountId;
  /** The Account that the money reaches; present for book transfers. */
  destinationAccountId?: AccountId | null | undefined;
  /** The Counterparty that the money reaches; present for transfers that leave the Platform. */
  counterpartyId?: CounterpartyId | null | undefined;
  /** A decimal string. */
  amount: string;
  /** `USDC` unless another was asked for. */
  currency: string;
  /** `outgoing` or `incoming`. */
  direction: TransferDirection; // Seen from whose side: docs/gaps.md, row 42
  /** The text that was given at creation. */
  description?: string | null | undefined;
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
 * Which fields are required, which currencies there are, and that the description comes back as it was:
 * docs/gaps.md, rows 5, 10 and 60. Written out twice, so that an editor shows all of it.
 */
/**
 * Money to send: from an Account to one destination, `destinationAccountId` or `counterpartyId`. Keep
 * one in a variable with `as const` or `satisfies TransferCreateInput`.
 */
export type TransferCreateInput =
  | {
      /** The Account that the money leaves. */
      sourceAccountId: IdFrom<'accountId(text) or as const'>;
      /** Exact decimal text above zero, such as `'12.50'`; a number cannot hold every decimal. */
      amount: string;
      /** Another Account of the Platform; then no `counterpartyId`. */
      destinationAccountId: OneDestination<'accountId(text) or as const'>;
      counterpartyId?: undefined;
      /** Default: not sent; the platform takes `USDC`. */
      currency?: string | undefined;
      /** Your own text: a unique reference, by which `reconcile` finds the Transfer. */
      description?: string | undefined;
    }
  | {
      /** The Account that the money leaves. */
      sourceAccountId: IdFrom<'accountId(text) or as const'>;
      /** Exact decimal text above zero, such as `'12.50'`; a number cannot hold every decimal. */
      amount: string;
      /** An external wallet or bank account; then no `destinationAccountId`. */
      counterpartyId: OneDestination<'counterpartyId(text) or as const'>;
      destinationAccountId?: undefined;
      /** Default: not sent; the platform takes `USDC`. */
      currency?: string | undefined;
      /** Your own text: a unique reference, by which `reconcile` finds the Transfer. */
      description?: string | undefined;
    };

/** A payment with its reference. */
export type OnceInput = TransferCreateInput & {
  /**
   * The reference: unique permanently, also without regard to case. 1 to 140 printable ASCII
   * characters with a letter or digit, no space at either end.
   */
  readonly description: string;
};

export const transferCreateInputShape = () => ({
  sourceAccountId: accountIdSchema(),
  amount: positiveAmount(),
  destinationAccountId:
    z.optional<Schema<OneDestination<'accountId(text) or as const'>>>(accountIdSchema()),
  counterpartyId:
    z.optional<Schema<OneDestination<'counterpartyId(text) or as const'>>>(counterpartyIdSchema()),
  currency: z.optional(filledText('a currency code, such as "USDC"')),
  description: z.optional(text()),
});
export const transferCreateInputSchema = lazy((): Schema<TransferCreateInput> =>
  asSchema(
    closed(transferCreateInputShape()).check(
      // What the platform does with both is not documented: docs/gaps.md, row 48.
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
  // The document says that there is a filter, and not its name: docs/gaps.md, row 6.
  /** Only Transfers of this Account. */
  accountId?: IdFrom<'accountId(text) or as const'> | undefined;
}
export const transferListQueryShape = () => ({
  ...pageQueryShape(),
  accountId: z.optional(accountIdSchema()),
});
export const transferListQuerySchema = lazy((): Schema<TransferListQuery> =>
  closed(transferListQueryShape()),
);
