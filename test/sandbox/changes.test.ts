import { request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import {
  Sandbox,
  seedDemo,
  type SandboxChange,
  type SandboxOptions,
} from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseJson, stringifyJson } from '../../src/internal/json.ts';
import { createAccounts } from '../support/platform.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { call, containing } from './calls.ts';

function setup(options: SandboxOptions = {}) {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 1), ...options });
  const records = createAccounts(sandbox);
  const changes: SandboxChange[] = [];
  const stop = sandbox.onChange((change) => changes.push(change));
  /** The changes since the last call: type and id. */
  const take = () =>
    changes
      .splice(0)
      .map(({ type, before, after }) => `${type} ${Reflect.get({ ...before, ...after }, 'id')}`);
  const pay = () =>
    sandbox.transfers.create({
      sourceAccountId: records.source.id,
      destinationAccountId: records.destination.id,
      amount: '10',
    }).id;
  return { sandbox, ...records, changes, stop, take, pay };
}

test('onChange reports a transfer and both balances, before and after', () => {
  const { sandbox, changes, take, pay } = setup();
  const id = pay();
  expect(changes).toMatchObject([
    { type: 'transfer.created', time: '2026-01-01T00:00:00.000Z', before: null, after: { id } },
    {
      type: 'account.balance',
      before: { id: 'acc_000001', availableBalance: '100.00', lockedBalance: '0.00' },
      after: { id: 'acc_000001', availableBalance: '90.00', lockedBalance: '10.00' },
    },
    { type: 'account.balance', after: { id: 'acc_000002', pendingBalance: '10.00' } },
  ]);
  const [first] = changes;
  expect(changes.map((change) => change.id - Number(first?.id))).toEqual([0, 1, 2]);
  take();
  sandbox.transfers.advance(id);
  expect(changes).toMatchObject([
    { type: 'transfer.status', before: { status: 'pending' }, after: { status: 'processing' } },
  ]);
  take();
  sandbox.transfers.advance(id);
  expect(take()).toEqual([
    `transfer.status ${id}`,
    'account.balance acc_000001',
    'account.balance acc_000002',
  ]);
});

test('onChange reports each change of every kind of record', () => {
  const { sandbox, entity, source, take } = setup();
  const { entities, accounts, counterparties, ibans, instructions, settings } = sandbox;
  entities.update(entity.id, { kycStatus: 'rejected' });
  entities.approve(entity.id);
  entities.approve(entity.id);
  accounts.update(source.id, { name: 'Other' });
  accounts.update(source.id, { status: 'inactive' });
  accounts.fund(source.id, '1');
  const payee = counterparties.create({ entityId: entity.id });
  counterparties.delete(payee.id);
  const iban = ibans.create({ accountId: source.id });
  ibans.deposit(iban.id, '1');
  ibans.delete(iban.id);
  settings.update({ defaultChain: 'polygon' });
  const { instructionId } = instructions.create({
    address: '0xaa',
    chainId: 1,
    salt: 1,
    maxExecutions: 2,
    actionArguments: { sweep: 1 },
  });
  instructions.execute(instructionId);
  instructions.deactivate(instructionId);
  expect(take()).toEqual([
    'entity.status ent_000001',
    'entity.status ent_000001',
    'account.updated acc_000001',
    'account.status acc_000001',
    'account.balance acc_000001',
    'counterparty.created cpty_000001',
    'counterparty.deleted cpty_000001',
    'iban.created iban_000001',
    'account.balance acc_000001',
    'iban.deleted iban_000001',
    'settings.updated undefined',
    'instruction.created undefined',
    'transaction.created undefined',
    'transaction.created undefined',
    'instruction.updated undefined',
    'transaction.created undefined',
    'instruction.status undefined',
  ]);
});

test('onChange reports a change only after the whole operation has ended', () => {
  const { sandbox, source, entity } = setup();
  const payee = sandbox.counterparties.create({ entityId: entity.id });
  const input = { sourceAccountId: source.id, counterpartyId: payee.id, amount: '10' };
  const { id } = sandbox.transfers.create(input);
  const seen: unknown[] = [];
  sandbox.onChange(({ type }) => {
    const { availableBalance } = sandbox.accounts.get(source.id);
    seen.push([type, sandbox.transfers.get(id).status, availableBalance]);
  });
  sandbox.counterparties.delete(payee.id);
  expect(seen).toEqual([
    ['counterparty.deleted', 'failed', '100.00'],
    ['transfer.status', 'failed', '100.00'],
    ['account.balance', 'failed', '100.00'],
  ]);
});

