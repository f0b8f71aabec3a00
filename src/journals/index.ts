/**
 * Stores in which `transfers.createOnce` records a payment before sending it.
 *
 * @module payments-platform-sdk/journals
 */
export type { FullJournal, Journal, JournalEntry, OpenPayment } from './journal.ts';
export { memoryJournal } from './memory.ts';
export { postgresJournal, postgresJournalTable, type PostgresQuery } from './postgres.ts';
export { redisJournal, type RedisCommand } from './redis.ts';
export { sqliteJournal } from './sqlite.ts';
export { testJournal } from './test-journal.ts';
