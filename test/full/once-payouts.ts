import { Redis } from 'ioredis';
import { Pool } from 'pg';
import type { OnceInput } from '../../src/index.ts';
import {
  postgresJournal,
  redisJournal,
  sqliteJournal,
  type Journal,
} from '../../src/journals/index.ts';

/** The journal at a file, or at the URL of a server. */
export function journalAt(store: string): Journal {
  if (store.startsWith('redis:')) {
    const redis = new Redis(store);
    return redisJournal((name, ...args) => redis.call(name, ...args));
  }
  if (!store.startsWith('postgres:')) return sqliteJournal(store);
  const pool = new Pool({ connectionString: store, max: 2 });
  return postgresJournal((text, values) => pool.query(text, values));
}

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

/** Payouts differ in the reference only, and no reference is a prefix of another. */
export const payoutOf = (number: number): OnceInput => ({
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
  description: `payroll-2026-11-${String(number).padStart(4, '0')}`,
});
