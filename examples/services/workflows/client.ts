// The client of the recipes beside this file, with a journal in the database that their engine uses.
import { Pool } from 'pg';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { postgresJournal } from 'payments-platform-sdk/journals';

export const databaseUrl = process.env['DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1/postgres';
export const pool = new Pool({ connectionString: databaseUrl });

// Seconds, so that the demonstration ends; use the defaults in production.
const limits = { timeout: 1_000, totalTimeout: 2_000, gracePeriod: 4_000 };
/** The time in which a process ends after SIGTERM. A running payment may need its totalTimeout. */
export const drainMs = 2 * limits.totalTimeout;
const journal = postgresJournal((text, values) => pool.query(text, values));
export const payments = new PaymentsClient({ ...limits, journal });

const shutdown = new AbortController();
/** Aborted on SIGTERM: start no more payments, and let running ones end. */
export const stopping = shutdown.signal;
export const stopped = new Promise<void>((resolve) => {
  process.once('SIGTERM', () => {
    shutdown.abort();
    resolve();
  });
});

/** A payment with a key of its own, because the input may be invalid and without a readable reference. */
export interface Payout {
  readonly number: string;
  readonly input: OnceInput;
}
const createPayout = (number: string, sourceAccountId: string): Payout => ({
  number,
  input: {
    sourceAccountId,
    destinationAccountId: 'acc_000002',
    amount: '12.50',
    description: number,
  },
});
const [count = 300, invalid = 1] = process.argv.slice(2).map(Number);
/** The payouts of the demonstration. The first ones cannot be paid, and must not stop the others. */
export const payouts: readonly Payout[] = [
  // Whatever another program has written.
  ...Array.from({ length: invalid }, (_, at) => {
    return { number: `invalid-${at + 1}`, input: { amount: 5 } as unknown as OnceInput };
  }),
  // The account has no money, so the platform rejects it.
  createPayout('rejected-1', 'acc_000003'),
  ...Array.from({ length: count }, (_, at) =>
    createPayout(`payroll-2026-11-${String(at + 1).padStart(4, '0')}`, 'acc_000001'),
  ),
];
