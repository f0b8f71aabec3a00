import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { PaymentInDoubtError, PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { postgresJournal, redisJournal, type Journal } from 'payments-platform-sdk/journals';

/* A worker of failover.ts, which makes a payroll by createAllOnce on a machine with a wrong clock. */

export interface FailoverOrder {
  readonly store: string;
  readonly searchFirst: 'always' | 'never';
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly timeout: number;
  readonly retryTimeout: number;
  /** By how many milliseconds the clock of this worker is ahead. */
  readonly ahead: number;
  readonly inputs: readonly OnceInput[];
}

/** A result of the batch, a call whose outcome was unknown, or the end of the batch. */
export type FailoverReport =
  | {
      readonly kind: 'row';
      readonly reference: string;
      readonly result: string;
      readonly transferId: string | undefined;
      readonly reason: string | undefined;
    }
  | { readonly kind: 'doubt'; readonly reference: string }
  | { readonly kind: 'ended'; readonly error: string | undefined };

const sendReport = (report: FailoverReport): void => {
  process.send?.(report);
};

/** Opens a journal whose connections may break, and are made again. */
function openJournal(store: string, searchFirst: FailoverOrder['searchFirst']): Journal {
  if (store.startsWith('redis:')) {
    const redis = new Redis(store, { retryStrategy: () => 100 });
    redis.on('error', () => undefined);
    return redisJournal((name, ...args) => redis.call(name, ...args), { searchFirst });
  }
  const pool = new Pool({ connectionString: store, max: 4, connectionTimeoutMillis: 1_000 });
  pool.on('error', () => undefined);
  return postgresJournal((text, values) => pool.query(text, values), { searchFirst });
}

async function work(order: FailoverOrder): Promise<void> {
  const { store, searchFirst, retryTimeout, ahead, inputs, ...options } = order;
  const { transfers } = new PaymentsClient({
    ...options,
    journal: openJournal(store, searchFirst),
    clock: {
      now: () => Date.now() + ahead,
      elapsed: () => performance.now(),
      setTimeout: (callback, ms) => setTimeout(callback, ms),
      clearTimeout: (timer) => {
        clearTimeout(timer as NodeJS.Timeout);
      },
    },
    hooks: {
      onCall: ({ operation, reference, outcome }) => {
        const isDoubt = operation === 'transfers.createOnce' && outcome === 'unknown';
        if (isDoubt && reference !== undefined) sendReport({ kind: 'doubt', reference });
      },
    },
  });
  const batch = transfers.createAllOnce(inputs, { concurrency: 8, retryTimeout });
  for await (const { input, result, transferId, error } of batch) {
    const { description: reference } = input;
    const reason = error instanceof PaymentInDoubtError ? error.reason : undefined;
    sendReport({ kind: 'row', reference, result, transferId, reason });
  }
}

process.on('message', (order: FailoverOrder) => {
  work(order).then(
    () => sendReport({ kind: 'ended', error: undefined }),
    (error: unknown) => sendReport({ kind: 'ended', error: String(error) }),
  );
});
// Ends this worker when the process that started it is interrupted.
process.on('disconnect', () => process.exit());
