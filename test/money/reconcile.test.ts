import {
  AbortError,
  ApiError,
  isOutcomeUnknown,
  PaymentsClient,
  ValidationError,
  type ReconcileOptions,
  type Transfer,
  type TransferCreateInput,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test, vi } from 'vitest';
import { failureOf, clientOf } from '../support/clients.ts';
import { newTransfer, page, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { whichFail } from '../support/which-fail.ts';
import { createAccounts } from '../support/platform.ts';

const since = '2026-01-01T00:00:00.000Z';
const minutes = (count: number): string =>
  new Date(Date.parse(since) + count * 60_000).toISOString();

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A platform that lists these transfers on one page. */
function listing(...transfers: readonly object[]) {
  const { payments, requests } = clientOf(() => Response.json(page(transfers)));
  const look = (
    input: TransferCreateInput = newTransfer,
    options: Partial<ReconcileOptions> = {},
  ) => payments.transfers.reconcile(input, { since, ...options });
  return { payments, requests, look };
}
/** What reconcile returns if the platform lists these transfers. */
const resultOf = async (
  listed: readonly object[],
  ...search: Parameters<ReturnType<typeof listing>['look']>
) => (await listing(...listed).look(...search)).result;
/** A transfer that `newTransfer` could have made a minute after `since`. */
const match = { ...transfer, createdAt: minutes(1) };
/** A payment with a reference, and the transfer that it could have made. */
const invoice = { ...newTransfer, description: 'Invoice 7' };
const invoiceMatch = { ...match, description: 'Invoice 7' };
const found = (one: object | undefined) => ({ result: 'found', transfer: one });
const ambiguous = (...candidates: object[]) => ({ result: 'ambiguous', candidates });

/** A platform with two accounts and some transfers between them. */
function setup(): Sandbox {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 15) });
  createAccounts(sandbox);
  for (const amount of ['1.00', '2.00']) {
    sandbox.transfers.create({ ...input, amount, description: `Rent ${amount}` });
  }
  return sandbox;
}
const input: TransferCreateInput = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
  description: 'Invoice 7',
};

test.each(['after_commit', 'before_commit'] as const)(
  'reconcile after a reset %s only reads the list',
  async (when) => {
    const sandbox = setup();
    const clock = new VirtualClock(Date.UTC(2026, 0, 15));
    const payments = new PaymentsClient({ ...sandbox.clientOptions, clock });
    const before = sandbox.transfers.list().length;
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when } });
    const error = await failureOf(payments.transfers.create(input));
    expect(isOutcomeUnknown(error)).toBe(true);
    const { startedAt = '' } = error;
    const response = await payments.transfers.reconcile(input, { since: startedAt });
    expect(response).toEqual(
      when === 'after_commit'
        ? { result: 'found', transfer: sandbox.transfers.list().at(-1) }
        : { result: 'not_found', scanned: before },
    );
    expect(sandbox.transfers.list()).toHaveLength(before + (when === 'after_commit' ? 1 : 0));
    expect(sandbox.log.map(({ method }) => method)).toEqual(['POST', 'GET']);
  },
);

test('error.startedAt is the time of the first attempt', async () => {
  const sandbox = setup();
  const start = Date.UTC(2026, 0, 15);
  const clock = new VirtualClock(start);
  const payments = new PaymentsClient({ ...sandbox.clientOptions, clock });
  const operation = 'transfers.create';
  sandbox.faults.add({ operation, fault: { kind: 'status', status: 429, retryAfter: 30 } });
  sandbox.faults.add({ operation, fault: { kind: 'reset', when: 'after_commit' } });
  const error = await failureOf(clock.runTimersDuring(payments.transfers.create(input)));
  expect(error.attempts).toHaveLength(2);
  expect(error.startedAt).toBe(new Date(start).toISOString());
});

test('reconcile finds a payment listed by a node whose clock is behind', async () => {
  const now = Date.parse(minutes(30));
  const slow = new Date(now - 20 * 60_000).toUTCString();
  const right = new Date(now).toUTCString();
  const late = { ...invoiceMatch, createdAt: minutes(-18) };
  const { payments } = clientOf(
    (request) =>
      request.url.includes('cursor=')
        ? Response.json(page([]), { headers: { date: right } })
        : Response.json(
            { data: [late], hasMore: true, nextCursor: 'next' },
            { headers: { date: slow } },
          ),
    { clock: new VirtualClock(now) },
  );
  expect(await payments.transfers.reconcile(invoice, { since: minutes(1) })).toEqual(found(late));
});

test('reconcile returns ambiguous if two listed transfers match the payment', async () => {
  const twin = { ...match, id: 'txfr_2', createdAt: minutes(2) };
  const { look } = listing(match, { ...match, id: 'txfr_3', amount: '99' }, twin);
  const response = await look();
  expect(response).toMatchObject({ result: 'ambiguous' });
  expect(response).toHaveProperty('candidates', [match, twin]);
});

test('reconcile finds an exact match beside a transfer with unreadable amount', async () => {
  const unreadable = { ...invoiceMatch, id: 'txfr_2', amount: '12,5O' };
  expect(await listing(unreadable, invoiceMatch).look(invoice)).toEqual(found(invoiceMatch));
});

test('reconcile names certain matches and one that may be too old', async () => {
  const early = { ...match, id: 'txfr_3', createdAt: minutes(-1.5) };
  expect(await listing(match, { ...match, id: 'txfr_2' }, early).look()).toMatchObject({
    result: 'ambiguous',
    candidates: { length: 3 },
  });
});

test('reconcile returns ambiguous if its only match may be too old', async () => {
  const early = { ...match, createdAt: minutes(-1.5) };
  expect(await listing(early).look()).toEqual(ambiguous(early));
  // A doubtful match also makes a certain match ambiguous.
  const twin = { ...match, id: 'txfr_2' };
  expect(await listing(early, twin).look()).toEqual(ambiguous(twin, early));
});

test('reconcile finds an equal reference up to two minutes before `since`', async () => {
  // The platform may leave out fractions of a second, or its clock may be behind.
  for (const age of [-0.001, -1.9, -2]) {
    const early = { ...invoiceMatch, createdAt: minutes(age) };
    expect(await listing(early).look(invoice)).toEqual(found(early));
    const twin = { ...invoiceMatch, id: 'txfr_2' };
    expect(await resultOf([early, twin], invoice)).toBe('ambiguous');
  }
  const older = { ...invoiceMatch, createdAt: minutes(-2.1) };
  expect(await listing(older).look(invoice)).toEqual({ result: 'not_found', scanned: 1 });
});

test('reconcile ignores a match older than `since` by more than clockSkew', async () => {
  const { look } = listing({ ...match, createdAt: minutes(-2.1) });
  expect(await look()).toEqual({ result: 'not_found', scanned: 1 });
});

