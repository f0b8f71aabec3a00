import {
  AbortError,
  ConfigurationError,
  PaymentInDoubtError,
  PaymentsClient,
  ValidationError,
  type OnceInput,
  type ListUndecidedOptions,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal, type OpenPayment } from 'payments-platform-sdk/journals';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { createClaim, createPaid, createPlatform, newInput } from '../stores/scenarios.ts';

const minute = 60_000;

async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** A client with a journal that has one paid and three open payments, the oldest of them last. */
async function setup() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15, 12));
  const sandbox = createPlatform();
  const journal = memoryJournal({ now: () => clock.now() });
  const payments = new PaymentsClient({ ...sandbox.clientOptions, journal });
  const claim = async (minutes: number, fields = {}) => {
    const input = newInput();
    const claimedAt = clock.now() - minutes * minute;
    const entry = createClaim(input, { claimedAt, expiresAt: claimedAt + 7 * minute, ...fields });
    await journal.swap(input.description, undefined, entry);
    return input;
  };
  const paid = newInput();
  await journal.swap(paid.description, undefined, createPaid(paid, clock.now()));
  const young = await claim(1);
  const candidates = { state: 'ambiguous', candidates: ['txfr_1', 'txfr_2'] };
  const ambiguous = await claim(15, candidates);
  const old = await claim(90);
  const list = (options?: ListUndecidedOptions) =>
    collect(payments.transfers.listUndecided(options));
  return { clock, sandbox, journal, payments, list, young, ambiguous, old };
}

const referencesOf = (payments: readonly { reference: string }[]) =>
  payments.map(({ reference }) => reference);

test.each([0, undefined, null, Number.NaN])(
  'listUndecided counts from the latest claim if firstClaimedAt is %s',
  async (firstClaimedAt) => {
    const { clock, journal, list } = await setup();
    const input = newInput();
    const claimedAt = clock.now() - 200 * minute;
    const fields = { claimedAt, firstClaimedAt: firstClaimedAt as number };
    await journal.swap(input.description, undefined, createClaim(input, fields));
    expect(await list({ olderThan: 100 * minute })).toMatchObject([
      { reference: input.description, firstClaimedAt: '2026-01-15T08:40:00.000Z' },
    ]);
    expect(await list({ olderThan: 201 * minute })).toEqual([]);
  },
);

test('listUndecided lists undecided payments, oldest first, as plain JSON', async () => {
  const { list, young, ambiguous, old, sandbox } = await setup();
  const listed = await list();
  const common = { host: 'worker-1', history: [] };
  expect(listed).toEqual([
    {
      ...common,
      reference: old.description,
      state: 'sending',
      claimedAt: '2026-01-15T10:30:00.000Z',
      firstClaimedAt: '2026-01-15T10:30:00.000Z',
      expiresAt: '2026-01-15T10:37:00.000Z',
      input: old,
    },
    {
      ...common,
      reference: ambiguous.description,
      state: 'ambiguous',
      claimedAt: '2026-01-15T11:45:00.000Z',
      firstClaimedAt: '2026-01-15T11:45:00.000Z',
      expiresAt: '2026-01-15T11:52:00.000Z',
      input: ambiguous,
      candidates: ['txfr_1', 'txfr_2'],
    },
    {
      ...common,
      reference: young.description,
      state: 'sending',
      claimedAt: '2026-01-15T11:59:00.000Z',
      firstClaimedAt: '2026-01-15T11:59:00.000Z',
      expiresAt: '2026-01-15T12:06:00.000Z',
      input: young,
    },
  ]);
  expect(JSON.parse(JSON.stringify(listed))).toEqual(listed);
  expect(sandbox.log).toEqual([]);
});

test("`olderThan` of listUndecided counts by the journal's clock", async () => {
  const { list, old, ambiguous, clock } = await setup();
  expect(referencesOf(await list({ olderThan: 15 * minute }))).toEqual([old.description]);
  await clock.advance(1);
  const references = [old.description, ambiguous.description];
  expect(referencesOf(await list({ olderThan: 15 * minute }))).toEqual(references);
});

