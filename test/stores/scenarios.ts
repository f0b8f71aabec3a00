import {
  PaymentsClient,
  PaymentInDoubtError,
  type OnceInput,
  type UndecidedPayment,
} from 'payments-platform-sdk';
import {
  testJournal,
  type FullJournal,
  type JournalEntry,
  type OpenPayment,
} from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { describe, expect, test } from 'vitest';
import type { SendingEntry } from '../../src/journals/journal.ts';

/** A store, and one journal over it for each process. */
export interface Store {
  open(): FullJournal;
}

const input = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
} as const;
let references = 0;
/** Stores are shared by all tests, so each test uses new references. */
export const newInput = (suffix = ''): OnceInput => ({
  ...input,
  description: `scenario-${String((references += 1)).padStart(4, '0')}${suffix}`,
});

let platforms = 0;
const nameBaseUrl = () => `https://sandbox-${platforms}.invalid/v0`;

/**
 * A platform with two accounts, the first of them funded. Each has a base URL of its own, because
 * the tests share stores, and a store knows which transfer of a platform is whose payment.
 */
export function createPlatform(): Sandbox {
  platforms += 1;
  const sandbox = new Sandbox();
  const clientOptions = { ...sandbox.clientOptions, baseUrl: nameBaseUrl() };
  Object.defineProperty(sandbox, 'clientOptions', { value: clientOptions });
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  for (const name of ['Source', 'Destination']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund(input.sourceAccountId, '1000');
  return sandbox;
}

/** A claim of another process, on the platform that was created last. */
export const createClaim = (paid: OnceInput, fields: Partial<SendingEntry> = {}): JournalEntry => ({
  state: 'sending',
  claimId: crypto.randomUUID(),
  host: 'worker-1',
  claimedAt: 1,
  expiresAt: 2,
  firstClaimedAt: fields.claimedAt ?? 1,
  platform: nameBaseUrl(),
  input: paid,
  ...fields,
});

/** The entry of a decided payment. */
export const createPaid = (input: OnceInput, paidAt: number): JournalEntry => ({
  state: 'paid',
  transferId: `txfr_${crypto.randomUUID()}`,
  paidAt,
  platform: 'https://api.example.com/v0',
  input,
});

/** The open payments with references that start so. */
export async function collectOpen(journal: FullJournal, start: string): Promise<OpenPayment[]> {
  const payments: OpenPayment[] = [];
  for await (const payment of journal.open()) {
    if (payment.reference.startsWith(start)) payments.push(payment);
  }
  return payments;
}

/** The undecided payments of one reference. */
async function listUndecided(
  { listUndecided: list }: PaymentsClient['transfers'],
  reference: string,
  olderThan?: number,
): Promise<UndecidedPayment[]> {
  const payments: UndecidedPayment[] = [];
  for await (const each of list({ olderThan })) {
    if (each.reference === reference) payments.push(each);
  }
  return payments;
}

/** The contract of every journal of this package. */
export function scenarios(name: string, store: () => Store): void {
  describe(`a journal in ${name}`, () => {
    test('passes testJournal', async () => {
      await testJournal(() => store().open());
    });

    test('createOnce pays once for ten concurrent callers', async () => {
      const sandbox = createPlatform();
      const payments = new PaymentsClient(sandbox.clientOptions);
      const mine = newInput();
      const pay = () => payments.transfers.createOnce(mine, { journal: store().open() });
      const first = await Promise.allSettled(Array.from({ length: 10 }, pay));
      expect(first.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
      const errors = first.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      expect(errors.filter((error) => !(error instanceof PaymentInDoubtError))).toEqual([]);
      const ids = new Set((await Promise.all(Array.from({ length: 10 }, pay))).map(({ id }) => id));
      expect([...ids]).toEqual(['txfr_000001']);
      expect(sandbox.transfers.list()).toHaveLength(1);
    });

    test('createOnce pays for a foreign claim only after the claim expires', async () => {
      const sandbox = createPlatform();
      const payments = new PaymentsClient(sandbox.clientOptions);
      const journal = store().open();
      const mine = newInput();
      const now = await journal.now(mine.description);
      const expiresAt = now + 400;
      const claim = createClaim(mine, { claimedAt: now, firstClaimedAt: now, expiresAt });
      await journal.swap(mine.description, undefined, claim);
      const pay = () => payments.transfers.createOnce(mine, { journal, gracePeriod: 100 });
      await expect(pay()).rejects.toBeInstanceOf(PaymentInDoubtError);
      expect(sandbox.transfers.list()).toHaveLength(0);
      await expect.poll(() => journal.now(mine.description)).toBeGreaterThan(expiresAt);
      expect(await pay()).toMatchObject({ id: 'txfr_000001' });
      expect(await journal.read(mine.description)).toMatchObject({ state: 'paid' });
    });

    test('createOnce pays once after a rejection and a lost response', async () => {
      const sandbox = createPlatform();
      const payments = new PaymentsClient({ ...sandbox.clientOptions, journal: store().open() });
      const operation = 'transfers.create';
      sandbox.faults.add({ operation, fault: { kind: 'status', status: 422 } });
      sandbox.faults.add({ operation, fault: { kind: 'reset', when: 'after_commit' } });
      const mine = newInput();
      await expect(payments.transfers.createOnce(mine)).rejects.toMatchObject({ status: 422 });
      expect(await payments.transfers.createOnce(mine)).toMatchObject({ id: 'txfr_000001' });
      expect(sandbox.transfers.list()).toHaveLength(1);
    });

    test.each([
      ['is in doubt', 'sending'],
      ['is ambiguous', 'ambiguous'],
    ] as const)(
      'after not_paid, listUndecided dates a payment that %s by its next claim',
      async (_, state) => {
        const sandbox = createPlatform();
        const journal = store().open();
        const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
        const mine = newInput();
        await journal.swap(mine.description, undefined, createClaim(mine));
        await transfers.decide(mine.description, 'not_paid', { by: 'ada' });
        expect(await listUndecided(transfers, mine.description)).toEqual([]);
        const similar = { ...mine, description: `Payroll ${mine.description}` };
        if (state === 'ambiguous') await transfers.create(similar);
        const fault = { kind: 'reset', when: 'before_commit' } as const;
        sandbox.faults.add({ operation: 'transfers.create', fault });
        const paid = transfers.createOnce(mine);
        await expect(paid).rejects.toBeInstanceOf(PaymentInDoubtError);
        const [listed, ...others] = await listUndecided(transfers, mine.description);
        expect(listed).toMatchObject({ state, firstClaimedAt: listed?.claimedAt });
        expect(others).toEqual([]);
        // The claim before the decision is from 1970.
        expect(await listUndecided(transfers, mine.description, 60_000)).toEqual([]);
      },
    );

    test('listUndecided dates a payment by its first claim despite a takeover', async () => {
      const sandbox = createPlatform();
      const journal = store().open();
      const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
      const mine = newInput();
      const claimedAt = (await journal.now(mine.description)) - 21 * 60_000;
      const times = { claimedAt, expiresAt: claimedAt + 17 * 60_000 };
      await journal.swap(mine.description, undefined, createClaim(mine, times));
      const fault = { kind: 'reset', when: 'before_commit' } as const;
      sandbox.faults.add({ operation: 'transfers.create', fault });
      await expect(transfers.createOnce(mine)).rejects.toBeInstanceOf(PaymentInDoubtError);
      const [listed] = await listUndecided(transfers, mine.description, 20 * 60_000);
      expect(listed?.firstClaimedAt).toBe(new Date(claimedAt).toISOString());
      expect(Date.parse(listed?.claimedAt ?? '')).toBeGreaterThan(claimedAt + 20 * 60_000);
    });

    test('decide records the transfer that an operator names', async () => {
      const sandbox = createPlatform();
      const journal = store().open();
      const payments = new PaymentsClient({ ...sandbox.clientOptions, journal });
      const mine = newInput();
      const { id } = await payments.transfers.create(mine);
      await journal.swap(mine.description, undefined, createClaim(mine));
      await payments.transfers.decide(mine.description, id);
      expect(await payments.transfers.createOnce(mine)).toMatchObject({ id });
      expect(sandbox.transfers.list()).toHaveLength(1);
    });

    test('decide records a transfer for a reference that has no entry', async () => {
      const sandbox = createPlatform();
      const journal = store().open();
      const payments = new PaymentsClient({ ...sandbox.clientOptions, journal });
      const mine = newInput();
      const { id } = await payments.transfers.create(mine);
      await payments.transfers.decide(mine.description, id);
      expect(await payments.transfers.createOnce(mine)).toMatchObject({ id, result: 'recorded' });
      expect(await journal.find(nameBaseUrl(), id)).toBe(mine.description);
    });

    test('decide rejects a transfer that another reference already holds', async () => {
      const sandbox = createPlatform();
      const journal = store().open();
      const payments = new PaymentsClient({ ...sandbox.clientOptions, journal });
      const mine = newInput();
      const other = { ...input, description: `${mine.description}-b` };
      const { id } = await payments.transfers.createOnce(other);
      const claim = createClaim(mine);
      await journal.swap(mine.description, undefined, claim);
      const resolved = payments.transfers.decide(mine.description, id);
      await expect(resolved).rejects.toMatchObject({ reason: 'conflict' });
      expect(await journal.read(mine.description)).toEqual(claim);
    });

    test('journal.open lists 1,890 open payments and prune deletes 210 paid ones', async () => {
      const journal = store().open();
      const start = newInput().description;
      const references = Array.from({ length: 2_100 }, (_, index) => `${start} ${index}`);
      const isOpen = (_: string, index: number) => index % 10 > 0;
      const write = (reference: string, index: number) => {
        const mine = { ...input, description: reference };
        const entry = isOpen(reference, index) ? createClaim(mine) : createPaid(mine, 3);
        return journal.swap(reference, undefined, entry);
      };
      expect(await Promise.all(references.map(write))).not.toContain(false);
      const listed = (await collectOpen(journal, start)).map(({ reference }) => reference);
      expect(listed.toSorted()).toEqual(references.filter(isOpen).toSorted());
      const paidBefore = new Date(1_000);
      const counts = [
        await journal.prune({ paidBefore, keepReferences: true }),
        await journal.prune({ paidBefore, keepReferences: true }),
      ];
      expect(counts).toEqual([expect.toSatisfy((count) => count >= 210), 0]);
      expect((await journal.read(`${start} 0`))?.input).toEqual({ description: `${start} 0` });
      await journal.prune({ paidBefore });
      const paid = references.filter((each, index) => !isOpen(each, index));
      const reads = await Promise.all(paid.map((reference) => journal.read(reference)));
      expect(reads.filter((entry) => entry !== undefined)).toEqual([]);
    });

    test('a payment is paid once although journal.prune has dropped its terms', async () => {
      const sandbox = createPlatform();
      const { baseUrl } = sandbox.clientOptions;
      const journal = store().open();
      const { transfers } = new PaymentsClient({ ...sandbox.clientOptions, journal });
      const mine = newInput();
      const { id } = await transfers.createOnce(mine);
      const entry = await journal.read(mine.description);
      const paidBefore = new Date((await journal.now(mine.description)) + 60_000);
      await journal.prune({ paidBefore, keepReferences: true });
      const { description } = mine;
      expect(await journal.read(description)).toEqual({ ...entry, input: { description } });
      expect(await journal.find(baseUrl, id)).toBe(description);
      expect(await transfers.createOnce(mine)).toMatchObject({ id, result: 'recorded' });
      const others = { ...mine, amount: '12.51' };
      await expect(transfers.createOnce(others)).rejects.toMatchObject({ reason: 'conflict' });
      expect(sandbox.transfers.list()).toHaveLength(1);
    });

    test('journal.prune rejects an invalid date and deletes nothing', async () => {
      const mine = newInput();
      const journal = store().open();
      await journal.swap(mine.description, undefined, createPaid(mine, 3));
      const pruned = journal.prune({ paidBefore: new Date('yesterday') });
      await expect(pruned).rejects.toThrow('paidBefore is not a valid date');
      expect(await journal.read(mine.description)).toBeDefined();
    });
  });
}
