import { expect, test } from 'vitest';
import { leaveOpen } from '../drivers/open-deaths.ts';

test('payments-journal lists what killed workers left, and each is made once', async () => {
  const report = await leaveOpen('sqlite', { payouts: 200, kills: 4 });
  console.log(JSON.stringify(report));
  expect(report.wrong).toEqual([]);
  expect(report.open).toBeGreaterThan(0);
});