test('the option clockSkew of reconcile sets how far clocks may differ', async () => {
  const atOnce = { ...match, createdAt: since };
  const tenMinutesEarly = { ...match, createdAt: minutes(-10) };
  const justBefore = { ...match, createdAt: '2025-12-31T23:59:59.999Z' };
  expect(await resultOf([atOnce], newTransfer, { clockSkew: 0 })).toBe('found');
  expect(await resultOf([justBefore], newTransfer, { clockSkew: 0 })).toBe('not_found');
  expect(await resultOf([tenMinutesEarly], newTransfer, { clockSkew: 600_000 })).toBe('ambiguous');
});

test.each([3, 600])('reconcile tolerates a clock that is %i minutes ahead', async (ahead) => {
  const now = Date.parse(since) + 5 * 60_000;
  const setup = (age: number, date: string) =>
    clientOf(
      () =>
        Response.json(page([{ ...invoiceMatch, createdAt: minutes(age) }]), { headers: { date } }),
      { clock: { now: () => now, setTimeout, clearTimeout } },
    ).payments.transfers;
  const theirs = new Date(now - ahead * 60_000).toUTCString();
  const late = setup(-ahead - 1, theirs);
  expect(await late.reconcile(invoice, { since })).toMatchObject({ result: 'found' });
  const older = setup(-ahead - 2.1, theirs);
  expect(await older.reconcile(invoice, { since })).toMatchObject({ result: 'not_found' });
  for (const date of [new Date(now + ahead * 60_000).toUTCString(), 'soon', '']) {
    const agreed = setup(-ahead - 1, date);
    expect(await agreed.reconcile(invoice, { since })).toMatchObject({ result: 'not_found' });
  }
});

test('reconcile treats a createdAt without fractions as the whole second', async () => {
  const options = { since: '2026-01-01T00:00:00.400Z', clockSkew: 0 };
  const whole = { ...invoiceMatch, createdAt: '2026-01-01T00:00:00Z' };
  expect(await resultOf([whole], invoice, options)).toBe('found');
  // Without a reference an earlier transfer cannot be excluded.
  const bare = listing({ ...whole, description: null });
  expect(await bare.look(newTransfer, options)).toMatchObject({ result: 'ambiguous' });
  for (const createdAt of ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00Z']) {
    expect(await resultOf([{ ...whole, createdAt }], invoice, options)).toBe('found');
  }
  const exact = { ...whole, createdAt: '2026-01-01T00:00:00.399Z' };
  expect(await resultOf([exact], invoice, options)).toBe('not_found');
});

test('reconcile returns ambiguous for a similar description unless another is exact', async () => {
  const foreign = { ...match, id: 'txfr_2', description: 'word 7, '.repeat(20_000) };
  expect(await listing(foreign, invoiceMatch).look(invoice)).toEqual(found(invoiceMatch));
  expect(await resultOf([foreign], invoice)).toBe('ambiguous');
  expect(await resultOf([invoiceMatch], { ...invoice, description: foreign.description })).toBe(
    'ambiguous',
  );
});

const manyA = 'a'.repeat(150_000);
test.each<[string, string, string]>([
  ['words', 'ab', 'xab '.repeat(250_000)],
  ['letters that repeat', `${manyA}b${manyA}`, 'a'.repeat(1_000_000)],
  ['accents', 'Invoice 7', `a${'\u0301\u0327'.repeat(200_000)}`],
  ['accents and another amount', 'Invoice 7', `a${'\u0301\u0327'.repeat(499)}`],
])('reconcile compares very many %s in linear time', async (_, description, listed) => {
  const { look } = listing(
    { ...match, description: listed },
    { ...match, id: 'txfr_2', description: listed, amount: '99' },
  );
  // Quadratic time would exceed the time limit of a test.
  const response = await look({ ...newTransfer, description });
  expect(response.result).toBe(listed.length > 1_000 ? 'ambiguous' : 'not_found');
});

test('reconcile compares an amount of very many zeros in linear time', async () => {
  const zeros = '0'.repeat(400_000);
  expect(await resultOf([{ ...match, amount: `12.5${zeros}` }])).toBe('found');
  expect(await resultOf([{ ...match, amount: `12.5${zeros}1` }])).toBe('not_found');
});

test('reconcile counts two transfers without an id as two matches', async () => {
  const nameless = { ...match, id: '' };
  const { look } = listing(nameless, { ...nameless, createdAt: minutes(4) });
  expect(await look()).toMatchObject({ result: 'ambiguous', candidates: [{ id: '' }, { id: '' }] });
});

test('reconcile returns ambiguous if a description is only punctuation', async () => {
  const bare = { ...match, description: null };
  const other = { ...match, id: 'txfr_2', amount: '99', description: 'Rent' };
  const { look } = listing(bare, other);
  expect(await look({ ...newTransfer, description: '- - -' })).toMatchObject(ambiguous(bare));
});

test('reconcile measures the clock difference when the response arrives', async () => {
  const clock = new VirtualClock(Date.parse(since) + 300_000);
  const older = { ...invoiceMatch, createdAt: minutes(-10) };
  const other = { ...older, id: 'txfr_2', description: 'Invoice 8' };
  const { payments, requests } = clientOf(
    async () => {
      // The second response takes longer than the clock difference, and the first has no Date.
      if (requests.length === 1) return Response.json(page([older], 'next'));
      await clock.advance(20_000);
      const date = new Date(clock.now() - 12 * 60_000).toUTCString();
      return Response.json(page([other]), { headers: { date } });
    },
    { clock },
  );
  expect(await payments.transfers.reconcile(invoice, { since, clockSkew: 0 })).toEqual(
    found(older),
  );
});

test('reconcile finds a transfer that is listed twice, once without description', async () => {
  const bare = { ...match, description: null };
  for (const list of [listing(bare, invoiceMatch), listing(invoiceMatch, bare)]) {
    expect(await list.look(invoice)).toEqual(found(invoiceMatch));
  }
});

test('reconcile returns ambiguous if the match has an unreadable createdAt', async () => {
  const { look } = listing({ ...match, createdAt: 'yesterday' });
  expect(await look()).toMatchObject({ result: 'ambiguous' });
});

test.each(['UTC', 'Asia/Tokyo', 'America/New_York'])(
  'reconcile in %s reads a createdAt without an offset as UTC',
  async (zone) => {
    vi.stubEnv('TZ', zone);
    const ours = { ...match, createdAt: minutes(1).replace('Z', '') };
    expect(await resultOf([ours])).toBe('found');
    const older = { ...match, createdAt: minutes(-60).replace('Z', '') };
    expect(await resultOf([older])).toBe('not_found');
  },
);

