import type { Transaction, TransactionListInput } from '../../schemas/transaction.ts';
import { hashToHex } from './hash.ts';
import type { InstructionRow, Platform } from './platform.ts';
import { validationError } from './validation.ts';

/** The maximum of records in a response, even if `take` is higher. The API reference names none. */
const maxRecords = 100;
/** The number of the first block on the simulated chain. Every transaction takes two blocks. */
const firstBlock = 20_000_000;

interface TransactionEffect {
  activation?: boolean;
  deactivation?: boolean;
  status?: string | undefined;
}

/**
 * Records a transaction of an Instruction, and returns a copy. The transaction starts and finishes
 * at once, in two blocks of the simulated chain that no other transaction uses.
 */
export function recordTransaction(
  platform: Platform,
  { instruction, address, chainId }: InstructionRow,
  { activation = false, deactivation = false, status = 'Success' }: TransactionEffect,
): Transaction {
  const seconds = Math.floor(platform.clock.now().getTime() / 1000);
  const { instructionId } = instruction;
  const number = platform.transactions.length + 1;
  const startedAtBlock = firstBlock + 2 * number;
  const transaction: Transaction = {
    createdAtUnix: seconds,
    updatedAtUnix: seconds,
    startedAtUnix: seconds,
    finishedAtUnix: seconds,
    startedAtBlock,
    finishedAtBlock: startedAtBlock + 1,
    transactionHash: `0x${hashToHex(`transaction ${number} ${instructionId}`, 64)}`,
    blockHash: `0x${hashToHex(`block ${startedAtBlock + 1}`, 64)}`,
    instructionId,
    chainId,
    address,
    activation,
    deactivation,
    transactionStatus: status,
  };
  platform.transactions.push(transaction);
  platform.changes.add('transaction.created', cloneTransaction, null, transaction);
  return cloneTransaction(transaction);
}

const cloneTransaction = (transaction: Transaction): Transaction => ({ ...transaction });

/**
 * Returns transaction records as GET /transactions does: those of one address, perhaps only of some
 * Instructions or of a time range, and from these `take` records after the first `skip`.
 */
export function listTransactions(platform: Platform, input: TransactionListInput): Transaction[] {
  const { sort = 'Ascending', skip = 0, take = platform.pageSize } = input;
  if (sort !== 'Ascending' && sort !== 'Descending') {
    throw validationError(
      { sort: 'expected "Ascending" (or "Descending", which is an assumption of the sandbox)' },
      'The body of transactions.list is',
    );
  }
  const from = input.from === undefined ? -Infinity : new Date(input.from).getTime();
  const to = input.to === undefined ? Infinity : new Date(input.to).getTime();
  const ids = input.instructionIds && new Set(input.instructionIds.map(normalizeHex));
  const transactions = platform.transactions
    .filter(({ address, instructionId, createdAtUnix }) => {
      // The times of transaction records are whole seconds, so compare with the start of the
      // second. Then a query `from` the time of a record finds the record.
      const createdAtMs = Number(createdAtUnix) * 1000;
      return (
        normalizeHex(address) === normalizeHex(input.address) &&
        (ids === undefined || ids.has(normalizeHex(instructionId))) &&
        createdAtMs >= from &&
        createdAtMs <= to
      );
    })
    .map(cloneTransaction);
  if (sort === 'Descending') transactions.reverse();
  const start = Number(skip);
  return transactions.slice(start, start + Math.min(Number(take), maxRecords));
}

/** Returns hexadecimal digits in lower case, so that two spellings of an address are equal. */
export const normalizeHex = (hex: string): string => hex.toLowerCase();

/** The transaction records of Instructions in a sandbox. `sandbox.instructions` creates them. */
export class SandboxTransactions {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Returns the transaction records of every address, oldest first. */
  list(): Transaction[] {
    return this.#platform.transactions.map(cloneTransaction);
  }
}
