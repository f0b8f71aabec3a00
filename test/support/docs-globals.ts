// Preloaded for every block of documentation that is run: the names that a block may use without
// declaring them. A block's own declarations come first.
import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const sandbox = new Sandbox();
const payments = new PaymentsClient(sandbox.clientOptions);
const entity = sandbox.entities.approve(
  sandbox.entities.create({ email: 'ada@example.com', businessName: 'Analytical Engines' }).id,
);
const account = sandbox.accounts.create({ entityId: entity.id, name: 'Operating' });
const otherAccount = sandbox.accounts.create({ entityId: entity.id, name: 'Payroll' });
sandbox.accounts.fund(account.id, '1000.00');
const counterparty = sandbox.counterparties.create({
  entityId: entity.id,
  name: 'Supplier',
  type: 'wallet',
  walletAddress: '0x00000000000000000000000000000000000000aa',
  chain: 'base',
});
const input = {
  sourceAccountId: account.id,
  destinationAccountId: otherAccount.id,
  amount: '12.50',
  description: 'invoice 4711',
} as const;

const globals = { sandbox, payments, entity, account, otherAccount, counterparty, input };
Object.assign(globalThis, globals);

export type DocsGlobals = typeof globals;
