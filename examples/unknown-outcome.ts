// The response to a payment is lost. The program searches for the payment before it is sent again.
import { paymentsErrorFrom, PaymentsClient, type TransferCreateInput } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const sandbox = new Sandbox();
const payments = new PaymentsClient(sandbox.clientOptions);
const entity = sandbox.entities.create({ email: 'ada@example.com' });
const source = sandbox.accounts.create({ entityId: entity.id });
const destination = sandbox.accounts.create({ entityId: entity.id });
sandbox.accounts.fund(source.id, '100.00');

/** Pays once, or reports that an operator has to decide. */
async function pay(input: TransferCreateInput): Promise<string> {
  const since = new Date();
  try {
    const { id } = await payments.transfers.create(input);
    return `${id} was accepted`;
  } catch (error) {
    // Certainly rejected or never sent: no money moved.
    const failure = paymentsErrorFrom(error);
    if (failure !== undefined && failure.outcome !== 'unknown') throw error;
    const search = await payments.transfers.reconcile(input, { since });
    switch (search.result) {
      case 'found':
        return `${search.transfer.id} had been accepted, although the response was lost`;
      case 'ambiguous':
        return `${search.candidates.length} transfers match: an operator has to decide`;
      case 'not_found':
        // The first request may still arrive: search again later, and only then send again.
        return `not among ${search.scanned} transfers: search again before you send again`;
    }
  }
}

const input = { sourceAccountId: source.id, destinationAccountId: destination.id, amount: '40.00' };

sandbox.faults.add({
  operation: 'transfers.create',
  fault: { kind: 'reset', when: 'after_commit' },
});
console.log(await pay({ ...input, description: 'invoice 4711' }));

sandbox.faults.add({
  operation: 'transfers.create',
  fault: { kind: 'reset', when: 'before_commit' },
});
console.log(await pay({ ...input, description: 'invoice 4712' }));

console.log('left in the account:', sandbox.accounts.get(source.id).availableBalance);
