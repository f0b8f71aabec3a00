// interception.ts runs this script with a proxy in its environment. It prints how each of its calls
// ended. Its arguments are the package and the two addresses to call.
import type { Sdk } from '../transports/client-transports.ts';

const [sdkUrl = '', plain = '', secure = ''] = process.argv.slice(2);
const { PaymentsClient, PaymentsError } = (await import(sdkUrl)) as Sdk;

const createClient = (baseUrl: string) =>
  new PaymentsClient({
    baseUrl,
    apiKey: 'sk_proxied',
    jwt: 'a.b.c',
    maxRetries: 0,
    timeout: 5_000,
  });
const payments = createClient(plain);
const address = '0x52908400098527886e0f7030069857d2e4169ee7';
const endings: Record<string, string> = {};
const recordEnding = async (name: string, call: Promise<unknown>): Promise<void> => {
  endings[name] = await call.then(
    () => 'ok',
    (error: unknown) => (error instanceof PaymentsError ? error.name : String(error)),
  );
};

await recordEnding('GET', payments.transfers.get('txfr_0'));
await recordEnding(
  'POST',
  payments.transfers.create({
    sourceAccountId: 'acc_1',
    destinationAccountId: 'acc_2',
    amount: '1.00',
  }),
);
await recordEnding('GET with a body', payments.instructions.list({ address }));
await recordEnding('https', createClient(secure).transfers.get('txfr_0'));
process.stdout.write(`${JSON.stringify(endings)}\n`);
