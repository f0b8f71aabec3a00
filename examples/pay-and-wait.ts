// Sends money and waits until it has arrived. Against a sandbox in memory; with your own platform,
// leave out every line with `sandbox`.
import { PaymentsClient, WaitError } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const sandbox = new Sandbox();
const payments = new PaymentsClient(sandbox.clientOptions);
const entity = sandbox.entities.create({ email: 'ada@example.com' });
const source = sandbox.accounts.create({ entityId: entity.id });
const destination = sandbox.accounts.create({ entityId: entity.id });
sandbox.accounts.fund(source.id, '100.00');

const terms = { sourceAccountId: source.id, destinationAccountId: destination.id };

const arriving = await payments.transfers.create({ ...terms, amount: '25.00' });
const completed = await payments.transfers.waitFor(arriving.id, {
  timeout: 60_000,
  interval: 20,
  onPoll({ status }) {
    console.log('it is', status);
    // A real platform completes the transfer by itself.
    if (status !== 'completed') sandbox.transfers.advance(arriving.id);
  },
});
console.log('arrived:', completed.amount, completed.currency);

const bouncing = await payments.transfers.create({ ...terms, amount: '30.00' });
sandbox.transfers.fail(bouncing.id);
try {
  await payments.transfers.waitFor(bouncing.id);
} catch (error) {
  // Only `failed` means that the payee does not have the money; the other reasons leave it open.
  if (!(error instanceof WaitError) || error.reason !== 'failed') throw error;
  console.log('did not arrive:', error.message);
}
