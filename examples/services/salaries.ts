// Somebody's own service, as salaries.test.ts tests it.
import {
  isPaymentsError,
  type AccountId,
  type PaymentsClient,
  type PaymentsError,
  type TransferCreateInput,
} from 'payments-platform-sdk';

export interface Salary {
  readonly account: AccountId;
  readonly amount: string;
}

/**
 * Pays the salaries of a month, one after the other, and says what became of each. Run it once for a
 * month: it keeps no record, and would pay again. payouts/ has one that may be run again at any time.
 */
export async function paySalaries(
  payments: PaymentsClient,
  sourceAccountId: AccountId,
  month: string,
  salaries: readonly Salary[],
): Promise<string[]> {
  const told: string[] = [];
  for (const { account, amount } of salaries) {
    // A reference that no other transfer has: `reconcile` goes by it.
    const description = `salary ${month} ${account}`;
    const input = { sourceAccountId, destinationAccountId: account, amount, description };
    const since = new Date();
    try {
      await payments.transfers.create(input);
      told.push('paid');
    } catch (error) {
      // One that is refused keeps nobody else waiting.
      if (isPaymentsError(error) && error.outcome !== 'unknown') told.push(whyNot(error));
      else told.push(await lookFor(payments, input, since));
    }
  }
  return told;
}

const whyNot = ({ name, outcome }: PaymentsError): string => `not paid: ${name}, ${outcome}`;

/** It may have been paid: look, and never send it again unseen. */
async function lookFor(
  payments: PaymentsClient,
  input: TransferCreateInput,
  since: Date,
): Promise<string> {
  try {
    const { result } = await payments.transfers.reconcile(input, { since });
    return result === 'found' ? 'paid, after all' : 'to be looked at by hand';
  } catch {
    return 'to be looked at by hand';
  }
}
