/**
 * Stores in which `transfers.createOnce` records a payment before sending it.
 *
 * @module payments-platform-sdk/journals
 */
export type {
  AmbiguousEntry,
  FullJournal,
  Journal,
  JournalEntry,
  JournalTransition,
  JournalSuchAs,
  NotPaidEntry,
  OpenEntry,
  OpenPayment,
  PaidEntry,
  PruneOptions,
  SendingEntry,
} from './journal.ts';
export { memoryJournal } from './memory.ts';
export {
  postgresJournal,
  postgresJournalTable,
  type PostgresQuery,
  type PostgresQuerySuchAs,
  type PostgresRows,
} from './postgres.ts';
export { redisJournal, type RedisCommand, type RedisCommandSuchAs } from './redis.ts';
export { sqliteJournal } from './sqlite.ts';
export { testJournal } from './test-journal.ts';
