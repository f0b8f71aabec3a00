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
  moment,
  type Hex,
  type Integer,
  type Schema,
} from './primitives.ts';

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
  /** Status of the transaction. The API reference names `Success` only, but others exist. */
  readonly transactionStatus: string; // Which statuses exist: docs/gaps.md, row 32
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
  transactionStatus: anyString(),
});
export const transactionSchema = lazy((): Schema<Transaction> => z.looseObject(transactionShape()));
/** Schema of the list of transactions, a plain array without the envelope of a page. */
export const transactionsSchema = lazy((): Schema<Transaction[]> => z.array(transactionSchema()));

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
  /** Sort order. The API reference documents only `Ascending`; the SDK sends others as given. */
  sort?: string | undefined; // Which orders exist: docs/gaps.md, row 19
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
