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
/** The one documented status of an on-chain transaction. Others exist. @useDeclaredType */
export type KnownTransactionStatus = (typeof transactionStatuses)[number];
// The API reference names no transaction status but `Success`: docs/gaps.md, row 32.
/** Status of an on-chain transaction: `Success`, or one that the API reference does not name. */
export type TransactionStatus = OpenEnum<KnownTransactionStatus>;
/** Type guard: whether a value is the documented status of an on-chain transaction. */
export const isKnownTransactionStatus: (value: unknown) => value is KnownTransactionStatus =
  createGuard(transactionStatuses);

/** One on-chain transaction of an Instruction. */
export interface Transaction {
  /** When the transaction was created, in Unix seconds. */
  readonly createdAtUnix: Integer;
  /** When the transaction was last updated, in Unix seconds. */
  readonly updatedAtUnix: Integer;
  /** When the transaction started, in Unix seconds. */
  readonly startedAtUnix: Integer;
  /** When the transaction finished, in Unix seconds. */
  readonly finishedAtUnix: Integer;
  /** Number of the block in which the transaction started. */
  readonly startedAtBlock: Integer;
  /** Number of the block in which the transaction finished. */
  readonly finishedAtBlock: Integer;
  /** Hash that identifies the transaction on its chain. */
  readonly transactionHash: Hex;
  /** Hash of the block that contains the transaction. */
  readonly blockHash: Hex;
  /** Id of the Instruction that the transaction belongs to. */
  readonly instructionId: Hex;
  /** Number of the chain, such as 8453. */
  readonly chainId: Integer;
  /** The on-chain address to which the Instruction belongs. */
  readonly address: Hex;
  /** Whether the transaction activated the Instruction. */
  readonly activation: boolean;
  /** Whether the transaction deactivated the Instruction. */
  readonly deactivation: boolean;
  /** Status of the transaction. The API reference documents only `Success`. */
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
/** Schema of the list of transactions, a plain array without the envelope of a page. */
export const transactionsSchema = lazy((): Schema<Transaction[]> => z.array(transactionSchema()));

const transactionSorts = ['Ascending'] as const;
/** The one documented sort order of `transactions.list`. @useDeclaredType */
export type KnownTransactionSort = (typeof transactionSorts)[number];
// The API reference shows no sort order but `Ascending`: docs/gaps.md, row 19.
/** Order of a list of transactions. The SDK sends other values than `Ascending` as given. */
export type TransactionSort = OpenEnum<KnownTransactionSort>;
/** Type guard: whether a value is the documented sort order of `transactions.list`. */
export const isKnownTransactionSort: (value: unknown) => value is KnownTransactionSort =
  createGuard(transactionSorts);

// The SDK assumes that transactions.list requires only the address: docs/gaps.md, row 18.
/** Input of `transactions.list`: which on-chain transactions to list. */
export interface TransactionListInput {
  /** The on-chain address to which the Instructions belong. */
  address: Hex;
  /** Lists only transactions of these Instructions. */
  instructionIds?: readonly Hex[] | undefined;
  /** Lists only transactions from this moment on. The SDK sends a `Date` as an ISO 8601 string. */
  from?: Date | string | undefined;
  /** Lists only transactions up to this moment. The SDK sends a `Date` as an ISO 8601 string. */
  to?: Date | string | undefined; // The platform may exclude the moment itself: docs/gaps.md, row 21
  /** Sort order. The API reference documents only `Ascending`. */
  sort?: TransactionSort | undefined;
  /** How many transactions to skip. @default 0 */
  skip?: Integer | undefined;
  /** Transactions per page. If you leave it out, the platform uses an undocumented default. */
  take?: Integer | undefined; // The maximum of `take` is not shown: docs/gaps.md, row 20
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
