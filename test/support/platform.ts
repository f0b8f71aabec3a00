import type { ClientOptions, InstructionBuildInput, PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { clientOf, type ReceivedResponse, type SentRequest } from './clients.ts';

export const owner = '0x00000000000000000000000000000000000000aa';
const token = '0x00000000000000000000000000000000000000Bb';
const fee = {
  token,
  maxBaseFeePerGas: 100,
  maxPriorityFeePerGas: 2,
  executionFee: 50,
} as const;
export const buildInput = {
  address: owner,
  chainId: 8453,
  salt: 7,
  maxExecutions: 10,
  actionArguments: {
    refuelERC20: { token, target: owner, threshold: 1_000, endBalance: 5_000, fee },
  },
} as const satisfies InstructionBuildInput;

/** A client of a sandbox, and the requests that it sent. */
export const clientOfSandbox = (
  sandbox: Sandbox,
  options: ClientOptions = {},
): { readonly payments: PaymentsClient; readonly requests: SentRequest[] } =>
  clientOf(through(sandbox), { apiKey: sandbox.apiKey, jwt: sandbox.jwt, ...options });

/** Passes each request to a sandbox. */
const through =
  (sandbox: Sandbox): ReceivedResponse =>
  (request, body) =>
    request.method === 'GET' && body !== ''
      ? sandbox.getWithBody(request, body)
      : sandbox.fetch(request);

/** Creates one verified Entity and two funded Accounts. */
export function createAccounts(sandbox: Sandbox) {
  const entity = sandbox.entities.create({ email: 'ada@example.com', fullName: 'Ada' });
  sandbox.entities.approve(entity.id);
  const source = sandbox.accounts.create({ entityId: entity.id, name: 'Source' });
  const destination = sandbox.accounts.create({ entityId: entity.id, name: 'Destination' });
  sandbox.accounts.fund(source.id, '100');
  sandbox.accounts.fund(destination.id, '5');
  return { entity, source, destination };
}

/** A sandbox with every record that the examples name, and two records in each list. */
export function seededSandbox(): Sandbox {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 15) });
  for (const email of ['first@example.com', 'second@example.com']) {
    sandbox.entities.approve(sandbox.entities.create({ email }).id);
  }
  for (const name of ['Source', 'Destination']) {
    const { id } = sandbox.accounts.create({ entityId: 'ent_000001', name });
    sandbox.accounts.fund(id, '1000');
    sandbox.ibans.create({ accountId: 'acc_000001' });
    sandbox.counterparties.create({ entityId: 'ent_000001', name });
  }
  for (const amount of ['1.00', '2.00']) {
    sandbox.transfers.create({
      sourceAccountId: 'acc_000001',
      destinationAccountId: 'acc_000002',
      amount,
    });
  }
  for (const salt of [1, 2]) sandbox.instructions.create({ ...buildInput, salt });
  return sandbox;
}

/** A seeded sandbox with its client and the requests that it sent. */
export function clientOfSeededSandbox() {
  const sandbox = seededSandbox();
  return { sandbox, ...clientOfSandbox(sandbox) };
}
