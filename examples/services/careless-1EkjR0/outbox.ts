// The outbox: an invoice and the intention to pay it are one transaction of your own database. Any
// number of processes pays what is due; createAllOnce pays a row once, also if two take it.
import { setTimeout as sleep } from 'node:timers/promises';
import { payments, payouts, pool, stopping, type Payout } from './client.ts';

await pool.query(`CREATE TABLE IF NOT EXISTS invoices (number text PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS outbox (number text PRIMARY KEY REFERENCES invoices,
    input jsonb NOT NULL, due timestamptz DEFAULT now(), transfer_id text, error json)`);
// One statement is one transaction; several are, too, as pg's documentation shows.
const insert = `WITH invoice AS (INSERT INTO invoices VALUES ($1) ON CONFLICT DO NOTHING)
  INSERT INTO outbox (number, input) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
for (const { number, input } of payouts) await pool.query(insert, [number, input]);

// Rows are due again after 10 s, which is longer than a batch takes, in case that this process dies.
const take = `UPDATE outbox SET due = now() + interval '10 s' WHERE number IN (SELECT number FROM outbox
  WHERE due <= now() ORDER BY due LIMIT 20 FOR UPDATE SKIP LOCKED) RETURNING number, input`;
const update = 'UPDATE outbox SET transfer_id = $2, error = $3, due = $4 WHERE number = $1';
while (!stopping.aborted) {
  const { rows } = await pool.query<Payout>(take);
  const inputs = rows.map(({ number, input }) => ({ ...input, description: number }));
  for await (const result of payments.transfers.createAllOnce(inputs, { retryTimeout: 1 })) {
    const { input, transferId, error } = result;
    // What is paid or rejected, or needs an operator (`error`), is not due again.
    const retryAt = Date.now() + (error?.retryAfterMs ?? 1_000);
    const due = error?.retryable === true ? new Date(retryAt) : 'infinity';
    await pool.query(update, [input.description, transferId, error?.toJSON(), due]);
  }
  await sleep(500, undefined, { signal: stopping }).catch(() => undefined);
}
await pool.end();
