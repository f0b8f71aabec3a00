// A test of your own code with faults of the platform. It uses `node:test`; any test runner works.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentsErrorFrom, PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

/** The code under test: pays a salary, and puts an unknown payment on a list for an operator. */
async function paySalary(
  payments: PaymentsClient,
  [from, to]: readonly [string, string],
  uncertain: string[],
): Promise<void> {
  const description = 'salary, November';
  const input = { sourceAccountId: from, destinationAccountId: to, amount: '50.00', description };
  try {
    await payments.transfers.create(input);
  } catch (error) {
    // Rejected or never sent: no money moved, and the caller gets the error.
    const failure = paymentsErrorFrom(error);
    if (failure !== undefined && failure.outcome !== 'unknown') throw error;
    uncertain.push(description);
  }
}

function setup() {
  const sandbox = new Sandbox();
  const entity = sandbox.entities.create({ email: 'ada@example.com' });
  const from = sandbox.accounts.create({ entityId: entity.id }).id;
  const to = sandbox.accounts.create({ entityId: entity.id }).id;
  sandbox.accounts.fund(from, '100.00');
  const payments = new PaymentsClient(sandbox.clientOptions);
  return { sandbox, payments, accounts: [from, to] as const };
}

void test('puts a payment on the list when its response is lost', async () => {
  const { sandbox, payments, accounts } = setup();
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'status', status: 502, when: 'after_commit' },
  });
  const uncertain: string[] = [];
  await paySalary(payments, accounts, uncertain);
  assert.deepEqual(uncertain, ['salary, November']);
  assert.equal(sandbox.transfers.list().length, 1);
});

void test('pays once when the platform responds 429', async () => {
  const { sandbox, payments, accounts } = setup();
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 429 } });
  const uncertain: string[] = [];
  await paySalary(payments, accounts, uncertain);
  assert.deepEqual(uncertain, []);
  assert.equal(sandbox.transfers.list().length, 1);
});
