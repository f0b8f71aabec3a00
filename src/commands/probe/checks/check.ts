import type { Evidence, NounListing } from '../evidence.ts';
import type { Listing } from '../lists.ts';
import type { Payment } from '../payment.ts';
import type { Verdict } from './verdict.ts';

interface CheckOf<Needs extends string, Seen> {
  /** The row of docs/gaps.md. */
  readonly row: number;
  readonly question: string;
  /** The requests that it may make. */
  readonly needs: Needs;
  readonly decide: (seen: Seen) => Verdict | Promise<Verdict>;
}

export type Check =
  | CheckOf<'reads', Evidence>
  /** Reads root endpoints with the JWT. */
  | CheckOf<'jwt', Evidence>
  /** Looks at the transfer of `--pay`. */
  | CheckOf<'pay', Payment>
  /** Looks at the further requests of `--pay-twice`. */
  | CheckOf<'pay_twice', Payment>;

/** A question that reading answers: what is requested, and what the answer means. */
export const reads = <Answer>(
  row: number,
  question: string,
  request: (seen: Evidence) => Promise<Answer>,
  read: (answer: Answer, seen: Evidence) => Verdict | Promise<Verdict>,
  needs: 'reads' | 'jwt' = 'reads',
): Check => ({ row, question, needs, decide: async (seen) => read(await request(seen), seen) });

/** A question that the payment answers. */
export const pays = (
  row: number,
  question: string,
  decide: (payment: Payment) => Verdict,
  needs: 'pay' | 'pay_twice' = 'pay',
): Check => ({ row, question, needs, decide });

// The requests that several checks share. The first of them sends a request, and the others get its response.
export const lists = (seen: Evidence): Promise<readonly NounListing[]> => seen.lists();
export const transfers = (seen: Evidence): Promise<Listing> => seen.list('transfers');
