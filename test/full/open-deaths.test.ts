import { expect, test } from 'vitest';
import { leaveOpen } from '../drivers/open-deaths.ts';

test(
  'payments-journal lists the open payments that killed workers have left, and each of those payments is then made once',
  { timeout: 120_000 },
  async () => {
    const report = await leaveOpen('sqlite', { payouts: 200, kills: 4 });
    console.log(JSON.stringify(report));
    expect(report.wrong).toEqual([]);
    expect(report.open).toBeGreaterThan(0);
  },
);
