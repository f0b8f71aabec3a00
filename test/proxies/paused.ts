import type * as package_ from '../../src/index.ts';

/*
 * Makes payments at once and prints the outcome of each call as JSON: node paused.ts <package>
 * <baseUrl> <count> <timeout>
 */
const [, , from = '', baseUrl = '', count = '1', timeout = '1000'] = process.argv;
const { PaymentsClient, isPaymentsError } = (await import(from)) as typeof package_;
const payments = new PaymentsClient({
  baseUrl,
  apiKey: 'sk_test_paused',
  timeout: Number(timeout),
});
const ends = await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => {
    try {
      await payments.transfers.create({
        sourceAccountId: 'acc_1',
        counterpartyId: 'cpty_1',
        amount: '1.00',
        description: `succeed ${index}`,
      });
      return 'ok';
    } catch (error) {
      return isPaymentsError(error) ? error.outcome : 'thrown';
    }
  }),
);
console.log(JSON.stringify(ends));
process.exit();
