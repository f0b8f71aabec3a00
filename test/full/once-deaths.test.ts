import { expect, test } from 'vitest';
import { missing } from '../stores/servers.ts';
import { killWorkers, stores } from '../drivers/once-deaths.ts';

test('PostgreSQL and Redis are installed for the test with killed workers', () => {
  expect(missing, `apt-get install ${missing.join(' ')}`).toEqual([]);
});

test.each(stores)('createOnce in %s pays 100 payouts once while workers die', async (store) => {
  const report = await killWorkers(store, { payouts: 100, killEvery: 500 });
  console.log(JSON.stringify(report));
  expect(report.wrong).toEqual([]);
  expect(report.kills).toBeGreaterThan(1);
  expect(report.freezes).toBeGreaterThan(0);
  expect(report.faults).toBeGreaterThan(5);
});
