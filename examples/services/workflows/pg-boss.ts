// pg-boss: a job for each payout, any number of workers. A job may run twice; createOnce pays it once.
import { PgBoss } from 'pg-boss';
import { isPaymentsError, type OnceInput } from 'payments-platform-sdk';
import { databaseUrl, payments, payouts } from './client.ts';

const seconds = { superviseIntervalSeconds: 1, monitorIntervalSeconds: 1 };
const boss = new PgBoss({ connectionString: databaseUrl, ...seconds });
boss.on('error', console.error);
await boss.start();
// A job of a dead worker expires, and runs again.
await boss.createQueue('payouts', { expireInSeconds: 5, retryLimit: 100, retryDelay: 1 });
for (const data of payouts) {
  // One job for each reference, however often this program starts.
  await boss.send('payouts', data, { singletonKey: data.description, singletonSeconds: 86_400 });
}
const polling = { localConcurrency: 5, pollingIntervalSeconds: 0.5 };
await boss.work<OnceInput>('payouts', polling, async ([job]) => {
  if (job === undefined) return undefined;
  try {
    return { id: (await payments.transfers.createOnce(job.data)).id };
  } catch (error) {
    if (!isPaymentsError(error) || !error.retryable) throw error;
    // In doubt is no failure: another job makes the same payment, when another call is worth it.
    const startAfter = Math.ceil((error.retryAfterMs ?? 1_000) / 1_000);
    await boss.send('payouts', job.data, { startAfter });
    return { error: error.toJSON() };
  }
});
