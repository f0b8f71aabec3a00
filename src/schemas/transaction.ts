import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import {
  address,
  anyString,
  closedObject,
  integerFrom,
  nonEmptyString,
  hexId,
  integer,
  createGuard,
  moment,
  type Hex,
  type Integer,
  type OpenEnum,
  type Schema,
} from './primitives.ts';

const transactionStatuses = ['Success'] as const;
/** The one documented transaction status; others exist. @useDeclaredType */
export type KnownTransactionStatus = (typeof transactionStatuses)[number];
// The API reference does not name further values: docs/gaps.md, row 32.
/** `Success`, or one that the API reference does not name. */
export type TransactionStatus = OpenEnum<KnownTransactionStatus>;
/** Whether the transaction status is documented. */
export const isKnownTransactionStatus: (value: unknown) => value is KnownTransactionStatus =
  createGuard(transactionStatuses);

/** One on-chain transaction of an Instruction. */
export interface Transaction {
  /** Unix seconds. */
  readonly createdAtUnix: Integer;
  /** Unix seconds. */
  readonly updatedAtUnix: Integer;
  /** Unix seconds. */
  readonly startedAtUnix: Integer;
  /** Unix seconds. */
  readonly finishedAtUnix: Integer;
  /** Block number. */
  readonly startedAtBlock: Integer;
  /** Block number. */
  readonly finishedAtBlock: Integer;
  /** Identifies the transaction on its chain. */
  readonly transactionHash: Hex;
  /** The block that contains the transaction. */
  readonly blockHash: Hex;
  /** The Instruction that the transaction belongs to. */
  readonly instructionId: Hex;
  /** The chain's number. */
  readonly chainId: Integer;
  /** The address that the Instruction belongs to. */
  readonly address: Hex;
  /** Whether the transaction activated the Instruction. */
  readonly activation: boolean;
  /** Whether the transaction deactivated the Instruction. */
  readonly deactivation: boolean;
  /** `Success` is the one documented value. */
  readonly transactionStatus: TransactionStatus;
}

export const transactionShape = () => ({
  createdAtUnix: integer(),
  updatedAtUnix: integer(),
  startedAtUnix: integer(),
  finishedAtUnix: integer(),
  startedAtBlock: integer(),
  finishedAtBlock: integer(),
  transactionHash: anyString<Hex>(),
  blockHash: anyString<Hex>(),
  instructionId: anyString<Hex>(),
  chainId: integer(),
  address: anyString<Hex>(),
  activation: z.boolean(),
  deactivation: z.boolean(),
  transactionStatus: anyString<TransactionStatus>(),
});
export const transactionSchema = lazy((): Schema<Transaction> => z.looseObject(transactionShape()));
/** The list is a plain array, without the envelope of a page. */
export const transactionsSchema = lazy((): Schema<Transaction[]> => z.array(transactionSchema()));

const transactionSorts = ['Ascending'] as const;
/** The one documented sort order. @useDeclaredType */
export type KnownTransactionSort = (typeof transactionSorts)[number];
// Other orders are not shown: docs/gaps.md, row 19.
/** `Ascending` is documented; any other value is sent as given. */
export type TransactionSort = OpenEnum<KnownTransactionSort>;
/** Whether the sort order is documented. */
export const isKnownTransactionSort: (value: unknown) => value is KnownTransactionSort =
  createGuard(transactionSorts);

// The SDK assumes that only the address is required: docs/gaps.md, row 18.
/** Which transactions to list. */
export interface TransactionListInput {
  /** The address that the Instructions belong to. */
  address: Hex;
  /** Only transactions of these Instructions. */
  instructionIds?: readonly Hex[] | undefined;
  /** Only transactions from this moment on. A `Date` is sent as an ISO 8601 string. */
  from?: Date | string | undefined;
  /** Only transactions up to this moment. A `Date` is sent as an ISO 8601 string. */
  to?: Date | string | undefined; // May exclude the moment itself: docs/gaps.md, row 21
  /** `Ascending` is the one documented value. */
  sort?: TransactionSort | undefined;
  /** Number of records to skip. @default 0 */
  skip?: Integer | undefined;
  /** Records per page. Not sent by default; the platform's default is not documented. */
  take?: Integer | undefined; // Its maximum is not shown: docs/gaps.md, row 20
}
const expectedSkip = /* @__PURE__ */ expectation('a whole number, 0 or more');
const expectedTake = /* @__PURE__ */ expectation('a whole number above 0');
export const transactionListInputShape = () => ({
  address: address(),
  instructionIds: z.optional(z.array(hexId(), expectation('an array of instruction ids'))),
  from: z.optional(moment()),
  to: z.optional(moment()),
  sort: z.optional(nonEmptyString('a sort order, such as "Ascending"')),
  skip: z.optional(integerFrom(0, expectedSkip)),
  take: z.optional(integerFrom(1, expectedTake)),
});
export const transactionListInputSchema = lazy((): Schema<TransactionListInput> =>
  closedObject(transactionListInputShape()),
);
