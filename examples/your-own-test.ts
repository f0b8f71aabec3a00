// A test of your own code, with the platform failing on purpose. `node:test` here; any runner will do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPaymentsError, PaymentsClient, type AccountId } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

/** The code under test: pays a salary, and puts what is not certain on a list for a person. */
async function paySalary(
  payments: PaymentsClient,
  [from, to]: readonly [AccountId, AccountId],
  unclear: string[],
): Promise<void> {
  const description = 'salary, November';
  const input = { sourceAccountId: from, destinationAccountId: to, amount: '50.00', description };
  try {
    await payments.transfers.create(input);
  } catch (error) {
    // Refused or never sent: no money moved, and the caller hears of it.
    if (isPaymentsError(error) && error.outcome !== 'unknown') throw error;
    unclear.push(description);
  }
}

function world() {
  const sandbox = new Sandbox();
  const entity = sandbox.entities.create({ email: 'ada@example.com' });
  const from = sandbox.accounts.create({ entityId: entity.id }).id;
  const to = sandbox.accounts.create({ entityId: entity.id }).id;
  sandbox.accounts.fund(from, '100.00');
  const payments = new PaymentsClient(sandbox.clientOptions);
  return { sandbox, payments, between: [from, to] as const };
}

void test('a lost answer is put on the list, and nothing is paid twice', async () => {
  const { sandbox, payments, between } = world();
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'status', status: 502, when: 'after_commit' },
  });
  const unclear: string[] = [];
  await paySalary(payments, between, unclear);
  assert.deepEqual(unclear, ['salary, November']);
  assert.equal(sandbox.transfers.list().length, 1);
});

void test('a 429 is nothing to worry about', async () => {
  const { sandbox, payments, between } = world();
  sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'status', status: 429 } });
  const unclear: string[] = [];
  await paySalary(payments, between, unclear);
  assert.deepEqual(unclear, []);
  assert.equal(sandbox.transfers.list().length, 1);
});