test.each([
  '2026-01-01',
  '01/01/2026 00:01',
  'Thu, 01 Jan 2026 00:01:00',
  '2025-12-31T16:01:00 -08:00',
  '2025-12-31T16:01:00 PST',
  'UTC-8 2025-12-31T16:01:00',
])('reconcile returns ambiguous if the match has the createdAt %s', async (createdAt) => {
  expect(await resultOf([{ ...match, createdAt }])).toBe('ambiguous');
});

test.each<[string, Partial<TransferCreateInput>, object]>([
  ['white space was taken off', { description: ' Invoice  7' }, { description: 'Invoice 7' }],
  ['lower case became capitals', { description: 'Invoice 7' }, { description: 'INVOICE 7' }],
  ['a letter joined its accent', { description: 'Zu\u0308rich' }, { description: 'Z\u00fcrich' }],
  ['punctuation became a space', { description: 'Invoice/7' }, { description: 'INVOICE 7' }],
  ['punctuation was removed', { description: 'INV-4711' }, { description: 'INV4711' }],
  ['a space was inserted', { description: 'inv4711' }, { description: 'INV 4711' }],
  ['a letter has no capital', { description: 'Straße 7' }, { description: 'STRASSE 7' }],
  ['a letter has two small forms', { description: 'İnvoice 7' }, { description: 'INVOICE 7' }],
  ['accents were taken off', { description: 'Café 7' }, { description: 'CAFE 7' }],
  ['the beginning was cut off', { description: 'Invoice 4711' }, { description: '4711' }],
  ['the beginning is masked', { description: 'Invoice 4711' }, { description: '*********711' }],
  ['all but the last character is masked', { description: 'INV-42' }, { description: '██2' }],
  ['a letter ends a word', { description: 'ΜΙΣΘΟΣ ΜΑΙΟΣ' }, { description: 'μισθος.μαιος' }],
  ['a capital has no small form', { description: 'STRASSE 7' }, { description: 'STRAẞE 7' }],
  ['a word was added before a sign', { description: '🎉' }, { description: 'Party 🎉' }],
  ['the end is left out', { description: 'Invoice 4711' }, { description: 'Invoice 47…' }],
  ['the middle is shown', { description: 'Re: invoice 7, June' }, { description: '...voice 7...' }],
  ['no punctuation, and a word more', { description: 'INV-7/2' }, { description: 'pay INV72' }],
  ['punctuation was replaced', { description: '---' }, { description: '!' }],
  ['the end was cut off', { description: 'Invoice 7, June' }, { description: 'Invoice 7, J...' }],
  ['cut off after a number', { description: 'Invoice 12, June' }, { description: 'Invoice 12' }],
  ['the end was cut off before a number', { description: 'Ref A12345' }, { description: 'Ref A' }],
  ['a similar word in front', { description: 'abacabad' }, { description: 'abacab abacabad' }],
  ['only asterisks are shown', { description: 'Invoice 7' }, { description: '*****' }],
  ['cut off between two numbers', { description: 'INV-2026-4711' }, { description: 'INV-2026' }],
  [
    'the end was cut off at a hyphen',
    { description: 'efa3520c-2d21-40a5-8eb1-0a65af9075fc' },
    { description: 'efa3520c-2d21-40a5' },
  ],
  ['punctuation became spaces', { description: 'A&4711;B' }, { description: 'A 4711 B' }],
  ['a word, and no spaces', { description: 'invoice 4711' }, { description: 'Paymentinvoice4711' }],
  ['words stand at both ends', { description: 'INV-4711' }, { description: 'REFINV4711EUR' }],
  ['a word, and accents', { description: 'Ref-Müller-15' }, { description: 'PAYMENTRefMüller15' }],
  ['signs are written as in HTML', { description: 'R&D 4711' }, { description: 'R&amp;D 4711' }],
  ['the amount has its unit behind it', {}, { amount: '12.50 USDC' }],
  ['the amount is cut off', { description: 'Inv. 7' }, { amount: '12', description: 'INV 7' }],
  ['the description is half a word', { description: 'Rent' }, { description: 'Parent' }],
  ['the number has more digits', { description: 'No. 1' }, { description: 'No. 10' }],
  ['the number has fewer digits', { description: 'No. 10' }, { description: 'No. 1' }],
  ['the number is the end of the reference', { description: 'No. 4711' }, { description: '711' }],
  ['a word stands in place of a sign', { description: '🎉' }, { description: 'Party' }],
  ['the amount is another', { description: 'Inv. 7' }, { amount: '99' }],
  ['the amount is in cents', { description: 'Inv. 7' }, { amount: '1250' }],
  ['the amount is less by a fee', { description: 'Inv. 7' }, { amount: '12.40' }],
  ['the currency is a symbol', { description: 'Inv. 7' }, { currency: '€' }],
  ['the currency is shorter', {}, { currency: 'USD' }],
  ['the currency has another name', { description: 'Inv. 7' }, { currency: 'USD' }],
  ['the source is in capitals', {}, { sourceAccountId: 'ACC_1' }],
  ['the destination is in capitals', {}, { destinationAccountId: 'ACC_2' }],
  ['words were added', { description: 'Invoice/7' }, { description: 'Pay invoice 7, thanks' }],
  ['no destination is shown', {}, { counterpartyId: null, destinationAccountId: undefined }],
  ['an empty destination is shown', {}, { counterpartyId: '', destinationAccountId: '' }],
  ['a counterparty is shown besides', {}, { counterpartyId: 'cpty_1' }],
  ['no source is shown', {}, { sourceAccountId: '' }],
  ['no currency is shown', {}, { currency: '' }],
  ['the amount is written in an unknown way', {}, { amount: '-12.50' }],
])('reconcile returns ambiguous for a listed payment where %s', async (_, changes, listed) => {
  const input = { ...newTransfer, ...changes } as TransferCreateInput;
  const seen = { ...match, description: input.description, ...listed };
  expect(await resultOf([seen], input)).toBe('ambiguous');
  const { amount, currency = match.currency, description } = input;
  const certain = { ...match, id: 'txfr_2', amount, currency, description };
  const both = await listing(seen, certain).look(input);
  if (
    input.description !== undefined &&
    (seen.description !== input.description || seen.amount !== input.amount)
  ) {
    // The platform kept this description, so it would have kept that of `seen` if that were ours.
    expect(both).toEqual(found(certain));
  } else {
    // A complete match is still not the only candidate.
    expect(both).toMatchObject({ result: 'ambiguous', candidates: { length: 2 } });
  }
});

test('reconcile finds the exact reference among others with its prefix', async () => {
  const paid = ['INV-17', 'INV-17-2', 'INV-17 R2', 'INV-170', 'inv-17', 'INV-'];
  const rows = paid.map((description, at) => ({ ...match, id: `txfr_${at}`, description }));
  for (const [at, description] of paid.slice(0, 4).entries()) {
    const { look } = listing(...rows);
    expect(await look({ ...newTransfer, description }), description).toEqual(found(rows[at]));
  }
  const input = { ...newTransfer, description: 'INV-17' };
  // Without an exact match each of the others is a candidate.
  expect(await resultOf(rows.slice(1), input)).toBe('ambiguous');
  // A description with further differences may still be the one that was sent.
  const odd = { ...match, id: 'txfr_9', description: 'INV-17', currency: 'USD' };
  expect(await resultOf([...rows, odd], input)).toBe('ambiguous');
});

