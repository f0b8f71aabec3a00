// The outbox: an invoice and the intention to pay it are one transaction of your own database. Any
// number of processes pays what is due; two may take the same row, and createAllOnce pays it once.
import type { OnceInput } from 'payments-platform-sdk';
import { payments, payouts, pool } from './client.ts';

await pool.query(`CREATE TABLE IF NOT EXISTS invoices (number text PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS outbox (number text PRIMARY KEY REFERENCES invoices,
    input jsonb, due timestamptz DEFAULT now(), transfer_id text, error jsonb)`);
// One statement is one transaction; several are, too, as pg's documentation shows.
const insert = `WITH invoice AS (INSERT INTO invoices VALUES ($1) ON CONFLICT DO NOTHING)
  INSERT INTO outbox (number, input) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
for (const input of payouts) await pool.query(insert, [input.description, input]);

const select = 'SELECT input FROM outbox WHERE transfer_id IS NULL AND due <= now() LIMIT 100';
const update = 'UPDATE outbox SET transfer_id = $2, error = $3, due = $4 WHERE number = $1';
for (;;) {
  const { rows } = await pool.query<{ input: OnceInput }>(select);
  const inputs = rows.map(({ input }) => input);
  for await (const result of payments.transfers.createAllOnce(inputs, { retryTimeout: 1 })) {
    const { reference, transferId, error } = result;
    // What was rejected, or needs an operator, is not due again.
    const retryAt = Date.now() + (error?.retryAfterMs ?? 1_000);
    const due = error?.retryable === true ? new Date(retryAt) : 'infinity';
    await pool.query(update, [reference, transferId, error?.toJSON(), due]);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
}
