import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { transferStatuses } from '../../src/schemas/transfer.ts';
import { expect, test } from 'vitest';

test('seedDemo creates at least one record of each kind', () => {
  const { faults: _, closedIbans: _deleted, ...records } = seedDemo(new Sandbox()).exportState();
  const lists = Object.entries(records).filter(([, rows]) => Array.isArray(rows));
  expect(lists.length).toBeGreaterThanOrEqual(7);
  expect(lists.filter(([, rows]) => (rows as unknown[]).length === 0)).toEqual([]);
});

test('seedDemo creates transfers of every status and of three types', () => {
  const sandbox = new Sandbox();
  seedDemo(sandbox);
  expect(sandbox.entities.list()).toMatchObject([
    { type: 'business', kycStatus: 'approved', tosStatus: 'approved' },
    { type: 'individual', kycStatus: 'under_review' },
  ]);
  expect(
    sandbox.transfers
      .list()
      .map(({ status }) => status)
      .toSorted(),
  ).toEqual(transferStatuses.toSorted());
  expect(new Set(sandbox.transfers.list().map(({ type }) => type))).toEqual(
    new Set(['book', 'wire', 'on_chain']),
  );
  expect(sandbox.counterparties.list().map(({ type }) => type)).toEqual(['bank_account', 'wallet']);
  expect(sandbox.ibans.list()).toHaveLength(1);
  expect(sandbox.instructions.list()).toMatchObject([
    { executionState: { executionCounter: 2 }, totalInstructedValue: '6500000' },
  ]);
  expect(sandbox.transactions.list()).toHaveLength(3);
  for (const { availableBalance } of sandbox.accounts.list()) {
    expect(Number(availableBalance)).toBeGreaterThan(0);
  }
});