test('onChange reports nothing for a rejected request', async () => {
  const clock = new VirtualClock();
  const { sandbox, take, source } = setup({ clock, autoAdvance: 1000 });
  await call(sandbox, 'PATCH', `/accounts/${source.id}`, { name: 'Other' });
  await call(sandbox, 'PATCH', `/accounts/${source.id}`, { name: 5 });
  await call(sandbox, 'POST', '/transfers', { sourceAccountId: source.id });
  const created = await call(sandbox, 'POST', '/entities', { email: 'b@example.com' });
  expect(created.status).toBe(201);
  expect(take()).toEqual(['account.updated acc_000001', 'entity.created ent_000002']);
  await clock.advance(2000);
  expect(take()).toEqual(['entity.status ent_000002', 'entity.status ent_000002']);
});

test('a broken onChange listener affects no other listener', () => {
  const { sandbox, source, stop } = setup();
  stop();
  const rethrow = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => {});
  sandbox.onChange((change) => {
    if (change.type === 'account.updated') sandbox.accounts.fund(source.id, '1');
    Object.assign(change.after ?? {}, { id: 'changed' });
    throw new Error('of the listener');
  });
  const seen: unknown[] = [];
  sandbox.onChange(({ type, after }) => seen.push([type, Reflect.get(after ?? {}, 'id')]));
  expect(sandbox.accounts.update(source.id, { name: 'Other' }).id).toBe(source.id);
  expect(seen).toEqual([
    ['account.updated', source.id],
    ['account.balance', source.id],
  ]);
  expect(rethrow).toHaveBeenCalledTimes(2);
  expect(rethrow.mock.calls[0]?.[0]).toThrow('of the listener');
});

test('listChanges keeps the latest ten thousand changes', () => {
  const { sandbox, source, changes } = setup();
  for (let count = 0; count < 10_005; count += 1) sandbox.accounts.fund(source.id, '1');
  const list = sandbox.listChanges();
  expect(list).toHaveLength(10_000);
  expect(list.at(-1)).toEqual(changes.at(-1));
  sandbox.reset();
  expect(sandbox.listChanges()).toEqual([]);
  sandbox.entities.create({ email: 'a@b.example' });
  expect(sandbox.listChanges()[0]?.id).toBe(Number(changes.at(-2)?.id) + 1);
});

test('GET /_sandbox/changes lists the changes after an id, or streams them', async () => {
  const { sandbox, changes, take, pay, stop } = setup();
  const server = await listen(sandbox);
  onTestFinished(() => server.close());
  const url = `${server.rootUrl}/_sandbox/changes`;
  take();
  pay();
  const list = (await (await fetch(`${url}?after=${Number(changes[0]?.id)}`)).json()) as unknown[];
  expect(list).toEqual(changes.slice(1));
  expect(await (await fetch(`${url}?after=x`)).json()).toMatchObject({ code: 'invalid_query' });

  const request = httpRequest(`${url}?after=${Number(changes[1]?.id)}`, {
    headers: { accept: 'text/event-stream' },
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let stream = '';
  response.setEncoding('utf8').on('data', (chunk: string) => (stream += chunk));
  await expect.poll(() => stream).toContain('"account.balance"');
  sandbox.transfers.advance('txfr_000001');
  await expect.poll(() => stream).toContain('"transfer.status"');
  const [, last] = changes.slice(2);
  expect(stream).toBe(
    [changes[2], last].map((one) => `id: ${one?.id}\ndata: ${JSON.stringify(one)}\n\n`).join(''),
  );
  sandbox.reset();
  await expect.poll(() => stream).toContain('event: reset');
  stop();
  response.destroy();
});

test('importState and exportState return the same text again', async () => {
  const sandbox = seedDemo(new Sandbox());
  await call(sandbox, 'PATCH', '/platform/settings', { webhookUrl: 'https://hooks.example/x' });
  sandbox.ibans.delete('iban_000001');
  sandbox.faults.add({ operation: 'webhook', times: 3, fault: { kind: 'reorder' } });
  sandbox.faults.add({ operation: 'webhook', fault: { kind: 'delay' } });
  sandbox.advanceClock(5000);
  const exported = stringifyJson(sandbox.exportState());
  const other = new Sandbox();
  other.importState(parseJson(exported));
  expect(stringifyJson(other.exportState())).toBe(exported);
  expect(exported).toContain('hooks.example');
  expect(other.listChanges()).toEqual([]);
  expect(exported).toEqual(containing('"changes":'));
});
