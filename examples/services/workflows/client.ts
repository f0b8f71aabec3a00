// The client of the recipes beside this file, with a journal in the database that their engine uses.
import { Pool } from 'pg';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { postgresJournal } from 'payments-platform-sdk/journals';

export const databaseUrl = process.env['DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1/postgres';
export const pool = new Pool({ connectionString: databaseUrl });

// Seconds, so that the demonstration ends; use the defaults in production.
const limits = { timeout: 1_000, totalTimeout: 2_000, gracePeriod: 4_000 };
const journal = postgresJournal((text, values) => pool.query(text, values));
export const payments = new PaymentsClient({ ...limits, journal });

/** The payouts of the demonstration. */
export const payouts: readonly OnceInput[] = Array.from(
  { length: Number(process.argv[2] ?? 300) },
  (_, at) => ({
    sourceAccountId: 'acc_000001',
    destinationAccountId: 'acc_000002',
    amount: '12.50',
    description: `payroll-2026-11-${String(at + 1).padStart(4, '0')}`,
  }),
);
