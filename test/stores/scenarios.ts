import { PaymentsClient, PaymentInDoubtError, type OnceInput } from 'payments-platform-sdk';
import type { Journal, JournalEntry } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { describe, expect, test } from 'vitest';

/** A store, and as many journals over it as there are processes. */
export interface Store {
  open(): Journal;
}

const input: OnceInput = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
  description: '',
};
let references = 0;
/** Stores are kept from test to test; references are not used again. */
const fresh = (text = ''): OnceInput => ({
  ...input,
  description: `scenario-${String((references += 1)).padStart(4, '0')}${text}`,
});

function platform() {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  for (const name of ['Source', 'Destination']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund('acc_000001', '1000');
  return sandbox;
}

const sending = (paid: OnceInput, claimedAt: number, expiresAt: number): JournalEntry => ({
  state: 'sending',
  claimId: crypto.randomUUID(),
  claimedAt,
  expiresAt,
  input: paid,
});

/** What has to hold of every journal that this package has. */
export function scenarios(name: string, store: () => Store): void {
  describe(`a journal in ${name}`, () => {
    test('keeps what was written as it was, for whoever opens it', async () => {
      const odd = fresh(` 'quoted' "twice" \\ % $1 \u{1F4B8} 請求書`);
      const entry = sending(odd, 1, 2);
      expect(await store().open().read(odd.description)).toBeUndefined();
      expect(await store().open().swap(odd.description, undefined, entry)).toBe(true);
      expect(await store().open().read(odd.description)).toEqual(entry);
    });

    test('swaps only what is still there', async () => {
      const journal = store().open();
      const mine = fresh();
      const { description } = mine;
      const [one, other] = [sending(mine, 1, 2), sending(mine, 1, 2)];
      expect(await journal.swap(description, one, other)).toBe(false);
      expect(await journal.swap(description, one, undefined)).toBe(false);
      expect(await journal.swap(description, undefined, one)).toBe(true);
      expect(await journal.swap(description, undefined, other)).toBe(false);
      expect(await journal.swap(description, other, undefined)).toBe(false);
      expect(await journal.swap(description, one, other)).toBe(true);
      expect(await journal.read(description)).toEqual(other);
      expect(await journal.swap(description, undefined, undefined)).toBe(false);
      expect(await journal.swap(description, other, undefined)).toBe(true);
      expect(await journal.read(description)).toBeUndefined();
      expect(await journal.swap(description, undefined, undefined)).toBe(true);
    });

    test('lets one of many win', async () => {
      const mine = fresh();
      const won = await Promise.all(
        Array.from({ length: 20 }, () =>
          store()
            .open()
            .swap(mine.description, undefined, sending(mine, 1, 2)),
        ),
      );
      expect(won.filter((each) => each)).toEqual([true]);
    });

    test('tells the time in milliseconds, about as this machine', async () => {
      expect(Math.abs((await store().open().now()) - Date.now())).toBeLessThan(60_000);
    });

    test('of many callers at once one pays, and all come to know it', async () => {
      const sandbox = platform();
      const payments = new PaymentsClient(sandbox.clientOptions);
      const mine = fresh();
      const pay = () => payments.transfers.createOnce(mine, { journal: store().open() });
      const first = await Promise.allSettled(Array.from({ length: 10 }, pay));
      expect(first.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
      for (const each of first) {
        if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(PaymentInDoubtError);
      }
      const ids = new Set((await Promise.all(Array.from({ length: 10 }, pay))).map(({ id }) => id));
      expect([...ids]).toEqual(['txfr_000001']);
      expect(sandbox.transfers.list()).toHaveLength(1);
    });

    test('a claim is kept until its end, and then taken over', async () => {
      const sandbox = platform();
      const payments = new PaymentsClient(sandbox.clientOptions);
      const journal = store().open();
      const mine = fresh();
      const now = await journal.now();
      await journal.swap(mine.description, undefined, sending(mine, now, now + 400));
      const pay = () => payments.transfers.createOnce(mine, { journal, gracePeriod: 100 });
      await expect(pay()).rejects.toBeInstanceOf(PaymentInDoubtError);
      expect(sandbox.transfers.list()).toHaveLength(0);
      while ((await journal.now()) < now + 400) await new Promise((done) => setTimeout(done, 20));
      expect(await pay()).toMatchObject({ id: 'txfr_000001' });
      expect(await journal.read(mine.description)).toMatchObject({ state: 'paid' });
    });

    test('a lost answer is found, a refusal takes the claim out, and a person has the last word', async () => {
      const sandbox = platform();
      const payments = new PaymentsClient({ ...sandbox.clientOptions, journal: store().open() });
      const create = 'transfers.create';
      sandbox.faults.add({ operation: create, fault: { kind: 'status', status: 422 } });
      sandbox.faults.add({ operation: create, fault: { kind: 'reset', when: 'after_commit' } });
      const mine = fresh();
      await expect(payments.transfers.createOnce(mine)).rejects.toMatchObject({ status: 422 });
      const { id } = await payments.transfers.createOnce(mine);
      expect(sandbox.transfers.list()).toHaveLength(1);
      const other = fresh();
      await payments.transfers.resolveOnce(other.description, id);
      expect(await payments.transfers.createOnce(other)).toMatchObject({ id });
    });
  });
}
