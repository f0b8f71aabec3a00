export type { Journal, JournalEntry, PaidEntry, SendingEntry } from './journal.ts';
export { memoryJournal } from './memory.ts';
export { postgresJournal, postgresJournalTable, type PostgresQuery } from './postgres.ts';
export { redisJournal, type RedisCommand } from './redis.ts';
export { sqliteJournal } from './sqlite.ts';
