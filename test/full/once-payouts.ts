import type { OnceInput } from '../../src/index.ts';

/** What a worker is started with. */
export interface WorkerOrder {
  /** A file, or the URL of a server. */
  readonly store: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly todo: readonly number[];
}

/** What a worker says of one payout, or of all. */
export type Told =
  | { readonly number: number; readonly id: string }
  | { readonly number: number; readonly reason: string }
  | 'done';

/** All the same amount, so that only the reference tells them apart, and none begins like another. */
export const payoutOf = (number: number): OnceInput => ({
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
  description: `payroll-2026-11-${String(number).padStart(4, '0')}`,
});
