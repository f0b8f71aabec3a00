// One worker process of the queue; start any number, on any number of machines. The errors of `createOnce`
// tell the queue when to retry. The journal, not the queue's lock, prevents two workers from paying twice.
import { DelayedError, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { isPaymentsError, PaymentsClient } from 'payments-platform-sdk';
import type { OnceInput } from 'payments-platform-sdk';
import { redisJournal } from 'payments-platform-sdk/journals';

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const redis = new Redis(url);
// Seconds, so that the demonstration ends; use the defaults in production.
const limits = { timeout: 1_000, totalTimeout: 2_000, gracePeriod: 4_000 };
const journal = redisJournal((name, ...args) => redis.call(name, ...args));
const payments = new PaymentsClient({ ...limits, journal });

const worker = new Worker<OnceInput, string>(
  'payouts',
  async (job, token) => {
    try {
      // When the payment was first requested, the same at every attempt.
      const since = new Date(job.timestamp);
      return (await payments.transfers.createOnce(job.data, { since })).id;
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      // A retry does not help: the request is invalid or rejected, or an operator has to decide.
      if (!error.retryable) throw new UnrecoverableError(error.message);
      // This is no failure, so it uses no attempt.
      await job.moveToDelayed(Date.now() + (error.retryAfterMs ?? 1_000), token);
      throw new DelayedError();
    }
  },
  {
    connection: { url, maxRetriesPerRequest: null },
    concurrency: 5,
    lockDuration: 2_000,
    stalledInterval: 1_000,
    // A job is finished, however many workers die during it.
    maxStalledCount: 100,
  },
);
worker.on('error', (error) => {
  console.error(error.message);
});
// Lets running jobs finish.
process.once('SIGTERM', () => void worker.close().then(() => process.exit()));
