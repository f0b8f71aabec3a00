import { expect, test } from 'vitest';
import { failOver } from '../drivers/failover.ts';

test('createAllOnce pays once although a standby lacks the latest entries', async () => {
  // Claims expire soon, so that the test is quick. In seed 5 a process is killed.
  const options = { promotions: 1, payments: 60, totalTimeout: 1_200, seed: 5 } as const;
  const [redis, postgres, control] = await Promise.all([
    failOver({ ...options, store: 'redis' }),
    failOver({ ...options, store: 'postgres' }),
    failOver({ ...options, store: 'redis', searchFirst: 'never' }),
  ]);
  for (const report of [redis, postgres, control]) console.log(JSON.stringify(report));
  for (const report of [redis, postgres]) {
    expect(report.wrong).toEqual([]);
    expect(report.lostListed).toBeGreaterThan(0);
  }
  // The ledger shows what a store pays twice that does not search first.
  expect(control.duplicatesBeyondA3).toBeGreaterThan(0);
});