test('listUndecided counts the age of a payment from its first claim', async () => {
  const { clock, journal, list, old, ambiguous } = await setup();
  const input = newInput();
  const claimedAt = clock.now() - minute;
  const firstClaimedAt = clock.now() - 180 * minute;
  await journal.swap(
    input.description,
    undefined,
    createClaim(input, { claimedAt, firstClaimedAt }),
  );
  const references = [input.description, old.description, ambiguous.description];
  expect(referencesOf(await list()).slice(0, 3)).toEqual(references);
  expect(referencesOf(await list({ olderThan: 120 * minute }))).toEqual([input.description]);
});

test('listUndecided passes the reference of a listed payment to `journal.now`', async () => {
  const { journal, list, old } = await setup();
  const references: string[] = [];
  const now = (reference: string) => {
    references.push(reference);
    return journal.now(reference);
  };
  await list({ journal: { ...journal, now }, olderThan: 1 });
  expect(references).toEqual([old.description]);
});

test('each loop over listUndecided reads the journal again', async () => {
  const { payments, journal, old } = await setup();
  const open = payments.transfers.listUndecided();
  expect(await collect(open)).toHaveLength(3);
  await journal.swap(old.description, await journal.read(old.description), undefined);
  expect(await collect(open)).toHaveLength(2);
});

test("createOnce makes an expired payment from listUndecided's input", async () => {
  const { sandbox, list, payments } = await setup();
  for (const { input, state } of await list()) {
    if (state !== 'sending') continue;
    await payments.transfers.createOnce(input).catch(() => {});
  }
  // The claim of the young payment has not expired.
  expect(sandbox.transfers.list()).toHaveLength(1);
  expect((await list()).map(({ state }) => state)).toEqual(['ambiguous', 'sending']);
});

test('listUndecided, unlike createOnce and `decide`, rejects a journal without open()', async () => {
  const { sandbox, journal, payments } = await setup();
  const { read, swap, now } = journal;
  const small: Journal = { read, swap, now };
  const input = newInput();
  expect(await payments.transfers.createOnce(input, { journal: small })).toHaveProperty('id');
  expect(sandbox.transfers.list()).toHaveLength(1);
  await payments.transfers.decide(input.description, 'txfr_000001', { journal: small });
  const listed = collect(payments.transfers.listUndecided({ journal: small }));
  const error = await failureOf(listed, ConfigurationError);
  expect(error.message).toBe(
    'transfers.listUndecided needs a journal with open(), which lists undecided payments; this one has none.\nThose of payments-platform-sdk/journals have it.\nNothing was sent.',
  );
});

test('listUndecided and `decide` reject when there is no journal', async () => {
  const { transfers } = new PaymentsClient(createPlatform().clientOptions);
  const error = await failureOf(collect(transfers.listUndecided()), ConfigurationError);
  expect(error.message).toMatch(/^transfers\.listUndecided needs a journal; this client has none/);
  await failureOf(transfers.decide('invoice 4711', 'not_paid'), ConfigurationError);
});

test.each([
  [{ olderThan: 0 }, 'options.olderThan'],
  [{ olderThan: '15m' }, 'options.olderThan'],
  [{ journal: {} }, 'options.journal'],
  [{ query: {} }, 'options.query'],
])('listUndecided rejects the options %o', async (options, path) => {
  const { list } = await setup();
  const error = await failureOf(list(options as ListUndecidedOptions), ValidationError);
  expect(error.issues.map((issue) => issue.path)).toEqual([path]);
});

