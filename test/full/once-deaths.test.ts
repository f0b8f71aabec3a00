import { expect, test } from 'vitest';
import { missing } from '../stores/servers.ts';
import { killWorkers, stores } from '../drivers/once-deaths.ts';

test('PostgreSQL and Redis are installed for once-deaths', () => {
  expect(missing, `apt-get install ${missing.join(' ')}`).toEqual([]);
});

test.each(stores)(
  'killed and suspended workers pay each of 100 payouts once over %s',
  { timeout: 320_000 },
  async (store) => {
    const report = await killWorkers(store, { payouts: 100, killEvery: 500 });
    console.log(JSON.stringify(report));
    expect(report.wrong).toEqual([]);
    expect(report.kills).toBeGreaterThan(1);
    expect(report.freezes).toBeGreaterThan(0);
    expect(report.faults).toBeGreaterThan(5);
  },
);
