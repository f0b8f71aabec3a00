import type { Evidence, NounListing } from '../evidence.ts';
import type { Listing } from '../lists.ts';
import type { Payment } from '../payment.ts';
import type { Verdict } from './verdict.ts';

interface CheckOf<Needs extends string, Seen> {
  /** The row of docs/gaps.md that has the question of this check. */
  readonly row: number;
  readonly question: string;
  /** What the check needs: only requests that read, the JWT, or a payment. */
  readonly needs: Needs;
  readonly decide: (seen: Seen) => Verdict | Promise<Verdict>;
}

export type Check =
  | CheckOf<'reads', Evidence>
  /** A check that reads root endpoints with the JWT. */
  | CheckOf<'jwt', Evidence>
  /** A check that looks at the transfer that `--pay` makes. */
  | CheckOf<'pay', Payment>
  /** A check that looks at the requests that `--pay-twice` adds. */
  | CheckOf<'pay_twice', Payment>;

/** A check without a payment. `request` reads from the platform, and `read` decides the verdict. */
export const reads = <Answer>(
  row: number,
  question: string,
  request: (seen: Evidence) => Promise<Answer>,
  read: (answer: Answer, seen: Evidence) => Verdict | Promise<Verdict>,
  needs: 'reads' | 'jwt' = 'reads',
): Check => ({ row, question, needs, decide: async (seen) => read(await request(seen), seen) });

/** Creates a check whose verdict follows from the payment that the probe made. */
export const pays = (
  row: number,
  question: string,
  decide: (payment: Payment) => Verdict,
  needs: 'pay' | 'pay_twice' = 'pay',
): Check => ({ row, question, needs, decide });

// Checks share these lists: the first check reads a list, and later checks get the same pages.
export const lists = (seen: Evidence): Promise<readonly NounListing[]> => seen.lists();
export const transfers = (seen: Evidence): Promise<Listing> => seen.list('transfers');
