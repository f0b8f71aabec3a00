import { plans, type Situation } from '../../src/once/decision.ts';

const meanings: Record<Situation, string> = {
  free: 'no call has claimed it',
  perhaps_claimed: 'the same, and the store searches first',
  claimed: 'another call may be sending it',
  in_grace_period: 'the request of another call may still take effect',
  expired: 'no request can take effect any more',
  shared: 'the platform has one transfer for it and another payment',
  rejected: 'this call’s request was rejected or not sent',
  takeover_rejected: 'the same after a takeover',
  unknown: 'the outcome of this call’s request is unknown',
};

const searches = {
  none: '',
  once: '1 scan',
  confirmed: '2 scans that agree, 1 of a list of one page',
  twice: '2 scans that agree',
};

const ends = {
  send: 'claim and send',
  in_progress: '`in_progress`',
  in_doubt: '`in_doubt`',
  ask_again: '`ambiguous`',
  fail: 'that error',
};

/** The decision of a payment as a table. */
export function decisionTable(): string {
  const situations = Object.keys(plans) as Situation[];
  const rows = [
    ['the payment', 'search of the list', 'if it shows nothing'],
    ...situations.map((situation) => {
      const { search, next } = plans[situation];
      return [meanings[situation], searches[search], ends[next]];
    }),
  ];
  const widths = [0, 1, 2].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map(
    (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |\n`,
  );
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |\n`);
  return lines.join('').trimEnd();
}