test('reconcile returns ambiguous if the Date header is weeks behind', async () => {
  const clock = new VirtualClock(Date.parse('2026-01-10T00:00:00Z'));
  const lastMonth = { ...match, description: 'Rent', createdAt: '2025-12-10T00:00:00Z' };
  for (const date of ['Thu, 01 Jan 1970 00:00:00 GMT', 'Sun, 30 Nov 2025 00:00:00 GMT']) {
    const { payments } = clientOf(() => Response.json(page([lastMonth]), { headers: { date } }), {
      clock,
    });
    const input = { ...newTransfer, description: 'Rent' };
    expect(await payments.transfers.reconcile(input, { since: '2026-01-09T23:59:00Z' })).toEqual(
      ambiguous(lastMonth),
    );
  }
});

test.each([' Invoice 7\n', 'Invoice  7', 'invoice 7', 'Invoice-7', 'Invöice 7'])(
  'reconcile returns ambiguous if only case, accents, punctuation or spaces differ: %j',
  async (description) => {
    const input = { ...newTransfer, description };
    expect(await resultOf([invoiceMatch], input)).toBe('ambiguous');
    // A transfer with another amount is ambiguous, too.
    const rounded = { ...invoiceMatch, amount: '13' };
    expect(await resultOf([rounded], input)).toBe('ambiguous');
  },
);

test('reconcile returns ambiguous if the listed description is cut', async () => {
  const description = 'Payout 550e8400-e29b-41d4';
  const whole = { ...match, id: 'txfr_2', description };
  for (let length = 1; length < description.length; length += 1) {
    for (const part of [description.slice(0, length), description.slice(length)]) {
      const cut = { ...match, description: part };
      const input = { ...newTransfer, description };
      expect(await resultOf([cut], input), part).toBe('ambiguous');
      expect(await listing(cut, whole).look(input)).toEqual(found(whole));
    }
  }
});

test.each([undefined, null, ''])(
  'reconcile returns ambiguous for the listed description %j',
  async (description) => {
    const bare = { ...match, description };
    const other = { ...match, id: 'txfr_2', amount: '99', description: 'Rent' };
    for (const list of [listing(bare), listing(bare, other)]) {
      expect(await list.look(invoice)).toEqual(ambiguous(bare));
    }
    const certain = { ...match, id: 'txfr_3', description: 'Invoice 7' };
    expect(await listing(bare, certain).look(invoice)).toEqual(found(certain));
  },
);

test('reconcile without `since` never ignores a transfer because of its age', async () => {
  const old = { ...match, createdAt: minutes(-1_000_000) };
  const { payments } = listing(old);
  expect(await payments.transfers.reconcile(newTransfer)).toEqual(ambiguous(old));
  // The startedAt of a failed search is passed on as since.
  const error = await failureOf(
    payments.transfers.reconcile(newTransfer, { clockSkew: -1 }),
    ValidationError,
  );
  const since1970 = { since: error.startedAt };
  expect(await payments.transfers.reconcile(newTransfer, since1970)).toMatchObject({
    result: 'ambiguous',
  });
  const described = { ...old, description: 'Invoice 7' };
  const { payments: again, look } = listing(described);
  expect(await again.transfers.reconcile(invoice)).toEqual(found(described));
  expect(await look(invoice)).toMatchObject({ result: 'not_found' });
  const other = { ...invoice, description: 'Invoice 8' };
  expect(await again.transfers.reconcile(other)).toEqual({ result: 'not_found', scanned: 1 });
});

test('reconcile does not distinguish upper and lower case in a currency', async () => {
  const input = { ...newTransfer, currency: match.currency.toLowerCase() };
  expect(await resultOf([match], input)).toBe('found');
});

test.each(['id', 'sourceAccountId', 'amount', 'currency', 'createdAt', 'description'])(
  'reconcile (validation: report) returns ambiguous for an unreadable %s',
  async (field) => {
    const odd = { ...match, [field]: 1 };
    const { payments } = clientOf(() => Response.json(page([odd])), { validation: 'report' });
    expect(await payments.transfers.reconcile(newTransfer, { since })).toEqual(ambiguous(odd));
    const other = { ...odd, ...(field === 'amount' ? { currency: 'EUR' } : { amount: '99' }) };
    const { payments: again } = clientOf(() => Response.json(page([other])), {
      validation: 'report',
    });
    expect(await again.transfers.reconcile(newTransfer, { since })).toMatchObject({
      result: 'not_found',
    });
  },
);

test.each<[object]>([[{ id: 'acc_2' }], [['acc_2']], [{ toString: 1 }]])(
  'reconcile (validation: report) returns ambiguous if a field is %j',
  async (odd) => {
    for (const field of ['destinationAccountId', 'createdAt']) {
      const { payments } = clientOf(() => Response.json(page([{ ...match, [field]: odd }])), {
        validation: 'report',
      });
      const response = await payments.transfers.reconcile(newTransfer, { since });
      expect(response.result).toBe('ambiguous');
    }
  },
);

test('reconcile (validation: report) rejects as unknown if an item is no transfer', async () => {
  const { payments } = clientOf(() => Response.json(page([null])), { validation: 'report' });
  const error = await failureOf(payments.transfers.reconcile(newTransfer, { since }));
  expect(error).toMatchObject({ outcome: 'unknown', retryable: false, startedAt: since });
  expect(error.message).toContain('still in doubt');
});

test('reconcile returns ambiguous if its only match is an incoming transfer', async () => {
  const arriving = { ...match, id: 'txfr_9', direction: 'incoming' };
  expect(await listing(arriving, match).look()).toEqual(found(match));
  expect(await listing(arriving).look()).toEqual(ambiguous(arriving));
  const other = { ...arriving, amount: '99' };
  expect(await resultOf([other])).toBe('not_found');
  const old = { ...arriving, createdAt: minutes(-10) };
  expect(await resultOf([old])).toBe('not_found');
  // Both sides have one id, in either order.
  const side = { ...arriving, id: match.id };
  for (const both of [listing(side, match), listing(match, side)]) {
    expect(await both.look()).toEqual(found(match));
  }
});

test('reconcile (validation: report) rejects as unknown if a page lacks hasMore', async () => {
  const body = { data: [{ ...match, amount: '99' }], nextCursor: 'onwards' };
  const { payments, requests } = clientOf(() => Response.json(body), { validation: 'report' });
  const error = await failureOf(payments.transfers.reconcile(newTransfer, { since }));
  expect(error).toMatchObject({ name: 'InvalidResponseError', outcome: 'unknown' });
  expect(requests).toHaveLength(1);
});

