// One worker process of the queue; start as many as you like, on as many machines.
import { DelayedError, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { isPaymentsError, PaymentsClient } from 'payments-platform-sdk';
import { RedisJournal } from './journal.ts';
import { pay, type Payout } from './pay.ts';

const redisUrl = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
/** Seconds here, so that the demonstration ends; minutes in earnest. */
const limits = { sending: 2_000, settled: 6_000 };

const payments = new PaymentsClient({ timeout: 1_000 });
const journal = new RedisJournal(new Redis(redisUrl));

const worker = new Worker<Payout, string>(
  'payouts',
  async (job, token) => {
    const verdict = await pay(payments, journal, job.data, limits).catch((error: unknown) => {
      // Trying again later helps against a 429, not against a wrong account.
      if (isPaymentsError(error) && !error.retryable) throw new UnrecoverableError(error.message);
      throw error;
    });
    switch (verdict.state) {
      case 'paid':
        return verdict.how;
      case 'unclear':
        throw new UnrecoverableError(`${job.data.reference}: ${verdict.why}`);
      case 'wait':
        // Not a failure, so it uses up no attempt.
        await job.moveToDelayed(Date.now() + verdict.ms, token);
        throw new DelayedError();
    }
  },
  {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    concurrency: 5,
    // A worker that does not renew its locks for so long has lost its jobs to the others, and may
    // not know it: killed, or only slow. The journal is what keeps the two apart, not the lock.
    lockDuration: 2_000,
    stalledInterval: 1_000,
    // However many workers die over a job, it is to be settled.
    maxStalledCount: 100,
  },
);
worker.on('error', (error) => {
  console.error(error.message);
});

process.once('SIGTERM', () => {
  // Lets the jobs in hand come to their end.
  void worker.close().then(() => process.exit());
});
