import { PaymentInDoubtError, PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { failureOf } from '../support/clients.ts';
import { fixedTimes, invoice as input } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/* A store that is new, perhaps because an older one was lost, searches the list before it pays. */

const hour = 3_600_000;
const day = 24 * hour;
const now = Date.UTC(2026, 10, 28, 2);

function setup(firstClaimAt?: (clock: VirtualClock) => unknown) {
  const clock = new VirtualClock(now);
  const sandbox = seedDemo(new Sandbox({ clock: () => clock.now() }));
  const seeded = sandbox.transfers.list().length;
  let asked = 0;
  /** A store that has no entry. */
  const createStore = (): Journal => {
    const store = memoryJournal({ now: () => clock.now() });
    return {
      ...store,
      searchFirst: 'first_day',
      firstClaimAt: () => {
        asked += 1;
        if (firstClaimAt === undefined) return store.firstClaimAt();
        return Promise.resolve(firstClaimAt(clock) as number | undefined);
      },
    };
  };
  const createClient = (journal = createStore()) =>
    new PaymentsClient({ ...sandbox.clientOptions, ...fixedTimes, clock, journal }).transfers;
  const count = () => ({
    asked,
    lists: sandbox.log.filter(({ operation }) => operation === 'transfers.list').length,
    made: sandbox.transfers.list().length - seeded,
  });
  return { clock, createClient, count };
}

test.each<[string, number | undefined, boolean]>([
  ['has no claim', undefined, true],
  ['has its first claim from now', now, true],
  ['has its first claim from almost a day ago', now - day + 1, true],
  ['has its first claim from a day ago', now - day, false],
  ['has its first claim from an hour later, by a clock that was ahead', now + hour, true],
  ['has claims of unknown age', 0, false],
])(
  'a store that %s (firstClaimAt: %s) searches before its claim: %s',
  async (_, firstAt, isSearched) => {
    const { createClient, count } = setup(() => firstAt);
    expect(await createClient().createOnce(input)).toMatchObject({ result: 'created' });
    expect(count()).toMatchObject({ lists: isSearched ? 1 : 0, made: 1 });
  },
);

test('createOnce finds a payment that a lost store had recorded', async () => {
  const { clock, createClient, count } = setup();
  const { id } = await createClient().createOnce(input);
  await clock.advance(30 * day);
  const transfers = createClient();
  const others = [1, 2, 3].map((number) => ({ ...input, description: `other ${number}` }));
  await transfers.createOnce(others[0] ?? input);
  await clock.advance(day - hour);
  expect(await transfers.createOnce(input)).toMatchObject({ id, result: 'found' });
  const { lists } = count();
  await clock.advance(hour);
  for (const other of others.slice(1)) await transfers.createOnce(other);
  expect(count()).toMatchObject({ lists, made: 4 });
});

test('createOnce asks a store for firstClaimAt only at its first claims', async () => {
  const { createClient, count } = setup();
  const transfers = createClient();
  for (const description of ['first', 'second', 'third', 'fourth']) {
    await transfers.createOnce({ ...input, description });
  }
  expect(count().asked).toBe(2);
});

test.each([null, '2026-11-28', Number.NaN, new Date(now)])(
  "createOnce sends nothing if the store's first claim was at %s",
  async (time) => {
    const { createClient, count } = setup(() => time);
    const error = await failureOf(createClient().createOnce(input), PaymentInDoubtError);
    expect(error).toMatchObject({ reason: 'journal', retryable: false });
    expect(count()).toMatchObject({ lists: 0, made: 0 });
  },
);