test('reconcile names every possible match as a candidate, including incoming transfers', async () => {
  const input = { ...newTransfer, description: 'INV-4711' };
  const arriving = { ...match, id: 'txfr_9', direction: 'incoming', description: 'INV-4711' };
  const other = { ...match, id: 'txfr_8', description: 'INV-4711 B' };
  const side = { ...other, direction: 'incoming' };
  expect(await listing(arriving, other, side).look(input)).toEqual(ambiguous(other, arriving));
});

/** A platform that returns other pages for each scan. */
function moving(...scans: readonly (readonly (readonly object[])[])[]) {
  let scan = -1;
  const { payments, requests } = clientOf((request) => {
    const cursor = new URL(request.url).searchParams.get('cursor');
    if (cursor === null) scan += 1;
    const pages = scans[Math.min(scan, scans.length - 1)] ?? [];
    const at = Number(cursor ?? 0);
    return Response.json(page(pages[at] ?? [], at + 1 < pages.length ? String(at + 1) : null));
  });
  return { requests, look: () => payments.transfers.reconcile(newTransfer, { since }) };
}
const [a, b, c, d] = ['txfr_2', 'txfr_3', 'txfr_4', 'txfr_5'].map((id) => ({
  ...match,
  id,
  amount: '99',
})) as [object, object, object, object];

test('reconcile scans a changed list again before it returns not_found', async () => {
  // The list is sorted by the last change, and our transfer changes after the first page was read.
  const { look, requests } = moving([[a, b], [b, c], [d]], [[match, a], [b, c], [d]]);
  expect(await look()).toEqual(found(match));
  expect(requests).toHaveLength(6);
});

test('reconcile keeps a match that its second scan does not show', async () => {
  const bare = { ...match, createdAt: minutes(-10) };
  let reading = 0;
  // Only the second scan shows the clock difference.
  const { payments } = clientOf(
    () => {
      reading += 1;
      const date = new Date(Date.parse(since) + (reading < 3 ? 0 : -600_000)).toUTCString();
      const [rows, next] = reading === 1 ? [[bare, a], 'next'] : [[a], null];
      return Response.json(page(rows, next), { headers: { date } });
    },
    { clock: new VirtualClock(Date.parse(since)) },
  );
  expect(await payments.transfers.reconcile(newTransfer, { since })).toEqual(ambiguous(bare));
});

test('reconcile rejects as unknown if three scans show different transfers', async () => {
  const { look, requests } = moving([[a, b], [c]], [[a, b], [d]], [[a], [d], [c]]);
  const error = await failureOf(look());
  expect(error).toMatchObject({ outcome: 'unknown', operation: 'transfers.reconcile' });
  expect(error.message).toContain('showed other transfers in each of 3 scans');
  expect(requests).toHaveLength(7);
});

test('reconcile reads a list of one page once, a longer list twice', async () => {
  for (const [pages, count] of [
    [[[a, b]], 1],
    [[[a], [b]], 4],
    [[[a], [a, b]], 4],
    [[[{ ...a, id: '' }], [{ ...a, id: '' }]], 4],
  ] as const) {
    const { look, requests } = moving(pages);
    expect(await look()).toEqual({ result: 'not_found', scanned: pages.flat().length });
    expect(requests).toHaveLength(count);
  }
});

test('reconcile scans again if its second scan shows fewer pages', async () => {
  const { look, requests } = moving([[a], [b]], [[a]], [[match, a], [b]]);
  expect(await look()).toEqual(found(match));
  expect(requests).toHaveLength(5);
});

test("reconcile needs only two scans although a later page's clock differs", async () => {
  const old = { ...match, id: 'txfr_old', createdAt: minutes(-5), amount: '99' };
  const { payments, requests } = clientOf(
    (request) => {
      const isFirst = new URL(request.url).searchParams.get('cursor') === null;
      const date = new Date(Date.parse(since) - (isFirst ? 0 : 600_000)).toUTCString();
      const shown = isFirst ? page([old], 'next') : page([], null);
      return Response.json(shown, { headers: { date } });
    },
    { clock: new VirtualClock(Date.parse(since)) },
  );
  const { result } = await payments.transfers.reconcile(newTransfer, { since });
  expect(result).toBe('not_found');
  expect(requests).toHaveLength(4);
});

test('reconcile does not repeat a scan that has a match', async () => {
  const { look, requests } = moving([[a, match], [match]]);
  expect(await look()).toEqual(found(match));
  expect(requests).toHaveLength(2);
});

test('reconcile rejects as unknown if its second scan fails', async () => {
  const pages = [page([a], 'next'), page([b])];
  const { payments, requests } = clientOf(() =>
    requests.length <= 2
      ? Response.json(pages[requests.length - 1])
      : Response.json({}, { status: 403 }),
  );
  const error = await failureOf(payments.transfers.reconcile(newTransfer, { since }), ApiError);
  expect(error).toMatchObject({ outcome: 'unknown', status: 403 });
});

test.each([
  ['12.5', '12.50', true],
  ['12.50', '12.5', true],
  ['12.50', '12.500000', true],
  ['12', '12.00', true],
  ['100', '100.0', true],
  ['0.10', '0.1', true],
  ['100', '1', false],
  ['10', '100', false],
  ['1.05', '1.5', false],
  ['12.5', '12.51', false],
  ['12.5', '125', false],
])('reconcile compares %s with %s by value (equal: %s)', async (amount, listed, same) => {
  const { look } = listing({ ...match, amount: listed });
  const response = await look({ ...newTransfer, amount: amount });
  expect(response.result).toBe(same ? 'found' : 'not_found');
});

const rent: TransferCreateInput = { ...newTransfer, description: 'Rent' };
const carRent = { description: 'Car rent' };
const toCounterparty: TransferCreateInput = {
  sourceAccountId: 'acc_1',
  counterpartyId: 'cpty_1',
  amount: '12.50',
};
const { destinationAccountId: _, ...withoutDestination } = match;
const listedToCounterparty = { ...withoutDestination, counterpartyId: 'cpty_1', type: 'wire' };

