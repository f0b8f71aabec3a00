import { expect, test } from 'vitest';
import { killPayroll } from './batch-deaths.ts';
import { stores } from './once-deaths.ts';

test(
  'a payroll that is killed three times pays each of 150 salaries once, over each store',
  { timeout: 120_000 },
  async () => {
    const options = { payouts: 150, kills: 3 };
    const reports = await Promise.all(stores.map((store) => killPayroll(store, options)));
    for (const report of reports) {
      console.log(JSON.stringify(report));
      expect(report.wrong).toEqual([]);
      expect(report.ledger).toHaveLength(4);
    }
  },
);
