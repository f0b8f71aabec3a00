import { Sandbox, seedDemo, type SandboxState } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../src/internal/json.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { call, containing } from './calls.ts';

function demo() {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 1) });
  seedDemo(sandbox);
  const spare = sandbox.ibans.create({ accountId: 'acc_000001' });
  sandbox.ibans.delete(spare.id);
  sandbox.instructions.create({
    address: '0xaa',
    chainId: 1,
    salt: 2n ** 70n,
    maxExecutions: 1,
    actionArguments: { sweep: 1 },
  });
  sandbox.settings.update({ defaultChain: 'polygon' });
  sandbox.faults.add({ operation: '*', times: 3, after: 100, fault: { kind: 'hang' } });
  sandbox.advanceClock(5000);
  return sandbox;
}

/** The state after JSON, as in a file. */
const carried = (state: unknown): unknown => parseJson(stringifyJson(state));

test('importState restores a state that was written as JSON', async () => {
  const one = demo();
  const other = new Sandbox({ clock: () => Date.UTC(2026, 0, 1) });
  other.importState(carried(one.exportState()));
  expect(other.exportState()).toEqual(one.exportState());
  expect(other.settings.get().defaultChain).toBe('polygon');
  expect(other.time.offsetMs).toBe(5000);
  expect(other.faults.list()).toEqual([
    { operation: '*', times: 3, after: 100, fault: { kind: 'hang' } },
  ]);
  // Deposits to a deleted IBAN are rejected, pending money arrives, and salts are exact.
  expect(() => other.ibans.deposit('iban_000002', '1')).toThrow('was deleted');
  for (const sandbox of [one, other]) {
    sandbox.transfers.advance('txfr_000002');
    sandbox.transfers.fail('txfr_000001');
  }
  expect(other.accounts.list()).toEqual(one.accounts.list());
  expect(other.accounts.get('acc_000001')).toMatchObject({ lockedBalance: '0.00' });
  const { body } = await call(other, 'GET', '/instructions/all', { address: '0xaa' });
  expect(body).toMatchObject([{ salt: 2n ** 70n }]);
});

test('a state from exportState does not change with the sandbox', () => {
  const sandbox = demo();
  const state = sandbox.exportState();
  sandbox.transfers.fail('txfr_000001');
  expect(state.transfers[0]?.status).toBe('pending');
  sandbox.importState(state);
  sandbox.accounts.update('acc_000001', { name: 'Other' });
  sandbox.transfers.fail('txfr_000001');
  expect(state.accounts[0]?.name).toBe('Operating');
  expect(state.transfers[0]?.status).toBe('pending');
});

test('a cursor stays valid in a sandbox with an imported state', async () => {
  const one = demo();
  const page = await call(one, 'GET', '/transfers?limit=2');
  const { nextCursor } = page.body as { nextCursor: string };
  const other = new Sandbox();
  other.importState(carried(one.exportState()));
  const { body } = await call(other, 'GET', `/transfers?cursor=${nextCursor}`);
  expect(body).toMatchObject({ data: [{ id: 'txfr_000003' }, { id: 'txfr_000004' }] });
});

test('reset() removes every record, but new records reuse no id', async () => {
  const sandbox = demo();
  await call(sandbox, 'GET', '/entities/ent_000001');
  const { ids } = sandbox.exportState();
  expect(ids).toMatchObject({ entities: 2, accounts: 3, transfers: 5, requests: 1, log: 1 });
  sandbox.reset();
  expect(sandbox.exportState()).toEqual({
    ...new Sandbox({ clock: () => Date.UTC(2026, 0, 1) }).exportState(),
    ids,
  });
  expect(sandbox.log).toEqual([]);
  expect(sandbox.time.offsetMs).toBe(0);
  expect(sandbox.entities.create({ email: 'a@b.example' }).id).toBe('ent_000003');
  await call(sandbox, 'GET', '/entities');
  expect(sandbox.log).toMatchObject([{ id: 2, requestId: 'req_000002' }]);
  expect((await call(sandbox, 'GET', '/entities')).body).toMatchObject({
    data: [{ id: 'ent_000003' }],
    hasMore: false,
  });
});

test('after importState a new id is above every earlier id', () => {
  const idAfter = (state: Partial<SandboxState>) => {
    const sandbox = new Sandbox();
    sandbox.entities.create({ email: 'a@b.example' });
    sandbox.entities.create({ email: 'a@b.example' });
    sandbox.importState({ version: 1, ...state });
    return sandbox.entities.create({ email: 'a@b.example' }).id;
  };
  const entity = demo().exportState().entities[0];
  if (entity === undefined) throw new Error('the demo has no entity');
  expect(idAfter({})).toBe('ent_000003');
  expect(idAfter({ ids: { entities: 1 } })).toBe('ent_000003');
  expect(idAfter({ ids: { entities: 40 } })).toBe('ent_000041');
  expect(idAfter({ entities: [{ ...entity, id: 'ent_7000000' }] })).toBe('ent_7000001');
});