test.each<[string, TransferCreateInput, Partial<Transfer> | object, boolean]>([
  ['another source', newTransfer, { sourceAccountId: 'acc_9' }, false],
  ['another destination', newTransfer, { destinationAccountId: 'acc_9' }, false],
  ['a counterparty of null', newTransfer, { counterpartyId: null }, true],
  ['an empty counterparty', newTransfer, { counterpartyId: '' }, true],
  ['other payees', newTransfer, { destinationAccountId: 'acc_9', counterpartyId: 'cpty_1' }, false],
  ['another currency', newTransfer, { currency: 'EURC' }, false],
  ['the default currency, which the payment names', { ...newTransfer, currency: 'USDC' }, {}, true],
  ['the default currency, but another was paid', { ...newTransfer, currency: 'EURC' }, {}, false],
  ['the currency of the payment', { ...newTransfer, currency: 'EURC' }, { currency: 'EURC' }, true],
  ['a description, although the payment has none', newTransfer, { description: 'Rent' }, false],
  ['another description', rent, { description: 'Lease' }, false],
  ['another text, unreadable amount', rent, { description: 'Lease', amount: '12,50' }, false],
  ['a longer text, another amount', rent, { description: 'Rent for June', amount: '99' }, false],
  ['only punctuation and another amount', newTransfer, { description: '---', amount: '99' }, false],
  ['another amount and no text', rent, { amount: '99' }, false],
  ['one number in common', { ...newTransfer, description: '7/3' }, { description: '12/7' }, false],
  ['other digits', { ...newTransfer, description: 'A&4711;B' }, { description: 'A&4712;B' }, false],
  ['our first word as its last', { ...rent, description: 'Rent for June' }, carRent, false],
  ['the same description', rent, { description: 'Rent' }, true],
  ['a description of null', newTransfer, { description: null }, true],
  ['an empty description', newTransfer, { description: '' }, true],
  ['a status of failed', newTransfer, { status: 'failed' }, true],
  ['an account in place of the counterparty of the payment', toCounterparty, {}, false],
  ['the counterparty', toCounterparty, listedToCounterparty, true],
  ['another partner', toCounterparty, { ...listedToCounterparty, counterpartyId: 'cpty_2' }, false],
  ['a counterparty instead of the account', newTransfer, listedToCounterparty, false],
])('reconcile compares a listed transfer with %s', async (name, input, listed, same) => {
  const isWhole = 'type' in listed;
  const { look } = listing(isWhole ? listed : { ...match, ...listed });
  expect((await look(input)).result, name).toBe(same ? 'found' : 'not_found');
});

test('reconcile reads every page and sends no other request', async () => {
  const sandbox = setup();
  // The matching transfer is the oldest, because platforms may list in either order.
  const oldest = sandbox.transfers.create(input);
  for (let number = 0; number < 250; number += 1) {
    sandbox.transfers.create({ ...input, amount: '0.01', description: `Other ${number}` });
  }
  const payments = new PaymentsClient(sandbox.clientOptions);
  const options = { since: new Date(Date.UTC(2026, 0, 14)) };
  const before = sandbox.transfers.list();

  expect(await payments.transfers.reconcile(input, options)).toEqual(found(oldest));
  expect(sandbox.log).toHaveLength(3);
  for (const { method, path, query, body } of sandbox.log) {
    expect([method, path, body]).toEqual(['GET', '/v0/transfers', undefined]);
    expect(query).toMatchObject({ accountId: 'acc_000001', limit: '100' });
  }

  const other = { ...input, description: 'Invoice 8' };
  expect(await payments.transfers.reconcile(other, options)).toEqual({
    result: 'not_found',
    scanned: before.length,
  });
  expect(sandbox.log.map(({ method }) => method)).toEqual(Array(9).fill('GET'));
  expect(sandbox.transfers.list()).toEqual(before);
});

test('reconcile sends its headers and query with the list request', async () => {
  const { look, requests } = listing(match);
  await look(newTransfer, { headers: { 'x-team': 'treasury' }, query: { sourceId: 'acc_1' } });
  expect(requests[0]?.headers).toMatchObject({ 'x-team': 'treasury' });
  expect(new URL(requests[0]?.url ?? '').searchParams.get('sourceId')).toBe('acc_1');
});

test.each([401, 403, 404, 503])(
  'reconcile rejects as unknown if a page fails with status %i',
  async (status) => {
    const body = { error: 'No.', code: 'refused' };
    const { payments } = clientOf(() => Response.json(body, { status }));
    const error = await failureOf(
      payments.transfers.reconcile(newTransfer, { since, maxRetries: 0 }),
    );
    expect(error).toBeInstanceOf(ApiError);
    expect(isOutcomeUnknown(error)).toBe(true);
    expect(error).toMatchObject({
      operation: 'transfers.reconcile',
      retryable: false,
      startedAt: since,
      status,
    });
    for (const text of [error.message, error.stack ?? '']) {
      expect(text).toContain('still in doubt');
      expect(text).toContain(`The platform responded with ${status}`);
    }
  },
);

test('reconcile rejects as unknown if its signal is already aborted', async () => {
  const { payments } = clientOf(() => Response.json(page([])));
  const looking = payments.transfers.reconcile(newTransfer, {
    since,
    signal: AbortSignal.abort(new Error('enough')),
  });
  const error = await failureOf(looking, AbortError);
  expect(error).toMatchObject({ name: 'AbortError', outcome: 'unknown', retryable: false });
});

test('the error for a misspelt option of reconcile suggests the closest', async () => {
  const { payments } = clientOf(() => Response.json(page([])));
  const options = { since, clockskew: 1 } as ReconcileOptions;
  const error = await failureOf(
    payments.transfers.reconcile(newTransfer, options),
    ValidationError,
  );
  expect(error.operation).toBe('transfers.reconcile');
  expect(error.message).toContain(' in transfers.reconcile: ');
  // A rejection of the list is reported as an error of the search.
  const ofPage = await failureOf(
    payments.transfers.reconcile(newTransfer, { since, maxRetries: -1 }),
  );
  expect(ofPage.message).toContain(' in transfers.reconcile: ');
  expect(error.issues).toEqual([
    { path: 'options.clockskew', message: 'unknown option; did you mean clockSkew?' },
  ]);
});

