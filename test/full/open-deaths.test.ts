import { expect, test } from 'vitest';
import { missing } from '../stores/servers.ts';
import { leaveOpen } from './open-deaths.ts';

test.skipIf(missing.length > 0)(
  'payments-journal list shows what killed workers have left, and each is finished once',
  { timeout: 120_000 },
  async () => {
    const report = await leaveOpen('redis', { payouts: 120, kills: 4 });
    console.log(JSON.stringify(report));
    expect(report.wrong).toEqual([]);
    expect(report.open).toBeGreaterThan(0);
  },
);
