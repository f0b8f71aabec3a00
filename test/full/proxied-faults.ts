import { isPaymentsError, PaymentsClient } from '../../src/index.ts';
import { accountId } from './bodies.ts';
import { nonceHeader } from './server.ts';

/*
 * A process that reaches its platform through the proxy that its environment names, and says how
 * one creation ended. node proxied-faults.ts <timeout> <baseUrl> [<another>]: reads something from the other first,
 * so that the dispatcher has shown that it tells of the beginning of a request.
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
const ended: unknown = await clientAt(baseUrl)
  .transfers.create({ sourceAccountId: accountId, destinationAccountId: 'acc_2', amount: '1.00' })
  .catch((error: unknown) => error);
console.log(
  JSON.stringify(isPaymentsError(ended) ? ended : { outcome: 'ok', attempts: [], transfer: ended }),
);
// What goes on behind our backs afterwards shows at the proxy.
setTimeout(() => {
  process.exit(0);
}, 300);
