import type { Sandbox } from '../sandbox.ts';

const token = '0x00000000000000000000000000000000000000bb';
/** An Instruction that refuels a wallet, for the demo data and for the examples in openapi.json. */
export const refuelInstruction = {
  address: '0x00000000000000000000000000000000000000aa',
  chainId: 8453,
  salt: 1,
  maxExecutions: 10,
  actionArguments: {
    refuelERC20: {
      token,
      target: '0x00000000000000000000000000000000000000cc',
      threshold: 1_000_000,
      endBalance: 5_000_000,
      fee: { token, maxBaseFeePerGas: 100, maxPriorityFeePerGas: 2, executionFee: 50 },
    },
  },
} as const;

/**
 * Fills a sandbox with demo data: a verified business and an individual, funded
 * Accounts, Counterparties of both types, an IBAN, a Transfer in every status and an Instruction
 * that has run twice. Returns the sandbox.
 */
export function seedDemo(sandbox: Sandbox): Sandbox {
  const { entities, accounts, transfers, counterparties, ibans, instructions } = sandbox;

  const business = entities.create({
    email: 'accounts@harbour-coffee.example',
    businessName: 'Harbour Coffee Ltd',
  });
  entities.approve(business.id);
  const person = entities.create({ email: 'ada@example.com', fullName: 'Ada Marsh' });
  entities.update(person.id, { kycStatus: 'under_review', tosStatus: 'approved' });

  const operating = accounts.create({ entityId: business.id, name: 'Operating' });
  const payroll = accounts.create({
    entityId: business.id,
    name: 'Payroll',
    metadata: { costCentre: 'HR-1' },
  });
  const savings = accounts.create({ entityId: person.id, name: 'Savings' });
  accounts.fund(operating.id, '25000.00');
  accounts.fund(payroll.id, '4000.00');
  accounts.fund(savings.id, '120.50');

  const roaster = counterparties.create({
    entityId: business.id,
    name: 'Green Bean Imports',
    type: 'bank_account',
    bankName: 'First Example Bank',
    accountNumber: '000123456789',
    routingNumber: '110000000',
  });
  const treasury = counterparties.create({
    entityId: business.id,
    name: 'Treasury wallet',
    type: 'wallet',
    walletAddress: '0x00000000000000000000000000000000000000aa',
    chain: 'base',
  });
  ibans.create({ accountId: operating.id });

  const pay = (
    destination: { counterpartyId: string } | { destinationAccountId: string },
    amount: string,
    description?: string,
  ) => transfers.create({ sourceAccountId: operating.id, ...destination, amount, description }).id;
  pay({ counterpartyId: treasury.id }, '250');
  transfers.advance(pay({ counterpartyId: roaster.id }, '1830.40', 'Invoice 1042'));
  const completedId = pay({ destinationAccountId: payroll.id }, '3000.00', 'Payroll, January');
  transfers.advance(completedId);
  transfers.advance(completedId);
  transfers.fail(pay({ counterpartyId: roaster.id }, '75.25', 'Invoice 1039'));
  transfers.cancel(pay({ destinationAccountId: savings.id }, '10.00'));

  const nickname = 'Keep the treasury wallet filled';
  const refuel = instructions.create({ ...refuelInstruction, nickname });
  instructions.execute(refuel.instructionId, { value: 4_000_000 });
  instructions.execute(refuel.instructionId, { value: 2_500_000 });
  return sandbox;
}
