// Somebody's own service, as salaries.test.ts tests it.
import { isOutcomeUnknown, type AccountId, type PaymentsClient } from 'payments-platform-sdk';

export interface Salary {
  readonly account: AccountId;
  readonly amount: string;
}

/** Pays every salary once, and says what became of each. */
export async function paySalaries(
  payments: PaymentsClient,
  sourceAccountId: AccountId,
  salaries: readonly Salary[],
): Promise<string[]> {
  const told: string[] = [];
  for (const { account, amount } of salaries) {
    const input = { sourceAccountId, destinationAccountId: account, amount, description: 'salary' };
    const since = new Date();
    try {
      await payments.transfers.create(input);
      told.push('paid');
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      // It may have been paid: look, and never send it again unseen.
      const { result } = await payments.transfers.reconcile(input, { since });
      told.push(result === 'found' ? 'paid, after all' : 'to be looked at by hand');
    }
  }
  return told;
}
