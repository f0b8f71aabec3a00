// A test of one's own service with msw: the client is set up as in production, and the sandbox
// answers in the place of the network.
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

test('a salary whose answer is lost is paid once, and one that is refused holds up nobody', async () => {
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

  const told = await paySalaries(payments, company, '2026-11', [
    { account: ada, amount: '30.00' },
    { account: alan, amount: '3000.00' },
    { account: grace, amount: '20.00' },
  ]);

  expect(told).toEqual(['paid', 'not paid: UnprocessableEntityError, rejected', 'paid, after all']);
  const { data } = await payments.transfers.list();
  expect(data.map(({ amount }) => amount).toSorted()).toEqual(['20.00', '30.00']);
});
