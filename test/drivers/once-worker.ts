import { isPaymentsError, PaymentsClient, PaymentInDoubtError } from 'payments-platform-sdk';
import { journalAt, payoutOf, type WorkerReport, type WorkerOrder } from './once-payouts.ts';

/*
 * A worker of once-deaths.ts. Makes the payouts of its order at random until it is killed.
 */

const sendReport = (report: WorkerReport): void => {
  process.send?.(report);
};

async function work({ store, baseUrl, apiKey, gracePeriod, totalTimeout, todo }: WorkerOrder) {
  const payments = new PaymentsClient({
    baseUrl,
    apiKey,
    gracePeriod,
    totalTimeout,
    timeout: totalTimeout / 2,
    journal: journalAt(store),
  });
  const waiting = todo.map((number) => ({ number, from: 0, order: Math.random() }));
  waiting.sort((one, other) => one.order - other.order);
  const lane = async (): Promise<void> => {
    for (;;) {
      const at = waiting.findIndex(({ from: startsAt }) => startsAt <= Date.now());
      const [next] = at < 0 ? [] : waiting.splice(at, 1);
      if (next === undefined) {
        if (waiting.length === 0) return;
        await new Promise((done) => setTimeout(done, 20));
        continue;
      }
      const { number } = next;
      try {
        const { id } = await payments.transfers.createOnce(payoutOf(number));
        sendReport({ number, id });
      } catch (error) {
        if (!isPaymentsError(error)) throw error;
        const reason = error instanceof PaymentInDoubtError ? error.reason : error.outcome;
        sendReport({ number, reason });
        const ms = error instanceof PaymentInDoubtError ? (error.retryAfterMs ?? 200) : 50;
        waiting.push({ ...next, from: Date.now() + ms });
      }
    }
  };
  await Promise.all(Array.from({ length: 3 }, lane));
  sendReport('done');
}

process.on('message', (order: WorkerOrder) => {
  void work(order);
});
// Ends this worker when the process that started it is interrupted.
process.on('disconnect', () => process.exit());
