import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { VirtualClock } from '../support/virtual-clock.ts';
import { createAccounts } from '../support/platform.ts';
import { call } from './calls.ts';

// What a sandbox with autoAdvance moves by itself, when, and to which final status.

function setup(auto: number | 'off' = 1000) {
  const clock = new VirtualClock();
  const sandbox = new Sandbox({ clock, autoAdvance: auto === 'off' ? undefined : auto });
  const { source, destination } = createAccounts(sandbox);
  const pay = (description?: string) =>
    sandbox.transfers.create({
      sourceAccountId: source.id,
      destinationAccountId: destination.id,
      amount: '10',
      description,
    }).id;
  return {
    clock,
    sandbox,
    pay,
    status: (id: string) => sandbox.transfers.get(id).status,
    balances: () => sandbox.accounts.list().map((account) => account.availableBalance),
  };
}

test('a sandbox without autoAdvance moves no transfer by itself', async () => {
  const { clock, sandbox, pay, status } = setup('off');
  const id = pay();
  expect(clock.pending).toBe(0);
  await clock.advance(86_400_000);
  await call(sandbox, 'GET', '/transfers');
  expect(status(id)).toBe('pending');
});

test('autoAdvance moves a transfer one step after each interval', async () => {
  const { clock, pay, status, balances } = setup();
  const id = pay();
  await clock.advance(999);
  expect(status(id)).toBe('pending');
  await clock.advance(1);
  expect(status(id)).toBe('processing');
  await clock.advance(999);
  expect(status(id)).toBe('processing');
  await clock.advance(1);
  expect(status(id)).toBe('completed');
  expect(balances()).toEqual(['90.00', '15.00']);
  expect(clock.pending).toBe(0);
});

test('autoAdvance moves a new Entity to pending, then to approved', async () => {
  const { clock, sandbox } = setup();
  const { id } = sandbox.entities.create({ email: 'b@example.com' });
  const statuses = () => {
    const { kycStatus, tosStatus } = sandbox.entities.get(id);
    return [kycStatus, tosStatus];
  };
  await clock.advance(1000);
  expect(statuses()).toEqual(['pending', 'pending']);
  await clock.advance(1000);
  expect(statuses()).toEqual(['approved', 'approved']);
  expect(clock.pending).toBe(0);
});

test('autoAdvance does not change the KYC status of a rejected Entity', async () => {
  const { clock, sandbox } = setup();
  const { id } = sandbox.entities.create({ email: 'b@example.com' });
  sandbox.entities.reject(id);
  await clock.advance(10_000);
  expect(sandbox.entities.get(id)).toMatchObject({ kycStatus: 'rejected', tosStatus: 'approved' });
});

test('autoAdvance approves an Entity one interval after entities.update', async () => {
  const { clock, sandbox } = setup();
  const { id } = sandbox.entities.create({ email: 'b@example.com' });
  const kyc = () => sandbox.entities.get(id).kycStatus;
  await clock.advance(900);
  sandbox.entities.update(id, { kycStatus: 'under_review' });
  await clock.advance(999);
  expect(kyc()).toBe('under_review');
  await clock.advance(5000);
  expect([kyc(), clock.pending]).toEqual(['approved', 0]);
  sandbox.entities.update(id, { kycStatus: 'pending' });
  await clock.advance(1000);
  expect(kyc()).toBe('approved');
});

test.each(['fail', 'cancel'] as const)(
  'autoAdvance moves no money after transfers.%s or transfers.advance',
  async (end) => {
    const { clock, sandbox, pay, status, balances } = setup();
    const id = pay();
    await clock.advance(500);
    const { status: final } = sandbox.transfers[end](id);
    await clock.advance(10_000);
    expect([status(id), balances()]).toEqual([final, ['100.00', '5.00']]);
    const other = pay();
    sandbox.transfers.advance(other);
    sandbox.transfers.advance(other);
    await clock.advance(10_000);
    expect([status(other), balances()]).toEqual(['completed', ['90.00', '15.00']]);
  },
);

test('autoAdvance waits a whole interval after transfers.advance', async () => {
  const { clock, sandbox, pay, status } = setup();
  const id = pay();
  await clock.advance(900);
  sandbox.transfers.advance(id);
  await clock.advance(999);
  expect(status(id)).toBe('processing');
  await clock.advance(1);
  expect(status(id)).toBe('completed');
});

