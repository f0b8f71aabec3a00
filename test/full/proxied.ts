// What a process does whose environment names a proxy, for ./interception.ts: it prints how each of
// its calls ended. The arguments are the package and the two addresses to call.
import type { Sdk } from '../transports/client-transports.ts';

const [sdkUrl = '', plain = '', secure = ''] = process.argv.slice(2);
const { PaymentsClient, PaymentsError } = (await import(sdkUrl)) as Sdk;

const clientOf = (baseUrl: string) =>
  new PaymentsClient({
    baseUrl,
    apiKey: 'sk_proxied',
    jwt: 'a.b.c',
    maxRetries: 0,
    timeout: 5_000,
  });
const payments = clientOf(plain);
const address = '0x52908400098527886e0f7030069857d2e4169ee7';
const told: Record<string, string> = {};
const tell = async (name: string, call: Promise<unknown>): Promise<void> => {
  told[name] = await call.then(
    () => 'ok',
    (error: unknown) => (error instanceof PaymentsError ? error.name : String(error)),
  );
};

await tell('GET', payments.transfers.get('txfr_0'));
await tell(
  'POST',
  payments.transfers.create({
    sourceAccountId: 'acc_1',
    destinationAccountId: 'acc_2',
    amount: '1.00',
  }),
);
await tell('GET with a body', payments.instructions.list({ address }));
const { fetch } = globalThis;
// The dispatcher is left alone once somebody has replaced fetch, and node:http takes over.
globalThis.fetch = (...given) => fetch(...given);
await tell('GET with a body over node:http', payments.instructions.list({ address }));
globalThis.fetch = fetch;
await tell('https', clientOf(secure).transfers.get('txfr_0'));
process.stdout.write(`${JSON.stringify(told)}\n`);
