// pg-boss: a job for each payout, any number of workers. A job may run twice; createOnce pays it once.
import { PgBoss } from 'pg-boss';
import { isPaymentsError } from 'payments-platform-sdk';
import { databaseUrl, drainMs, payments, payouts, pool, stopped, type Payout } from './client.ts';

const seconds = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 };
const boss = new PgBoss({ connectionString: databaseUrl, ...seconds });
boss.on('error', console.error);
await boss.start();
// A job of a dead worker expires, and runs again. A payment may be in doubt for longer than a few retries last.
const retries = { retryLimit: 1_000_000, retryBackoff: true, retryDelay: 1, retryDelayMax: 5 };
await boss.createQueue('payouts', { expireInSeconds: 5, ...retries });
await boss.createQueue('rejected');
for (const data of payouts) {
  // One job for each payout, however often this program starts.
  await boss.send('payouts', data, { singletonKey: data.number, singletonSeconds: 86_400 });
}
const polling = { localConcurrency: 5, pollingIntervalSeconds: 0.5 };
await boss.work<Payout>('payouts', polling, async ([job]) => {
  try {
    return job && { id: (await payments.transfers.createOnce(job.data.input)).id };
  } catch (error) {
    throw error;
    // For an operator. The job itself is done, because an error would send the payment again.
    return { id: await boss.send('rejected', { ...job?.data, error: error.toJSON() }) };
  }
});
await stopped;
await boss.stop({ timeout: drainMs });
await pool.end();