test.each<[string, unknown, unknown, string]>([
  ['options of null', newTransfer, null, 'options'],
  ['an option since that is no date', newTransfer, { since: 'soon' }, 'options.since'],
  ['an invalid date as since', newTransfer, { since: new Date(Number.NaN) }, 'options.since'],
  ['since without an offset', newTransfer, { since: '2026-01-01T00:00:00' }, 'options.since'],
  ['since on 30 February', newTransfer, { since: '2026-02-30T00:00:00Z' }, 'options.since'],
  ['an option since that is a year', newTransfer, { since: 2_026 }, 'options.since'],
  ['an option since in milliseconds', newTransfer, { since: 1_767_225_600_000 }, 'options.since'],
  ['since in the future', newTransfer, { since: '2999-01-01T00:00:00Z' }, 'options.since'],
  ['a negative timeout', newTransfer, { since, timeout: -1 }, 'options.timeout'],
  ['a negative clockSkew', newTransfer, { since, clockSkew: -1 }, 'options.clockSkew'],
  [
    'a clockSkew that is a string, even for a since in the future',
    newTransfer,
    { since: new Date(Date.now() + 3_600_000), clockSkew: '120000' },
    'options.clockSkew',
  ],
  ['a clockSkew of null', newTransfer, { since, clockSkew: null }, 'options.clockSkew'],
  ['a clockSkew that is a bigint', newTransfer, { since, clockSkew: 5n }, 'options.clockSkew'],
  ['a clockSkew of NaN', newTransfer, { since, clockSkew: Number.NaN }, 'options.clockSkew'],
  ['an unknown option', newTransfer, { since, until: since }, 'options.until'],
  ['an amount that is a number', { ...newTransfer, amount: 12.5 }, { since }, 'amount'],
  ['no destination', { sourceAccountId: 'acc_1', amount: '1' }, { since }, 'destinationAccountId'],
  ['no input', undefined, { since }, ''],
])(
  'reconcile rejects %s with outcome unknown, and sends nothing',
  async (_name, input, options, at) => {
    const { payments, requests } = clientOf();
    const looking = payments.transfers.reconcile(
      input as TransferCreateInput,
      options as ReconcileOptions,
    );
    const error = await failureOf(looking, ValidationError);
    expect(error.issues.map(({ path }) => path)).toContain(at);
    // The error must not report not_sent, because a caller who resends the creation would pay twice.
    expect(error).toMatchObject({ outcome: 'unknown', retryable: false });
    expect(error.message).toMatch(
      /^The transfer is still in doubt: the search could not start\.\nDo not/,
    );
    expect(error.message).not.toContain('Nothing was sent');
    expect(requests).toEqual([]);
  },
);

test('the error for an invalid option of reconcile has `since` as startedAt', async () => {
  const { payments } = clientOf();
  const withSince = await failureOf(
    payments.transfers.reconcile(newTransfer, { since, clockSkew: -1 }),
    ValidationError,
  );
  expect(withSince.startedAt).toBe(new Date(since).toISOString());
  // The start time is unknown, so no transfer is too old.
  const withNone = await failureOf(
    payments.transfers.reconcile(newTransfer, { since: new Date(Number.NaN) }),
    ValidationError,
  );
  expect(withNone.startedAt).toBe('1970-01-01T00:00:00.000Z');
});

test('reconcile accepts a `since` in the future within clockSkew', async () => {
  const { payments } = clientOf(() =>
    Response.json({ data: [], hasMore: false, nextCursor: null }),
  );
  const ahead = new Date(Date.now() + 60_000);
  expect(await payments.transfers.reconcile(newTransfer, { since: ahead })).toEqual({
    result: 'not_found',
    scanned: 0,
  });
});

test.each([7, true, {}, [], null])(
  'reconcile returns a result for the currency %j',
  async (currency) => {
    const input = { ...newTransfer, description: 'Inv. 7' };
    const odd = { ...match, description: 'Inv. 7', amount: '1250', currency };
    const { payments } = clientOf(
      () => Response.json({ data: [odd], hasMore: false, nextCursor: null }),
      { validation: 'report' },
    );
    expect(await payments.transfers.reconcile(input, { since })).toMatchObject({
      result: 'ambiguous',
    });
  },
);

const reference = 'payroll-2026-11-0017';
const uuid = '550e8400-e29b-41d4-a716-446655440000';
const withSign = 'R&D payroll-0017';

/** How banks rewrite a description. */
const descriptions: readonly (readonly [way: string, requests: string, listed: string | null])[] = [
  ['cuts off the end', reference, 'payroll-2026'],
  ['cuts off the front', reference, '11-0017'],
  ['writes capitals without hyphens', reference, 'PAYROLL2026110017'],
  ['writes small letters', 'INV 4711', 'inv 4711'],
  ['breaks the line', reference, 'payroll-2026-\r\n11-0017'],
  ['adds words in front', reference, 'SEPA credit transfer payroll-2026-11-0017'],
  ['adds words behind', reference, 'payroll-2026-11-0017 value date 2026-11-30'],
  ['adds words at both ends', reference, 'TRF/payroll-2026-11-0017/EUR'],
  ['adds RF and cuts off after 35', uuid, `RF ${uuid}`.slice(0, 35)],
  ['adds TRF/ and cuts off after 22', reference, 'TRF/payroll-2026-11-00'],
  ['adds words and leaves half', 'inv-4711', 'TRANSFER INV4'],
  ['adds letters up to the same length', '20261117000000000042', 'TRF20261117000000000'],
  ['cuts off the front and adds words behind', reference, '2026-11-0017 EUR'],
  ['writes "and" for &', withSign, 'R and D payroll-0017'],
  ['writes "AND" for &, adds and cuts', withSign, 'TRF R AND D PAYROLL'],
  ['writes &amp;', withSign, 'R&amp;D payroll-0017'],
  ['writes &amp;amp;', withSign, 'R&amp;amp;D payroll-0017'],
  ['writes &#38;', withSign, 'R&#38;D payroll-0017'],
  ['writes &#x26;', withSign, 'R&#x26;D payroll-0017'],
  ['writes Base64', reference, btoa(reference)],
  ['writes Base64 of a short one', '7', btoa('7')],
  ['writes Base64 and cuts off', reference, btoa(reference).slice(0, 20)],
  ['shows none', reference, null],
];

/** How banks rewrite a party, an amount or a currency, with our description. */
const terms: readonly (readonly [way: string, listed: object])[] = [
  ['a counterparty for an account', { destinationAccountId: null, counterpartyId: 'cpty_9' }],
  ['a name as the destination', { destinationAccountId: 'Ada Lovelace' }],
  ['an IBAN as the destination', { destinationAccountId: 'DE89370400440532013000' }],
  ['an IBAN as the source', { sourceAccountId: 'DE89370400440532013000' }],
  ['another currency', { currency: 'EUR' }],
  ['an amount with its sign', { amount: '-12.50' }],
  ['an amount with a comma', { amount: '12,50' }],
  ['an amount in cents', { amount: '1250' }],
  ['an amount less a fee', { amount: '12.40' }],
  ['an amount in another currency', { amount: '13.61', currency: 'USD' }],
  ['the direction of the other side', { direction: 'incoming' }],
  ['everything in its own way', { sourceAccountId: 'X', destinationAccountId: 'Y', amount: '1' }],
];

const rewrites: readonly (readonly [way: string, requests: string, listed: object])[] = [
  ...descriptions.map(
    ([way, requests, description]) => [way, requests, { description }] as [string, string, object],
  ),
  ...terms.map(([way, listed]) => [way, reference, listed] as [string, string, object]),
];

test('reconcile returns ambiguous for a payment rewritten as banks do', async () => {
  const missed = await whichFail(rewrites, async (description, listed) => {
    const { look } = listing({ ...match, description, ...listed });
    expect((await look({ ...newTransfer, description })).result).toBe('ambiguous');
  });
  expect(missed).toEqual([]);
});

