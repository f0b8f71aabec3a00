// The service that salaries.test.ts tests.
import {
  paymentsErrorFrom,
  type PaymentsClient,
  type PaymentsError,
  type TransferCreateInput,
} from 'payments-platform-sdk';

export interface Salary {
  readonly account: string;
  readonly amount: string;
}

/**
 * Pays the salaries of a month, one after the other, and returns the result of each. Run it once per
 * month: it keeps no record, and would pay again. The program in payouts/ may be run again at any time.
 */
export async function paySalaries(
  payments: PaymentsClient,
  sourceAccountId: string,
  month: string,
  salaries: readonly Salary[],
): Promise<string[]> {
  const results: string[] = [];
  for (const { account, amount } of salaries) {
    // A reference that no other transfer has, so that `reconcile` finds the payment.
    const description = `salary ${month} ${account}`;
    const input = { sourceAccountId, destinationAccountId: account, amount, description };
    const since = new Date();
    try {
      await payments.transfers.create(input);
      results.push('paid');
    } catch (error) {
      // A rejected salary does not stop the others.
      const failure = paymentsErrorFrom(error);
      if (failure !== undefined && failure.outcome !== 'unknown')
        results.push(describeFailure(failure));
      else results.push(await searchFor(payments, input, since));
    }
  }
  return results;
}

const describeFailure = ({ name, outcome }: PaymentsError): string =>
  `not paid: ${name}, ${outcome}`;

/** Searches for a salary that may have been paid; it is never sent again without a search. */
async function searchFor(
  payments: PaymentsClient,
  input: TransferCreateInput,
  since: Date,
): Promise<string> {
  try {
    const { result } = await payments.transfers.reconcile(input, { since });
    return result === 'found' ? 'paid, found by search' : 'an operator has to check';
  } catch {
    return 'an operator has to check';
  }
}
