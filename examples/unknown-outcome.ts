// The answer to a payment is lost. It is looked for, and sent again only when it is not there.
import { isPaymentsError, PaymentsClient, type TransferCreateInput } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const sandbox = new Sandbox();
const payments = new PaymentsClient(sandbox.clientOptions);
const entity = sandbox.entities.create({ email: 'ada@example.com' });
const source = sandbox.accounts.create({ entityId: entity.id });
const destination = sandbox.accounts.create({ entityId: entity.id });
sandbox.accounts.fund(source.id, '100.00');

/** Pays once, or says that a person has to look. */
async function pay(input: TransferCreateInput): Promise<string> {
  const since = new Date();
  try {
    const { id } = await payments.transfers.create(input);
    return `${id} was accepted`;
  } catch (error) {
    // Refused or never sent, for certain: no money moved.
    if (isPaymentsError(error) && error.outcome !== 'unknown') throw error;
    const response = await payments.transfers.reconcile(input, { since });
    switch (response.result) {
      case 'found':
        return `${response.transfer.id} had been accepted, although its answer was lost`;
      case 'ambiguous':
        return `${response.candidates.length} transfers match: a person has to look`;
      case 'not_found':
        // The first request may still be on its way: ask again later, and only then send again.
        return `not among ${response.scanned} transfers: look again before you send again`;
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