/** A sandbox that lists a payment as a bank would rewrite it, and a client that pays once. */
function rewriting(description: string, listed: object) {
  const sandbox = setup();
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const rewrite = (row: Transfer) =>
    row.description === description ? { ...row, ...listed } : row;
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    clock,
    journal: memoryJournal({ now: () => clock.now() }),
    fetch: async (request) => {
      const response = await sandbox.fetch(request);
      if (request.method === 'POST') return response;
      const body = (await response.json()) as Transfer | { readonly data: Transfer[] };
      return Response.json('data' in body ? page(body.data.map(rewrite)) : rewrite(body));
    },
  });
  const before = sandbox.transfers.list().length;
  return {
    sandbox,
    clock,
    pay: () => payments.transfers.createOnce({ ...input, description }),
    countMade: () => sandbox.transfers.list().length - before,
  };
}

test('createOnce pays once if its lost payment is listed rewritten', async () => {
  const paidTwice = await whichFail(rewrites, async (description, listed) => {
    const { sandbox, clock, pay, countMade } = rewriting(description, listed);
    const fault = { kind: 'reset', when: 'after_commit' } as const;
    sandbox.faults.add({ operation: 'transfers.create', fault });
    for (let hour = 0; hour < 3; hour += 1) {
      expect(await failureOf(pay())).toMatchObject({ reason: 'ambiguous', outcome: 'unknown' });
      await clock.advance(3_600_000);
    }
    expect(countMade()).toBe(1);
  });
  expect(paidTwice).toEqual([]);
});

test('createOnce resolves to a recorded transfer that was rewritten', async () => {
  const conflicts = await whichFail(rewrites, async (description, listed) => {
    const { pay, countMade } = rewriting(description, listed);
    const { id } = await pay();
    expect(await pay()).toMatchObject({ id });
    expect(countMade()).toBe(1);
  });
  expect(conflicts).toEqual([]);
});

test.each([
  [reference, 'payroll-2026-11-0018'],
  [uuid, uuid.replace('0', '1')],
  [uuid, uuid.replace(/0$/, '1')],
  ['20002000', '20002001'],
  ['00000000', '00000001'],
  ['INV-0017', 'INV-1700'],
  ['0017', '1700'],
  [withSign, 'R&D payroll-0018'],
  [btoa(reference), btoa('payroll-2026-11-0018')],
])('reconcile does not confuse the reference %s with the reference %s', async (one, other) => {
  for (const [description, listed] of [
    [one, other],
    [other, one],
  ] as const) {
    const { look } = listing({ ...match, description: listed });
    expect((await look({ ...newTransfer, description })).result).toBe('not_found');
  }
});

test("reconcile ignores another party's transfer with the same description", async () => {
  const description = 'Rent';
  const ours = { ...match, description };
  const theirs = { ...ours, id: 'txfr_2', destinationAccountId: 'acc_9' };
  const { look } = listing(theirs, ours);
  expect(await look({ ...newTransfer, description })).toEqual(found(ours));
});

test('reconcile compares 100 long, similar descriptions in a short time', async () => {
  const half = 'a'.repeat(500);
  const rows = Array.from({ length: 100 }, (_, at) => ({
    ...match,
    id: `txfr_${at}`,
    description: `${half}b${half.slice(2)}`,
  }));
  const response = await listing(...rows).look({
    ...newTransfer,
    description: `c${'a'.repeat(998)}`,
  });
  expect(response.result).toBe('not_found');
});

/** A platform with an endless list; a search that does not end fails at page 100. */
function endless(row: (number: number) => object) {
  const { payments, requests } = clientOf(() => {
    if (requests.length === 100) return Response.json({}, { status: 403 });
    const rows = Array.from({ length: 100 }, (_, at) => row(100 * requests.length + at));
    return Response.json(page(rows, `after-${requests.length}`));
  });
  return { payments, requests };
}

test('reconcile returns ambiguous after a thousand matches of an endless list', async () => {
  const { payments, requests } = endless((number) => ({ ...match, id: `txfr_${number}` }));
  const result = await payments.transfers.reconcile(newTransfer, { since });
  expect(result).toMatchObject({
    result: 'ambiguous',
    candidates: { length: 1_000 },
  });
  // The page after the last one that was read may have been prefetched.
  expect(requests.length).toBeLessThanOrEqual(12);
});

test('reconcile returns ambiguous after a thousand matches older than `since`', async () => {
  const createdAt = minutes(-60);
  const { payments } = endless((number) => ({ ...match, id: `txfr_${number}`, createdAt }));
  expect(await payments.transfers.reconcile(newTransfer, { since })).toMatchObject({
    result: 'ambiguous',
    candidates: { length: 1_000 },
  });
});

test('an abort ends reconcile on an endless list', async () => {
  const caller = new AbortController();
  const { payments, requests } = endless((number) => {
    if (requests.length === 50) caller.abort();
    return { ...match, id: `txfr_${number}`, amount: '99' };
  });
  const search = payments.transfers.reconcile(newTransfer, { since, signal: caller.signal });
  expect(await failureOf(search, AbortError)).toMatchObject({ outcome: 'unknown' });
});

test.each(['', 'txfr_'])('reconcile keeps only matches in memory (ids: %j)', async (prefix) => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const heaps: number[] = [];
  const { payments, requests } = clientOf(() => {
    const rows = Array.from({ length: 100 }, (_, at) => ({
      ...match,
      id: prefix && `${prefix}${((requests.length - 1) % 120) * 100 + at}`,
      amount: '99',
      description: `${requests.length} ${'x'.repeat(2_000)}`,
    }));
    if (requests.length === 20 || requests.length === 120) {
      collectGarbage();
      heaps.push(process.memoryUsage().heapUsed);
    }
    const isLast = requests.length % 120 === 0;
    return Response.json(page(rows, isLast ? null : `after-${requests.length}`));
  });
  const result = await payments.transfers.reconcile(newTransfer, { since });
  expect(result).toEqual({ result: 'not_found', scanned: 12_000 });
  const [early = 0, late = 0] = heaps;
  // A stored transfer would take more than 2,000 bytes.
  expect((late - early) / 10_000).toBeLessThan(500);
});

test.each<[string, object]>([
  ['that reports no more pages, and has a cursor', page([match], 'onwards', false)],
  ['that is empty, and reports that more follow', page([], 'onwards')],
])('reconcile rejects as unknown after a list page %s', async (_, contradiction) => {
  const { payments, requests } = clientOf(() =>
    Response.json(requests.length === 1 ? contradiction : page([])),
  );
  const error = await failureOf(payments.transfers.reconcile(newTransfer, { since }));
  expect(error).toMatchObject({ outcome: 'unknown', operation: 'transfers.reconcile' });
  expect(error.retryable).toBe(false);
});
