import { expect, test } from 'vitest';
import { killPayroll } from '../drivers/batch-deaths.ts';
import { stores } from '../drivers/once-deaths.ts';

test('createAllOnce pays 100 salaries once although two kills interrupt it', async () => {
  const options = { payouts: 100, kills: 2 };
  const reports = await Promise.all(stores.map((store) => killPayroll(store, options)));
  for (const report of reports) {
    console.log(JSON.stringify(report));
    expect(report.wrong).toEqual([]);
    expect(report.ledger).toHaveLength(3);
  }
});
