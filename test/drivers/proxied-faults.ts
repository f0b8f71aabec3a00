import { isPaymentsError, PaymentsClient } from '../../src/index.ts';
import { accountId } from './bodies.ts';
import { nonceHeader } from './server.ts';

/*
 * Makes one creation through the proxy of its environment, and prints the outcome:
 * node proxied-faults.ts <timeout> <baseUrl> [<another baseUrl, to read from first>]
 */

const [, , timeout, baseUrl = '', warmUrl] = process.argv;
const clientAt = (url: string): PaymentsClient =>
  new PaymentsClient({
    baseUrl: url,
    apiKey: 'sk_proxied',
    maxRetries: 1,
    timeout: Number(timeout),
    totalTimeout: 8 * Number(timeout),
    validation: 'report',
    headers: { [nonceHeader]: 'proxied' },
  });
if (warmUrl !== undefined) await clientAt(warmUrl).accounts.get(accountId);
const result: unknown = await clientAt(baseUrl)
  .transfers.create({ sourceAccountId: accountId, destinationAccountId: 'acc_2', amount: '1.00' })
  .catch((error: unknown) => error);
console.log(
  JSON.stringify(
    isPaymentsError(result) ? result : { outcome: 'ok', attempts: [], transfer: result },
  ),
);
// Leaves time for a second request, which the proxy would record.
await new Promise((resolve) => setTimeout(resolve, 300));
