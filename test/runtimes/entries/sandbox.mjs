// A sandbox behind a port and a client that pays through it, in one program. Prints the results as one line.
import { PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';

async function main() {
  const sandbox = new Sandbox();
  const entity = sandbox.entities.create({ email: 'ada@example.com' });
  const [source, destination] = [0, 1].map(() => sandbox.accounts.create({ entityId: entity.id }));
  sandbox.accounts.fund(source.id, '10.00');
  const server = await listen(sandbox);
  const response = await fetch(`${server.rootUrl}/openapi.json`);
  const description = await response.text();
  const payments = new PaymentsClient({ ...server.clientOptions, journal: memoryJournal() });
  const { result } = await payments.transfers.createOnce({
    sourceAccountId: source.id,
    destinationAccountId: destination.id,
    amount: '1.00',
    description: 'bundled-1',
  });
  await server.close();
  const { length: operations } = description.match(/"operationId"/g) ?? [];
  const results = { status: response.status, operations, result };
  console.log(`RESULTS ${JSON.stringify(results)}`);
}

void main();
