// One worker process of the queue; start as many as you like, on as many machines. The errors of `createOnce`
// say all that the queue has to know; whose the job is, is kept apart by the journal, not by the queue's lock.
import { DelayedError, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { isPaymentsError, PaymentsClient, PaymentInDoubtError } from 'payments-platform-sdk';
import type { OnceInput } from 'payments-platform-sdk';
import { redisJournal } from 'payments-platform-sdk/journals';

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const redis = new Redis(url);
// Seconds here, so that the demonstration ends; leave the times out in earnest.
const limits = { timeout: 1_000, totalTimeout: 2_000, gracePeriod: 4_000 };
const journal = redisJournal((name, ...args) => redis.call(name, ...args));
const payments = new PaymentsClient({ ...limits, journal });

const worker = new Worker<OnceInput, string>(
  'payouts',
  async (job, token) => {
    try {
      return (await payments.transfers.createOnce(job.data)).id;
    } catch (error) {
      if (error instanceof PaymentInDoubtError && error.retryAfterMs !== undefined) {
        // No failure, so it uses up no attempt.
        await job.moveToDelayed(Date.now() + error.retryAfterMs, token);
        throw new DelayedError();
      }
      // A wrong account stays wrong, and some things only a person can decide.
      if (isPaymentsError(error) && !error.retryable) throw new UnrecoverableError(error.message);
      throw error;
    }
  },
  {
    connection: { url, maxRetriesPerRequest: null },
    concurrency: 5,
    lockDuration: 2_000,
    stalledInterval: 1_000,
    // However many workers die over a job, it is to be settled.
    maxStalledCount: 100,
  },
);
worker.on('error', (error) => {
  console.error(error.message);
});
// Lets the jobs in hand come to their end.
process.once('SIGTERM', () => void worker.close().then(() => process.exit()));
