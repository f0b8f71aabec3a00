// A test of a service with msw: the client is configured as in production, and the sandbox replaces
// the network.
import { setupServer } from 'msw/node';
import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { handlers } from 'payments-platform-sdk/sandbox/msw';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paySalaries } from './salaries.ts';

const baseUrl = 'https://api.example.com/v0';
const sandbox = new Sandbox();
const server = setupServer(...handlers(sandbox, { baseUrl }));

beforeAll(() => {
  server.listen({ onUnhandledFrame: 'error' });
});
afterAll(() => {
  server.close();
});

test('pays every salary once when a response is lost and another payment is rejected', async () => {
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const [company, ada, grace, alan] = [0, 1, 2, 3].map(
    () => sandbox.accounts.create({ entityId }).id,
  );
  if (company === undefined || ada === undefined || grace === undefined || alan === undefined)
    throw new Error('accounts');
  sandbox.accounts.fund(company, '100.00');
  sandbox.faults.add({
    operation: 'transfers.create',
    after: 2,
    fault: { kind: 'reset', when: 'after_commit' },
  });
  const payments = new PaymentsClient({ baseUrl, apiKey: sandbox.apiKey });

  const results = await paySalaries(payments, company, '2026-11', [
    { account: ada, amount: '30.00' },
    { account: alan, amount: '3000.00' },
    { account: grace, amount: '20.00' },
  ]);

  expect(results).toEqual([
    'paid',
    'not paid: UnprocessableEntityError, rejected',
    'paid, found by search',
  ]);
  const { data } = await payments.transfers.list();
  expect(data.map(({ amount }) => amount).toSorted()).toEqual(['20.00', '30.00']);
});