test.each([
  ['fail', ['processing', 'failed', 'failed']],
  ['cancel', ['cancelled', 'cancelled', 'cancelled']],
  ['hang', ['pending', 'pending', 'pending']],
])(
  'the description sandbox:%s decides how autoAdvance ends a transfer',
  async (ending, statuses) => {
    const { clock, sandbox, pay, status, balances } = setup();
    const id = pay(`sandbox:${ending} invoice 7`);
    const other = pay(`invoice sandbox:${ending}`);
    const seen: string[] = [];
    for (let step = 0; step < 3; step += 1) {
      await clock.advance(1000);
      seen.push(status(id));
    }
    expect(seen).toEqual(statuses);
    expect(status(other)).toBe('completed');
    const hangs = ending === 'hang';
    expect(balances()).toEqual([hangs ? '80.00' : '90.00', '15.00']);
    if (hangs) expect(sandbox.transfers.cancel(id).status).toBe('cancelled');
  },
);

test('transfers.advance ends a transfer as its description says', () => {
  const { sandbox, pay } = setup('off');
  const failing = pay('sandbox:fail');
  expect(sandbox.transfers.advance(failing).status).toBe('processing');
  expect(sandbox.transfers.advance(failing).status).toBe('failed');
  expect(sandbox.transfers.advance(pay('sandbox:cancel')).status).toBe('cancelled');
  expect(sandbox.transfers.advance(pay('sandbox:hang')).status).toBe('processing');
});

test('advanceClock makes every status change of autoAdvance that is due', () => {
  const { sandbox, pay, status } = setup();
  const one = pay();
  sandbox.advanceClock(1000);
  const other = pay();
  expect([status(one), status(other)]).toEqual(['processing', 'pending']);
  sandbox.advanceClock(1999);
  expect([status(one), status(other)]).toEqual(['completed', 'processing']);
  sandbox.advanceClock(1);
  expect(status(other)).toBe('completed');
});

test('after advanceClock the autoAdvance timer waits only the remaining time', async () => {
  const { clock, sandbox, pay, status } = setup();
  const id = pay();
  sandbox.advanceClock(600);
  await clock.advance(399);
  expect(status(id)).toBe('pending');
  await clock.advance(1);
  expect(status(id)).toBe('processing');
});

test('a request makes overdue autoAdvance changes before the timer fires', async () => {
  const { clock, sandbox, pay } = setup();
  const id = pay();
  clock.jump(2000);
  const { body } = await call(sandbox, 'GET', `/transfers/${id}`);
  expect(body).toMatchObject({ status: 'completed' });
});

test('autoAdvance moves an overdue transfer, but no newer one', async () => {
  const { clock, sandbox, pay, status } = setup();
  const early = pay();
  clock.jump(4500);
  // The early transfer has been due four times by now, and the late one is due in a second.
  const late = pay();
  sandbox.advanceClock(0);
  expect([status(early), status(late)]).toEqual(['completed', 'pending']);
  await clock.advance(1000);
  expect(status(late)).toBe('processing');
});

test('autoAdvance uses runtime timers if the option `clock` is a function', async () => {
  let now = 0;
  const sandbox = new Sandbox({ clock: () => now, autoAdvance: 5 });
  const { id } = sandbox.entities.create({ email: 'b@example.com' });
  now = 4;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(sandbox.entities.get(id).kycStatus).toBe('not_started');
  now = 10;
  await expect.poll(() => sandbox.entities.get(id).kycStatus).toBe('approved');
});

test('advanceClock moves createdAt and the date of responses', async () => {
  const { clock, sandbox } = setup('off');
  const before = clock.now();
  sandbox.advanceClock(3_600_000);
  const now = new Date(before + 3_600_000).toISOString();
  expect(sandbox.time).toEqual({ now, offsetMs: 3_600_000 });
  expect(sandbox.entities.create({ email: 'c@example.com' }).createdAt).toBe(now);
  expect((await call(sandbox, 'GET', '/entities')).headers.get('date')).toBe(
    new Date(before + 3_600_000).toUTCString(),
  );
  for (const ms of [-1, 0.5, Number.NaN, 1e15]) {
    expect(() => {
      sandbox.advanceClock(ms);
    }).toThrow(TypeError);
  }
});

test('a response takes as long as the option `latency` says', async () => {
  const clock = new VirtualClock();
  const sandbox = new Sandbox({ clock, latency: 250 });
  const pending = call(sandbox, 'POST', '/entities', { email: 'a@b.example' });
  await clock.advance(249);
  expect(sandbox.entities.list()).toHaveLength(1);
  expect(sandbox.log[0]?.status).toBeUndefined();
  await clock.advance(1);
  expect((await pending).status).toBe(201);
  expect(sandbox.log[0]).toMatchObject({ status: 201, ms: 250 });
});

test.each([{ autoAdvance: 0 }, { autoAdvance: 2 ** 31 }, { autoAdvance: 'off' }, { latency: -1 }])(
  'a sandbox rejects the options %o',
  (options) => {
    expect(() => new Sandbox(options as object)).toThrow(TypeError);
  },
);
