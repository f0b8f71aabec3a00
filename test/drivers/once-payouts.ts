import { Redis } from 'ioredis';
import { Pool } from 'pg';
import type { OnceInput } from 'payments-platform-sdk';
import {
  postgresJournal,
  redisJournal,
  sqliteJournal,
  type FullJournal,
  type Journal,
} from 'payments-platform-sdk/journals';

/** Opens a journal in a SQLite file, or on the server of a URL. */
export function openJournalAt(store: string): { journal: FullJournal; close: () => unknown } {
  if (store.startsWith('redis:')) {
    const redis = new Redis(store);
    const journal = redisJournal((name, ...args) => redis.call(name, ...args));
    return { journal, close: () => redis.disconnect() };
  }
  if (!store.startsWith('postgres:')) {
    const journal = sqliteJournal(store);
    return { journal, close: () => journal.close() };
  }
  const pool = new Pool({ connectionString: store, max: 2 });
  const journal = postgresJournal((text, values) => pool.query(text, values));
  return { journal, close: () => pool.end() };
}

/** Opens a journal that a process never closes because it is killed. */
export const journalAt = (store: string): Journal => openJournalAt(store).journal;

/** The job of a worker. */
export interface WorkerOrder {
  /** A file, or the URL of a server. */
  readonly store: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly todo: readonly number[];
}

/** The report of a worker about one payout, or about its end. */
export type WorkerReport =
  | { readonly number: number; readonly id: string }
  | { readonly number: number; readonly reason: string }
  | 'done';

/**
 * The payout with a number. Every hundredth payout has equal terms, so one of them in doubt makes
 * the others wait. No reference is a prefix of another.
 */
export const payoutOf = (number: number): OnceInput => ({
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: `${10 + (number % 100)}.50`,
  description: `payroll-2026-11-${String(number).padStart(4, '0')}`,
});
