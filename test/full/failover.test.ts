import { expect, test } from 'vitest';
import { failOver } from '../drivers/failover.ts';

test(
  'createAllOnce pays once although a standby takes over that lacks the latest entries',
  { timeout: 240_000 },
  async () => {
    // A claim expires soon, so that the test is quick.
    const options = { promotions: 1, payments: 60, totalTimeout: 1_200 } as const;
    // In seed 10 a process is killed. In seed 12 the standby lacks most.
    const [redis, postgres, control] = await Promise.all([
      failOver({ ...options, store: 'redis', seed: 10 }),
      failOver({ ...options, store: 'postgres', seed: 10 }),
      failOver({ ...options, store: 'redis', seed: 12, payments: 120, searchFirst: 'never' }),
    ]);
    for (const report of [redis, postgres, control]) console.log(JSON.stringify(report));
    for (const report of [redis, postgres]) {
      expect(report.wrong).toEqual([]);
      expect(report.lostListed).toBeGreaterThan(0);
    }
    // The ledger shows what a store pays twice that does not search first.
    expect(control.duplicatesBeyondA3).toBeGreaterThan(0);
  },
);
