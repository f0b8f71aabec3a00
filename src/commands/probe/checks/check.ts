import type { Evidence } from '../evidence.ts';
import type { Payment } from '../payment.ts';
import type { Verdict } from './verdict.ts';

interface CheckOf<Needs extends string, Seen> {
  /** The row of docs/gaps.md that has the question of this check. */
  readonly row: number;
  readonly question: string;
  /** What the check needs: only requests that read, or a payment. */
  readonly needs: Needs;
  readonly decide: (seen: Seen) => Verdict | Promise<Verdict>;
}

export type Check =
  | CheckOf<'reads', Evidence>
  /** A check that looks at the transfer that `--pay` makes. */
  | CheckOf<'pay', Payment>
  /** A check that looks at the requests that `--pay-twice` adds. */
  | CheckOf<'pay_twice', Payment>;

/** Creates a check that only reads from the platform. */
export const reads = (
  row: number,
  question: string,
  decide: (seen: Evidence) => Promise<Verdict>,
): Check => ({ row, question, needs: 'reads', decide });

/** Creates a check whose verdict follows from the payment that the probe made. */
export const pays = (
  row: number,
  question: string,
  decide: (payment: Payment) => Verdict,
  needs: 'pay' | 'pay_twice' = 'pay',
): Check => ({ row, question, needs, decide });