const lists: Readonly<Record<string, () => AsyncIterable<unknown>>> = {
  'throws at once': () => {
    throw new Error('cannot reach redis://ops:hunter2@store:6379');
  },
  'throws later': async function* () {
    yield await Promise.reject(new Error('cannot reach redis://ops:hunter2@store:6379'));
  },
  'returns undefined': () => undefined as never,
  'yields an entry without a reference': async function* () {
    yield await Promise.resolve({ entry: createClaim(newInput()) });
  },
};

test.each(Object.entries(lists))('listUndecided rejects if open() %s', async (_, open) => {
  const { journal, list } = await setup();
  const listed = list({ journal: { ...journal, open: open as FullOpen } });
  const error = await failureOf(listed, PaymentInDoubtError);
  expect(error).toMatchObject({ reason: 'journal', operation: 'transfers.listUndecided' });
  expect(error.message).toMatch(/^The journal's open /);
  expect(error.message).not.toContain('Reference');
  expect(JSON.stringify(error) + String(error.cause)).not.toContain('hunter2');
});
type FullOpen = () => AsyncIterable<OpenPayment>;

test('listUndecided omits a paid entry that open() yields', async () => {
  const { journal, list } = await setup();
  const input: OnceInput = newInput();
  const open = async function* () {
    yield { reference: input.description, entry: createPaid(input, 1) };
    yield* journal.open();
  };
  expect(await list({ journal: { ...journal, open: open as FullOpen } })).toHaveLength(3);
});

test.each<[string, string, unknown]>([
  ['a claim of another program', 'invoice 1', { state: 'sending', started: 1 }],
  ['a claim without time', 'invoice 2', createClaim(newInput(), { claimedAt: undefined as never })],
  ['a string', 'invoice 3', 'not JSON'],
  ['undefined', 'invoice 4', undefined],
  ['odd dismissed ids', 'invoice 5', createClaim(newInput(), { dismissed: 'txfr_1' as never })],
  ['a claim under a key that is no reference', 'Müller', createClaim(newInput())],
])('listUndecided lists an entry that is %s last, as unreadable', async (_, reference, entry) => {
  const { journal, list, old } = await setup();
  const open = async function* () {
    yield { reference, entry };
    yield* journal.open();
  };
  const mixed = { ...journal, open: open as FullOpen };
  const listed = await list({ journal: mixed });
  expect(listed.map(({ state }) => state)).toEqual([
    'sending',
    'ambiguous',
    'sending',
    'unreadable',
  ]);
  expect(listed.at(-1)).toEqual({ reference, state: 'unreadable' });
  const aged = await list({ journal: mixed, olderThan: 60 * minute });
  expect(referencesOf(aged)).toEqual([old.description, reference]);
});

test('`decide` and createAllOnce reject an unreadable entry without a retry', async () => {
  const { payments, sandbox } = await setup();
  const input = newInput();
  const journal: Journal = {
    ...memoryJournal(),
    read: () => Promise.resolve({ state: 'sending', started: 1, input } as never),
  };
  const resolved = payments.transfers.decide(input.description, 'not_paid', {
    journal,
    force: true,
  });
  const { unpaid } = await payments.transfers.createAllOnce([input], { journal });
  for (const error of [await failureOf(resolved, PaymentInDoubtError), unpaid[0]?.error]) {
    expect(error).toMatchObject({ reason: 'journal', retryable: false, outcome: 'unknown' });
  }
  expect(sandbox.log).toEqual([]);
});

test('listUndecided rejects if open() of the journal takes longer than totalTimeout', async () => {
  const { journal, list } = await setup();
  const open = async function* () {
    yield await new Promise<never>(() => {});
  };
  const error = await failureOf(
    list({ journal: { ...journal, open }, totalTimeout: 20 }),
    PaymentInDoubtError,
  );
  expect(error.message).toMatch(/^The journal's open did not return in time/);
});

test('listUndecided rejects when its signal is aborted', async () => {
  const { list } = await setup();
  const reason = new Error('stop');
  const error = await failureOf(list({ signal: AbortSignal.abort(reason) }), AbortError);
  expect(error.cause).toBe(reason);
});
