import { operationPaths, type SandboxOperation } from '../api/operations.ts';
import { refuelInstruction } from '../control/demo.ts';
import { Sandbox } from '../sandbox.ts';
import { nouns } from '../platform/ids.ts';
import type { Json, JsonObject } from './document.ts';

/** An example for openapi.json: the status and the bodies of one call of a sandbox. */
export interface Example {
  readonly status: number;
  readonly body: JsonObject | undefined;
  readonly response: Json | undefined;
}

/**
 * Collects examples for openapi.json from a new sandbox: every operation, and three errors. Most
 * examples need the records of earlier examples, so the two deletions come last.
 * @throws Error when an example fails, or an operation has none.
 */
export async function collectExamples() {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 15, 12) });
  const successes = new Map<SandboxOperation, Example>();

  /** Calls an operation of the sandbox. `credential` replaces the one that the operation needs. */
  async function call(
    operation: SandboxOperation,
    { id = '', body, credential }: { id?: string; body?: JsonObject; credential?: string } = {},
  ): Promise<Example> {
    const [method = '', path = ''] = operationPaths[operation].split(' ');
    const validCredential = path.startsWith('/v0/') ? sandbox.apiKey : sandbox.jwt;
    const reply = await sandbox.handle({
      method,
      url: `https://sandbox.invalid${path.replace('{id}', id)}`,
      headers: new Headers({ authorization: `Bearer ${credential ?? validCredential}` }),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!('status' in reply)) throw new Error(`${operation} has no response`);
    const response =
      reply.body === null || reply.body === '' ? undefined : (JSON.parse(reply.body) as Json);
    return { status: reply.status, body, response };
  }
  /** Calls an operation, and keeps the call as the example of this operation. */
  async function succeed(operation: SandboxOperation, input?: { id?: string; body?: JsonObject }) {
    const example = await call(operation, input);
    if (example.status >= 300) {
      throw new Error(`The example of ${operation} failed: ${JSON.stringify(example.response)}`);
    }
    successes.set(operation, example);
  }

  await succeed('entities.create', { body: { email: 'ada@example.com', fullName: 'Ada Marsh' } });
  const entityId = 'ent_000001';
  sandbox.entities.approve(entityId);

  await succeed('accounts.create', { body: { entityId, name: 'Payroll' } });
  const sourceAccountId = 'acc_000001';
  sandbox.accounts.fund(sourceAccountId, '1000.00');
  const patch = { name: 'Operating', metadata: { costCentre: 'HR-1' } };
  await succeed('accounts.update', { id: sourceAccountId, body: patch });

  const wallet = {
    type: 'wallet',
    walletAddress: refuelInstruction.actionArguments.refuelERC20.token,
    chain: 'base',
  } as const;
  sandbox.counterparties.create({ entityId, name: 'Treasury', ...wallet });
  const counterpartyId = 'cpty_000001';

  const payment = { sourceAccountId, counterpartyId, amount: '12.50', description: 'INV-1042' };
  await succeed('transfers.create', { body: payment });
  sandbox.transfers.advance('txfr_000001');
  sandbox.transfers.advance('txfr_000001');

  sandbox.ibans.create({ accountId: sourceAccountId });
  for (const noun of nouns) {
    const [record] = sandbox[noun].list();
    await succeed(`${noun}.get`, { id: record?.id ?? '' });
    await succeed(`${noun}.list`);
  }

  const settings = { autoEarnEnabled: true, autoEarnVault: 'sandbox_usdc', defaultChain: 'base' };
  await succeed('settings.update', { body: settings });

  const { address } = refuelInstruction;
  await succeed('instructions.build', { body: refuelInstruction });
  const { instructionId } = sandbox.instructions.create(refuelInstruction);
  sandbox.instructions.execute(instructionId, { value: 4_000_000 });
  await succeed('instructions.list', { body: { address } });
  const page = { address, sort: 'Ascending', skip: 0, take: 20 };
  await succeed('transactions.list', { body: page });

  const stranger = { id: counterpartyId, credential: 'sk_unknown' };
  const unauthorized = await call('counterparties.get', stranger);
  const notFound = await call('counterparties.get', { id: 'cpty_000009' });
  const invalid = await call('transfers.create', { body: { ...payment, amount: '-1' } });
  await succeed('counterparties.delete', { id: counterpartyId });
  await succeed('ibans.delete', { id: 'iban_000001' });
  const names = Object.keys(operationPaths) as SandboxOperation[];
  const missing = names.find((name) => !successes.has(name));
  if (missing !== undefined) throw new Error(`${missing} has no example`);
  return { successes, unauthorized, notFound, invalid };
}
