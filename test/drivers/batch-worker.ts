import { PaymentsClient } from 'payments-platform-sdk';
import { journalAt, payoutOf } from './once-payouts.ts';

/*
 * A worker of batch-deaths.ts, which makes a payroll by createAllOnce, or follows a payroll by
 * waitForAll, until it is killed.
 */

/** The job of a worker: to make or follow the payouts with the numbers from 1. */
export interface BatchOrder {
  readonly store: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly payouts: number;
  readonly follows: boolean;
}

/** A report of a worker about its start, one result, or its end. */
export type BatchReport =
  | { readonly kind: 'started' }
  | {
      readonly kind: 'result';
      readonly reference: string;
      readonly result: string;
      readonly transferId: string | undefined;
    }
  | { readonly kind: 'ended' };

const sendReport = (report: BatchReport): void => {
  process.send?.(report);
};

async function work(order: BatchOrder): Promise<void> {
  const { store, payouts, baseUrl, apiKey, gracePeriod, totalTimeout } = order;
  const journal = journalAt(store);
  const timeout = totalTimeout / 2;
  const options = { baseUrl, apiKey, gracePeriod, totalTimeout, timeout, journal };
  const { transfers } = new PaymentsClient(options);
  const inputs = Array.from({ length: payouts }, (_, at) => payoutOf(at + 1));
  sendReport({ kind: 'started' });
  if (order.follows) {
    for await (const row of transfers.waitForAll(inputs, { interval: 100 })) {
      const { reference, result, transfer } = row;
      sendReport({ kind: 'result', reference, result, transferId: transfer?.id });
    }
    sendReport({ kind: 'ended' });
    return;
  }
  for await (const { input, result, transferId } of transfers.createAllOnce(inputs)) {
    sendReport({ kind: 'result', reference: input.description, result, transferId });
  }
  sendReport({ kind: 'ended' });
}

process.on('message', (order: BatchOrder) => {
  void work(order);
});
// Ends this worker when the process that started it is interrupted.
process.on('disconnect', () => process.exit());