test('autoAdvance moves the open transfers of an imported state', async () => {
  const clock = new VirtualClock();
  const sandbox = new Sandbox({ clock, autoAdvance: 1000 });
  sandbox.importState(demo().exportState());
  await clock.advance(2000);
  expect(sandbox.transfers.list().map(({ status }) => status)).toEqual([
    'completed',
    'completed',
    'completed',
    'failed',
    'cancelled',
  ]);
  sandbox.reset();
  expect(clock.pending).toBe(0);
});

const state = demo().exportState();

// If this test fails because you change fields, raise stateVersion in platform/state.ts.
test('an exported state has exactly the fields of its stateVersion', () => {
  const { version, faults: _, clockOffsetMs: _ms, ...parts } = state;
  const values = Object.entries({ ...parts, instruction: state.instructions[0]?.instruction });
  const fields = values.map(([name, value]) => {
    const names = [value ?? {}].flat().flatMap((record) => Object.keys(record));
    return `${name}: ${[...new Set(names)].toSorted().join(' ')}`;
  });
  expect([version, ...fields]).toEqual([
    1,
    'entities: createdAt email id kycLink kycStatus status tosLink tosStatus type',
    'accounts: autoEarn availableBalance chain createdAt currency entityId holdingBalance id lockedBalance metadata name pendingBalance status type updatedAt',
    'transfers: amount counterpartyId createdAt currency description destinationAccountId direction id sourceAccountId status type',
    'counterparties: accountNumber bankName chain createdAt entityId id name routingNumber type walletAddress',
    'ibans: accountId bankName bic createdAt currency entityId iban id status',
    'closedIbans: accountId bankName bic createdAt currency entityId iban id status',
    'instructions: address chainId instruction',
    'transactions: activation address blockHash chainId createdAtUnix deactivation finishedAtBlock finishedAtUnix instructionId startedAtBlock startedAtUnix transactionHash transactionStatus updatedAtUnix',
    'settings: autoEarnEnabled autoEarnVault defaultChain updatedAt webhookUrl',
    'ids: accounts changes counterparties entities ibans log requests transfers',
    'instruction: action arguments executionState instructedTokenAddress instructionId lastInstructedValue maxExecutions nickname salt totalInstructedValue',
  ]);
});

test.each([
  ['undefined', undefined, 'expected an object'],
  ['an array', [], 'expected an object'],
  [
    'a state of a later version',
    { ...state, version: 2, cards: [] },
    'The state is not valid. version: expected 1 or',
  ],
  [
    'a state with an unknown field',
    { version: 1, entitys: [] },
    'entitys: this field is not known',
  ],
  [
    'a state with an unknown status',
    { ...state, transfers: [{ ...state.transfers[0], status: 'gone' }] },
    'transfers[0].status: expected one of pending',
  ],
  [
    'a state with an Account of an unknown Entity',
    { ...state, entities: [] },
    'accounts[0].entityId: there is no "ent_000001"',
  ],
  [
    'a state with the same id twice',
    { ...state, entities: [...state.entities, state.entities[0]] },
    'entities[2].id: "ent_000001" is there twice',
  ],
  [
    'a state with an id without digits',
    { ...state, ibans: [{ ...state.ibans[0], id: 'iban_x' }] },
    'ibans[0].id: expected "iban_" and digits',
  ],
  [
    'a state with a negative balance',
    { ...state, accounts: [{ ...state.accounts[0], availableBalance: '-1' }] },
    'accounts[0].availableBalance: expected a decimal amount',
  ],
  [
    'a state with an unknown fault',
    { version: 1, faults: [{ operation: '*', fault: { kind: 'flood' } }] },
    'faults[0]: The rule of sandbox.faults.add',
  ],
  [
    'a state with a clock offset beyond all dates',
    { version: 1, clockOffsetMs: Number.MAX_SAFE_INTEGER },
    'clockOffsetMs: expected milliseconds',
  ],
])('importState rejects %s, says what is wrong and changes nothing', (_name, wrong, words) => {
  const sandbox = demo();
  const before = sandbox.exportState();
  const attempt = () => {
    sandbox.importState(wrong);
  };
  expect(attempt).toThrow(expect.objectContaining({ status: 422, message: containing(words) }));
  expect(sandbox.exportState()).toEqual(before);
});
