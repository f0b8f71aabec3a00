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
import { failureOf, observed } from '../support/clients.ts';
import { newTransfer, page, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { whichFail } from '../support/which-fail.ts';

const since = '2026-01-01T00:00:00.000Z';
const minutes = (count: number): string =>
  new Date(Date.parse(since) + count * 60_000).toISOString();

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A platform that lists these transfers, on one page. */
function listing(...transfers: readonly object[]) {
  const { payments, sent } = observed(() => Response.json(page(transfers)));
  const look = (
    input: TransferCreateInput = newTransfer,
    options: Partial<ReconcileOptions> = {},
  ) => payments.transfers.reconcile(input, { since, ...options });
  return { payments, sent, look };
}
/** A transfer that `newTransfer` would have made a minute after `since`. */
const match = { ...transfer, createdAt: minutes(1) };

/** A platform that holds two accounts and some transfers between them. */
function platform(): Sandbox {
  const sandbox = new Sandbox({ clock: () => Date.UTC(2026, 0, 15) });
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  sandbox.entities.approve(entityId);
  for (const name of ['Source', 'Destination']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund('acc_000001', '1000');
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
  'reconcile settles a creation whose connection broke %s, without sending it again',
  async (when) => {
    const sandbox = platform();
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

test('two matches are ambiguous: a person has to look', async () => {
  const twin = { ...match, id: 'txfr_2', createdAt: minutes(2) };
  const { look } = listing(match, { ...match, id: 'txfr_3', amount: '99' }, twin);
  const response = await look();
  expect(response).toMatchObject({ result: 'ambiguous' });
  expect(response).toHaveProperty('candidates', [match, twin]);
});

test('two certain matches and a doubtful one are three candidates', async () => {
  const early = { ...match, id: 'txfr_3', createdAt: minutes(-1.5) };
  expect(await listing(match, { ...match, id: 'txfr_2' }, early).look()).toMatchObject({
    result: 'ambiguous',
    candidates: { length: 3 },
  });
});

test('a match that may be older than the creation is ambiguous', async () => {
  const early = { ...match, createdAt: minutes(-1.5) };
  expect(await listing(early).look()).toEqual({ result: 'ambiguous', candidates: [early] });
  // Beside a certain one it still leaves a doubt.
  const twin = { ...match, id: 'txfr_2' };
  expect(await listing(early, twin).look()).toEqual({
    result: 'ambiguous',
    candidates: [twin, early],
  });
});

test('with a reference, a match is found although the clock of the platform is behind', async () => {
  const wanted = { ...newTransfer, description: 'Invoice 7' };
  // As a platform writes it that leaves out fractions of a second, or whose clock is behind.
  for (const age of [-0.001, -1.9, -2]) {
    const early = { ...match, description: 'Invoice 7', createdAt: minutes(age) };
    expect(await listing(early).look(wanted)).toEqual({ result: 'found', transfer: early });
    const twin = { ...match, description: 'Invoice 7', id: 'txfr_2' };
    expect(await listing(early, twin).look(wanted)).toMatchObject({ result: 'ambiguous' });
  }
  const older = { ...match, description: 'Invoice 7', createdAt: minutes(-2.1) };
  expect(await listing(older).look(wanted)).toEqual({ result: 'not_found', scanned: 1 });
});

test('a match that is older than any clock is wrong does not count', async () => {
  const { look } = listing({ ...match, createdAt: minutes(-2.1) });
  expect(await look()).toEqual({ result: 'not_found', scanned: 1 });
});

test('clockSkew says how far the clocks may differ', async () => {
  const atOnce = { ...match, createdAt: since };
  const tenMinutesEarly = { ...match, createdAt: minutes(-10) };
  const justBefore = { ...match, createdAt: '2025-12-31T23:59:59.999Z' };
  expect(await listing(atOnce).look(newTransfer, { clockSkew: 0 })).toMatchObject({
    result: 'found',
  });
  expect(await listing(justBefore).look(newTransfer, { clockSkew: 0 })).toMatchObject({
    result: 'not_found',
  });
  expect(await listing(tenMinutesEarly).look(newTransfer, { clockSkew: 600_000 })).toMatchObject({
    result: 'ambiguous',
  });
});

test.each([3, 600])(
  'where the answers show that the clock here is %i minutes ahead, an older match is found',
  async (ahead) => {
    const now = Date.parse(since) + 5 * 60_000;
    const platform = (age: number, date: string) =>
      observed(
        () =>
          Response.json(page([{ ...match, description: 'Invoice 7', createdAt: minutes(age) }]), {
            headers: { date },
          }),
        { clock: { now: () => now, setTimeout, clearTimeout } },
      ).payments.transfers;
    const wanted = { ...newTransfer, description: 'Invoice 7' };
    const theirs = new Date(now - ahead * 60_000).toUTCString();
    const late = platform(-ahead - 1, theirs);
    expect(await late.reconcile(wanted, { since })).toMatchObject({ result: 'found' });
    const older = platform(-ahead - 2.1, theirs);
    expect(await older.reconcile(wanted, { since })).toMatchObject({ result: 'not_found' });
    for (const date of [new Date(now + ahead * 60_000).toUTCString(), 'soon', '']) {
      const agreed = platform(-ahead - 1, date);
      expect(await agreed.reconcile(wanted, { since })).toMatchObject({ result: 'not_found' });
    }
  },
);

test.each(['America/New_York', 'Asia/Tokyo'])(
  'a Date in the form of C is UTC, also on a machine in %s',
  async (zone) => {
    vi.stubEnv('TZ', zone);
    const clock = new VirtualClock(Date.parse('2026-01-01T00:10:00Z'));
    const older = { ...match, description: 'Invoice 7', createdAt: minutes(-9) };
    const response = (date: string) =>
      observed(() => Response.json(page([older]), { headers: { date } }), { clock }).payments;
    const wanted = { ...newTransfer, description: 'Invoice 7' };
    const ahead = response('Thu Jan  1 00:00:00 2026').transfers;
    expect(await ahead.reconcile(wanted, { since })).toMatchObject({ result: 'found' });
    const right = response('Thu Jan  1 00:10:00 2026').transfers;
    expect(await right.reconcile(wanted, { since })).toMatchObject({ result: 'not_found' });
  },
);

test('a time without a fraction may be any moment of its second', async () => {
  const wanted = { ...newTransfer, description: 'Invoice 7' };
  const options = { since: '2026-01-01T00:00:00.400Z', clockSkew: 0 };
  const whole = { ...match, description: 'Invoice 7', createdAt: '2026-01-01T00:00:00Z' };
  expect(await listing(whole).look(wanted, options)).toMatchObject({ result: 'found' });
  // Without a reference nothing tells it from one that was made just before.
  const bare = listing({ ...whole, description: null });
  expect(await bare.look(newTransfer, options)).toMatchObject({ result: 'ambiguous' });
  for (const createdAt of ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00Z']) {
    expect(await listing({ ...whole, createdAt }).look(wanted, options)).toMatchObject({
      result: 'found',
    });
  }
  const exact = { ...whole, createdAt: '2026-01-01T00:00:00.399Z' };
  expect(await listing(exact).look(wanted, options)).toMatchObject({ result: 'not_found' });
});

test('a description of any length leaves a doubt, but not beside the one that was sent', async () => {
  const foreign = { ...match, id: 'txfr_2', description: 'word 7, '.repeat(20_000) };
  const ours = { ...match, description: 'Invoice 7' };
  const wanted = { ...newTransfer, description: 'Invoice 7' };
  expect(await listing(foreign, ours).look(wanted)).toEqual({ result: 'found', transfer: ours });
  expect(await listing(foreign).look(wanted)).toMatchObject({ result: 'ambiguous' });
  expect(
    await listing(ours).look({ ...newTransfer, description: foreign.description }),
  ).toMatchObject({ result: 'ambiguous' });
});

const manyA = 'a'.repeat(150_000);
test.each<[string, string, string]>([
  ['words', 'ab', 'xab '.repeat(250_000)],
  ['letters that repeat', `${manyA}b${manyA}`, 'a'.repeat(1_000_000)],
  ['accents', 'Invoice 7', `a${'\u0301\u0327'.repeat(200_000)}`],
  ['accents, another amount beside it', 'Invoice 7', `a${'\u0301\u0327'.repeat(499)}`],
])('a description of very many %s is compared in no time', async (_, asked, shown) => {
  const { look } = listing(
    { ...match, description: shown },
    { ...match, id: 'txfr_2', description: shown, amount: '99' },
  );
  const begun = performance.now();
  const response = await look({ ...newTransfer, description: asked });
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(response.result).toBe(shown.length > 1_000 ? 'ambiguous' : 'not_found');
});

test('an amount of very many zeros is compared in no time', async () => {
  const zeros = '0'.repeat(400_000);
  expect(await listing({ ...match, amount: `12.5${zeros}` }).look()).toMatchObject({
    result: 'found',
  });
  expect(await listing({ ...match, amount: `12.5${zeros}1` }).look()).toMatchObject({
    result: 'not_found',
  });
});

test('two transfers without an id count as two matches', async () => {
  const nameless = { ...match, id: '' };
  const { look } = listing(nameless, { ...nameless, createdAt: minutes(4) });
  expect(await look()).toMatchObject({ result: 'ambiguous', candidates: [{ id: '' }, { id: '' }] });
});

test('a description of signs alone may have come to nothing', async () => {
  const bare = { ...match, description: null };
  const other = { ...match, id: 'txfr_2', amount: '99', description: 'Rent' };
  const { look } = listing(bare, other);
  expect(await look({ ...newTransfer, description: '- - -' })).toMatchObject({
    result: 'ambiguous',
    candidates: [bare],
  });
});

test('the clocks are compared when an answer comes, and for all pages alike', async () => {
  const clock = new VirtualClock(Date.parse(since) + 300_000);
  const older = { ...match, description: 'Invoice 7', createdAt: minutes(-10) };
  const other = { ...older, id: 'txfr_2', description: 'Invoice 8' };
  const { payments, sent } = observed(
    async () => {
      // The second answer takes longer than the clocks are apart, and is the first to tell the time.
      if (sent.length === 1) return Response.json(page([older], 'next'));
      await clock.advance(20_000);
      const date = new Date(clock.now() - 12 * 60_000).toUTCString();
      return Response.json(page([other]), { headers: { date } });
    },
    { clock },
  );
  const wanted = { ...newTransfer, description: 'Invoice 7' };
  expect(await payments.transfers.reconcile(wanted, { since, clockSkew: 0 })).toEqual({
    result: 'found',
    transfer: older,
  });
});

test('one transfer shown twice, the first time without its description, is found', async () => {
  const wanted = { ...newTransfer, description: 'Invoice 7' };
  const shown = { ...match, description: 'Invoice 7' };
  const bare = { ...match, description: null };
  for (const list of [listing(bare, shown), listing(shown, bare)]) {
    expect(await list.look(wanted)).toEqual({ result: 'found', transfer: shown });
  }
});

test('a match whose time cannot be read is ambiguous', async () => {
  const { look } = listing({ ...match, createdAt: 'yesterday' });
  expect(await look()).toMatchObject({ result: 'ambiguous' });
});

test.each(['UTC', 'Asia/Tokyo', 'America/New_York'])(
  'a time without an offset is UTC, also on a machine in %s',
  async (zone) => {
    vi.stubEnv('TZ', zone);
    const ours = { ...match, createdAt: minutes(1).replace('Z', '') };
    expect(await listing(ours).look()).toMatchObject({ result: 'found' });
    const older = { ...match, createdAt: minutes(-60).replace('Z', '') };
    expect(await listing(older).look()).toMatchObject({ result: 'not_found' });
  },
);

test.each([
  '2026-01-01',
  '01/01/2026 00:01',
  'Thu, 01 Jan 2026 00:01:00',
  '2025-12-31T16:01:00 -08:00',
  '2025-12-31T16:01:00 PST',
  'UTC-8 2025-12-31T16:01:00',
])('a match whose time is told as %s is ambiguous', async (createdAt) => {
  expect(await listing({ ...match, createdAt }).look()).toMatchObject({ result: 'ambiguous' });
});

test.each<[string, Partial<TransferCreateInput>, object]>([
  ['white space was taken off', { description: ' Invoice  7' }, { description: 'Invoice 7' }],
  ['capitals were made', { description: 'Invoice 7' }, { description: 'INVOICE 7' }],
  ['letters were put together', { description: 'Zu\u0308rich' }, { description: 'Z\u00fcrich' }],
  ['signs were replaced', { description: 'Invoice/7' }, { description: 'INVOICE 7' }],
  ['signs were taken out', { description: 'INV-4711' }, { description: 'INV4711' }],
  ['a gap was made', { description: 'inv4711' }, { description: 'INV 4711' }],
  ['a letter has no capital', { description: 'Straße 7' }, { description: 'STRASSE 7' }],
  ['a letter has two small forms', { description: 'İnvoice 7' }, { description: 'INVOICE 7' }],
  ['accents were taken off', { description: 'Café 7' }, { description: 'CAFE 7' }],
  ['the front was cut off', { description: 'Invoice 4711' }, { description: '4711' }],
  ['the front is masked', { description: 'Invoice 4711' }, { description: '*********711' }],
  ['all but the end is blacked out', { description: 'INV-42' }, { description: '██2' }],
  [
    'a letter is written after its place',
    { description: 'ΜΙΣΘΟΣ ΜΑΙΟΣ' },
    { description: 'μισθος.μαιος' },
  ],
  ['a capital has no small form', { description: 'STRASSE 7' }, { description: 'STRAẞE 7' }],
  ['words are around signs', { description: '🎉' }, { description: 'Party 🎉' }],
  ['the end is left out', { description: 'Invoice 4711' }, { description: 'Invoice 47…' }],
  ['the middle is shown', { description: 'Re: invoice 7, June' }, { description: '...voice 7...' }],
  ['signs were taken out of added words', { description: 'INV-7/2' }, { description: 'pay INV72' }],
  ['signs are nothing to this list', { description: '---' }, { description: '!' }],
  ['the end was cut off', { description: 'Invoice 7, June' }, { description: 'Invoice 7, J...' }],
  [
    'the end was cut off after a number',
    { description: 'Invoice 12, June' },
    { description: 'Invoice 12' },
  ],
  ['the end was cut off before a number', { description: 'Ref A12345' }, { description: 'Ref A' }],
  [
    'a word that begins as it does was put in front',
    { description: 'abacabad' },
    { description: 'abacab abacabad' },
  ],
  ['only signs are shown', { description: 'Invoice 7' }, { description: '*****' }],
  [
    'the end was cut off between two numbers',
    { description: 'INV-2026-4711' },
    { description: 'INV-2026' },
  ],
  [
    'the end was cut off at a hyphen',
    { description: 'efa3520c-2d21-40a5-8eb1-0a65af9075fc' },
    { description: 'efa3520c-2d21-40a5' },
  ],
  ['signs became blanks', { description: 'A&4711;B' }, { description: 'A 4711 B' }],
  [
    'words were put in front, and all signs and blanks taken out',
    { description: 'invoice 4711' },
    { description: 'Paymentinvoice4711' },
  ],
  ['words stand at both ends', { description: 'INV-4711' }, { description: 'REFINV4711EUR' }],
  [
    'words were put in front, and signs taken out, but no accents',
    { description: 'Ref-Müller-15' },
    { description: 'PAYMENTRefMüller15' },
  ],
  ['signs are written as in HTML', { description: 'R&D 4711' }, { description: 'R&amp;D 4711' }],
  ['the amount has its unit behind it', {}, { amount: '12.50 USDC' }],
  [
    'the amount is cut off, and capitals were made',
    { description: 'Inv. 7' },
    { amount: '12', description: 'INV 7' },
  ],
  ['the description is half a word', { description: 'Rent' }, { description: 'Parent' }],
  ['the number has more digits', { description: 'No. 1' }, { description: 'No. 10' }],
  ['the number has fewer digits', { description: 'No. 10' }, { description: 'No. 1' }],
  ['the number is the end of ours', { description: 'No. 4711' }, { description: '711' }],
  ['a word stands where a sign was asked for', { description: '🎉' }, { description: 'Party' }],
  ['the amount is another', { description: 'Inv. 7' }, { amount: '99' }],
  ['the amount is in cents', { description: 'Inv. 7' }, { amount: '1250' }],
  ['the amount is less by a fee', { description: 'Inv. 7' }, { amount: '12.40' }],
  ['the currency is a sign', { description: 'Inv. 7' }, { currency: '€' }],
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
  ['the currency is another sign', { currency: '€' }, { currency: '$' }],
  ['the amount is written in an unknown way', {}, { amount: '-12.50' }],
])('a match of which %s is ambiguous: it may be the one', async (_, asked, shown) => {
  const wanted = { ...newTransfer, ...asked } as TransferCreateInput;
  const seen = { ...match, description: wanted.description, ...shown };
  expect(await listing(seen).look(wanted)).toMatchObject({ result: 'ambiguous' });
  const { amount, currency = match.currency, description } = wanted;
  const certain = { ...match, id: 'txfr_2', amount, currency, description };
  const both = await listing(seen, certain).look(wanted);
  if (
    wanted.description !== undefined &&
    (seen.description !== wanted.description || seen.amount !== wanted.amount)
  ) {
    // A platform that leaves this one as it was sent writes none otherwise.
    expect(both).toEqual({ result: 'found', transfer: certain });
  } else {
    // One that fits in everything is still not the only one that may be it.
    expect(both).toMatchObject({ result: 'ambiguous', candidates: { length: 2 } });
  }
});

test('a reference is found among others that begin as it does', async () => {
  const paid = ['INV-17', 'INV-17-2', 'INV-17 R2', 'INV-170', 'inv-17', 'INV-'];
  const rows = paid.map((description, at) => ({ ...match, id: `txfr_${at}`, description }));
  for (const [at, description] of paid.slice(0, 4).entries()) {
    const { look } = listing(...rows);
    expect(await look({ ...newTransfer, description }), description).toEqual({
      result: 'found',
      transfer: rows[at],
    });
  }
  // As long as it is not there itself, each of the others may be it.
  expect(
    await listing(...rows.slice(1)).look({ ...newTransfer, description: 'INV-17' }),
  ).toMatchObject({ result: 'ambiguous' });
  // What differs in more than that may be the one that was sent.
  const wanted = { ...newTransfer, description: 'INV-17' };
  const odd = { ...match, id: 'txfr_9', description: 'INV-17', currency: 'USD' };
  expect(await listing(...rows, odd).look(wanted)).toMatchObject({ result: 'ambiguous' });
});

test('a Date that is days behind is not believed as a clock', async () => {
  const clock = new VirtualClock(Date.parse('2026-01-10T00:00:00Z'));
  const lastMonth = { ...match, description: 'Rent', createdAt: '2025-12-10T00:00:00Z' };
  for (const date of ['Thu, 01 Jan 1970 00:00:00 GMT', 'Sun, 30 Nov 2025 00:00:00 GMT']) {
    const { payments } = observed(() => Response.json(page([lastMonth]), { headers: { date } }), {
      clock,
    });
    const wanted = { ...newTransfer, description: 'Rent' };
    expect(await payments.transfers.reconcile(wanted, { since: '2026-01-09T23:59:00Z' })).toEqual({
      result: 'ambiguous',
      candidates: [lastMonth],
    });
  }
});

test.each([' Invoice 7\n', 'Invoice  7', 'invoice 7', 'Invoice-7', 'Invöice 7'])(
  'a description that differs in signs, accents, case or white space (%j) leaves a doubt',
  async (description) => {
    const shown = { ...match, description: 'Invoice 7' };
    const wanted = { ...newTransfer, description };
    expect(await listing(shown).look(wanted)).toMatchObject({ result: 'ambiguous' });
    // As does another amount beside it.
    const rounded = { ...shown, amount: '13' };
    expect(await listing(rounded).look(wanted)).toMatchObject({ result: 'ambiguous' });
  },
);

test('a description that was cut off anywhere leaves a doubt, the whole one none', async () => {
  const description = 'Payout 550e8400-e29b-41d4';
  const whole = { ...match, id: 'txfr_2', description };
  for (let length = 1; length < description.length; length += 1) {
    for (const part of [description.slice(0, length), description.slice(length)]) {
      const cut = { ...match, description: part };
      const wanted = { ...newTransfer, description };
      expect(await listing(cut).look(wanted), part).toMatchObject({ result: 'ambiguous' });
      expect(await listing(cut, whole).look(wanted)).toEqual({ result: 'found', transfer: whole });
    }
  }
});

test.each([undefined, null, ''])(
  'a match without a description (%j) may be it, whatever others show',
  async (description) => {
    const wanted = { ...newTransfer, description: 'Invoice 7' };
    const bare = { ...match, description };
    const other = { ...match, id: 'txfr_2', amount: '99', description: 'Rent' };
    for (const list of [listing(bare), listing(bare, other)]) {
      expect(await list.look(wanted)).toEqual({ result: 'ambiguous', candidates: [bare] });
    }
    const certain = { ...match, id: 'txfr_3', description: 'Invoice 7' };
    expect(await listing(bare, certain).look(wanted)).toEqual({
      result: 'found',
      transfer: certain,
    });
  },
);

test('without a since only a reference tells a transfer from an earlier one', async () => {
  const old = { ...match, createdAt: minutes(-1_000_000) };
  const { payments } = listing(old);
  expect(await payments.transfers.reconcile(newTransfer)).toEqual({
    result: 'ambiguous',
    candidates: [old],
  });
  // As if that look had broken off, and its error's startedAt were handed on.
  const error = await failureOf(
    payments.transfers.reconcile(newTransfer, { clockSkew: -1 }),
    ValidationError,
  );
  const since1970 = { since: error.startedAt };
  expect(await payments.transfers.reconcile(newTransfer, since1970)).toMatchObject({
    result: 'ambiguous',
  });
  const described = { ...old, description: 'Invoice 7' };
  const wanted = { ...newTransfer, description: 'Invoice 7' };
  const { payments: again, look } = listing(described);
  expect(await again.transfers.reconcile(wanted)).toEqual({ result: 'found', transfer: described });
  expect(await look(wanted)).toMatchObject({ result: 'not_found' });
  const other = { ...wanted, description: 'Invoice 8' };
  expect(await again.transfers.reconcile(other)).toEqual({ result: 'not_found', scanned: 1 });
});

test('a currency in small letters is the same', async () => {
  const wanted = { ...newTransfer, currency: match.currency.toLowerCase() };
  expect(await listing(match).look(wanted)).toMatchObject({ result: 'found' });
});

test.each(['id', 'sourceAccountId', 'amount', 'currency', 'createdAt', 'description'])(
  'where drift is only reported, a match whose %s cannot be read is ambiguous',
  async (field) => {
    const odd = { ...match, [field]: 1 };
    const { payments } = observed(() => Response.json(page([odd])), { validation: 'report' });
    expect(await payments.transfers.reconcile(newTransfer, { since })).toEqual({
      result: 'ambiguous',
      candidates: [odd],
    });
    const other = { ...odd, ...(field === 'amount' ? { currency: 'EUR' } : { amount: '99' }) };
    const { payments: again } = observed(() => Response.json(page([other])), {
      validation: 'report',
    });
    expect(await again.transfers.reconcile(newTransfer, { since })).toMatchObject({
      result: 'not_found',
    });
  },
);

test.each<[object]>([[{ id: 'acc_2' }], [['acc_2']], [{ toString: 1 }]])(
  'where drift is only reported, a destination or a time that is %j may be the one',
  async (odd) => {
    for (const field of ['destinationAccountId', 'createdAt']) {
      const { payments } = observed(() => Response.json(page([{ ...match, [field]: odd }])), {
        validation: 'report',
      });
      const response = await payments.transfers.reconcile(newTransfer, { since });
      expect(response.result).toBe('ambiguous');
    }
  },
);

test('where drift is only reported, a list with what is no transfer settles nothing', async () => {
  const { payments } = observed(() => Response.json(page([null])), { validation: 'report' });
  const error = await failureOf(payments.transfers.reconcile(newTransfer, { since }));
  expect(error).toMatchObject({ outcome: 'unknown', retryable: false, startedAt: since });
  expect(error.message).toContain('still in doubt');
});

test('a match that arrives is the other side of one that leaves, or nobody knows what', async () => {
  const arriving = { ...match, id: 'txfr_9', direction: 'incoming' };
  expect(await listing(arriving, match).look()).toEqual({ result: 'found', transfer: match });
  expect(await listing(arriving).look()).toEqual({ result: 'ambiguous', candidates: [arriving] });
  const other = { ...arriving, amount: '99' };
  expect(await listing(other).look()).toMatchObject({ result: 'not_found' });
  const old = { ...arriving, createdAt: minutes(-10) };
  expect(await listing(old).look()).toMatchObject({ result: 'not_found' });
  // Both sides under one id, in either order.
  const side = { ...arriving, id: match.id };
  for (const both of [listing(side, match), listing(match, side)]) {
    expect(await both.look()).toEqual({ result: 'found', transfer: match });
  }
});

test('where drift is only reported, a page that does not say whether more follow settles nothing', async () => {
  const body = { data: [{ ...match, amount: '99' }], nextCursor: 'onwards' };
  const { payments, sent } = observed(() => Response.json(body), { validation: 'report' });
  const error = await failureOf(payments.transfers.reconcile(newTransfer, { since }));
  expect(error).toMatchObject({ name: 'InvalidResponseError', outcome: 'unknown' });
  expect(sent).toHaveLength(1);
});

test('one transfer that a growing list shows twice is one', async () => {
  expect(await listing(match, match).look()).toEqual({ result: 'found', transfer: match });
});

test('whatever may be the one is a candidate, also one that arrives', async () => {
  const wanted = { ...newTransfer, description: 'INV-4711' };
  const arriving = { ...match, id: 'txfr_9', direction: 'incoming', description: 'INV-4711' };
  const other = { ...match, id: 'txfr_8', description: 'INV-4711 B' };
  const side = { ...other, direction: 'incoming' };
  expect(await listing(arriving, other, side).look(wanted)).toEqual({
    result: 'ambiguous',
    candidates: [other, arriving],
  });
});

/** A platform whose list has other pages each time that it is read. */
function moving(...walks: readonly (readonly object[])[][]) {
  let walk = -1;
  const { payments, sent } = observed((request) => {
    const cursor = new URL(request.url).searchParams.get('cursor');
    if (cursor === null) walk += 1;
    const pages = walks[Math.min(walk, walks.length - 1)] ?? [];
    const at = Number(cursor ?? 0);
    return Response.json(page(pages[at] ?? [], at + 1 < pages.length ? String(at + 1) : null));
  });
  return { sent, look: () => payments.transfers.reconcile(newTransfer, { since }) };
}
const [a, b, c, d] = ['txfr_2', 'txfr_3', 'txfr_4', 'txfr_5'].map((id) => ({
  ...match,
  id,
  amount: '99',
})) as [object, object, object, object];

test('a list that moved while it was read is read again before nothing was found', async () => {
  // Sorted by the last change: ours changes after the first page was read, and then no more.
  const { look, sent } = moving([[a, b], [b, c], [d]], [[match, a], [b, c], [d]]);
  expect(await look()).toEqual({ result: 'found', transfer: match });
  expect(sent).toHaveLength(6);
});

test('what one reading showed and the next did not is not lost', async () => {
  const bare = { ...match, createdAt: minutes(-10) };
  let reading = 0;
  // Only the second reading tells how far the clocks are apart.
  const { payments } = observed(
    () => {
      reading += 1;
      const date = new Date(Date.parse(since) + (reading === 1 ? 0 : -600_000)).toUTCString();
      return Response.json(page(reading === 1 ? [bare, a, a] : [a]), { headers: { date } });
    },
    { clock: new VirtualClock(Date.parse(since)) },
  );
  expect(await payments.transfers.reconcile(newTransfer, { since })).toEqual({
    result: 'ambiguous',
    candidates: [bare],
  });
});

test('a list that always grows is read three times, and comes to an answer', async () => {
  const { look, sent } = moving(
    [[b], [b, c]],
    [
      [a, b],
      [b, c],
    ],
    [[d, a], [a, b], [c]],
  );
  expect(await look()).toEqual({ result: 'not_found', scanned: 4 });
  expect(sent).toHaveLength(7);
});

test('a list that has come to rest is not read a third time', async () => {
  const { look, sent } = moving([[a], [a, b]], [[a, b]]);
  expect(await look()).toEqual({ result: 'not_found', scanned: 2 });
  expect(sent).toHaveLength(3);
});

test('of transfers without an id nobody knows whether the list moved', async () => {
  const { look, sent } = moving([[{ ...a, id: '' }], [{ ...a, id: '' }]]);
  expect(await look()).toEqual({ result: 'not_found', scanned: 2 });
  expect(sent).toHaveLength(2);
});

test('a list that moved is not read again when something was found', async () => {
  const { look, sent } = moving([[a, match], [match]]);
  expect(await look()).toMatchObject({ result: 'found' });
  expect(sent).toHaveLength(2);
});

test('a second reading that fails leaves the transfer in doubt', async () => {
  const { payments, sent } = observed(() =>
    sent.length === 1 ? Response.json(page([a, a])) : Response.json({}, { status: 403 }),
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
])('whether an amount of %s, listed as %s, is the same money: %s', async (asked, listed, same) => {
  const { look } = listing({ ...match, amount: listed });
  const response = await look({ ...newTransfer, amount: asked });
  expect(response.result).toBe(same ? 'found' : 'not_found');
});

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
  [
    'another destination, and a counterparty',
    newTransfer,
    { destinationAccountId: 'acc_9', counterpartyId: 'cpty_1' },
    false,
  ],
  ['another currency', newTransfer, { currency: 'EURC' }, false],
  ['the default currency, asked for', { ...newTransfer, currency: 'USDC' }, {}, true],
  ['the default currency, not asked for', { ...newTransfer, currency: 'EURC' }, {}, false],
  ['the currency asked for', { ...newTransfer, currency: 'EURC' }, { currency: 'EURC' }, true],
  ['a description that was not given', newTransfer, { description: 'Rent' }, false],
  ['another description', { ...newTransfer, description: 'Rent' }, { description: 'Lease' }, false],
  [
    'another description, and an amount that cannot be read',
    { ...newTransfer, description: 'Rent' },
    { description: 'Lease', amount: '12,50' },
    false,
  ],
  [
    'more than its description, and another amount',
    { ...newTransfer, description: 'Rent' },
    { description: 'Rent for June', amount: '99' },
    false,
  ],
  [
    'signs for the description that was not given, and another amount',
    newTransfer,
    { description: '---', amount: '99' },
    false,
  ],
  [
    'another amount where no description is shown',
    { ...newTransfer, description: 'Rent' },
    { amount: '99' },
    false,
  ],
  [
    'a reference of the same batch numbers',
    { ...newTransfer, description: '7/3' },
    { description: '12/7' },
    false,
  ],
  [
    'another number between signs that look like HTML',
    { ...newTransfer, description: 'A&4711;B' },
    { description: 'A&4712;B' },
    false,
  ],
  [
    'a last word that is the first of ours',
    { ...newTransfer, description: 'Rent for June' },
    { description: 'Car rent' },
    false,
  ],
  ['its description', { ...newTransfer, description: 'Rent' }, { description: 'Rent' }, true],
  ['a description of null', newTransfer, { description: null }, true],
  ['an empty description', newTransfer, { description: '' }, true],
  ['a status of failed', newTransfer, { status: 'failed' }, true],
  ['an account for a counterparty', toCounterparty, {}, false],
  ['the counterparty', toCounterparty, listedToCounterparty, true],
  [
    'another counterparty',
    toCounterparty,
    { ...listedToCounterparty, counterpartyId: 'cpty_2' },
    false,
  ],
  ['a counterparty for an account', newTransfer, listedToCounterparty, false],
])('a transfer is told from another by what it holds: %s', async (name, asked, listed, same) => {
  const isWhole = 'type' in listed;
  const { look } = listing(isWhole ? listed : { ...match, ...listed });
  expect((await look(asked)).result, name).toBe(same ? 'found' : 'not_found');
});

test('reconcile looks at every page, whatever the order, and asks for nothing else', async () => {
  const sandbox = platform();
  // The one that is looked for is the oldest: platforms may list in either order.
  const wanted = sandbox.transfers.create(input);
  for (let number = 0; number < 250; number += 1) {
    sandbox.transfers.create({ ...input, amount: '0.01', description: `Other ${number}` });
  }
  const payments = new PaymentsClient(sandbox.clientOptions);
  const options = { since: new Date(Date.UTC(2026, 0, 14)) };
  const before = sandbox.transfers.list();

  expect(await payments.transfers.reconcile(input, options)).toEqual({
    result: 'found',
    transfer: wanted,
  });
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
  expect(sandbox.log.map(({ method }) => method)).toEqual(Array(6).fill('GET'));
  expect(sandbox.transfers.list()).toEqual(before);
});

test('a page of reconcile takes the options of any call', async () => {
  const { look, sent } = listing(match);
  await look(newTransfer, { headers: { 'x-team': 'treasury' }, query: { sourceId: 'acc_1' } });
  expect(sent[0]?.headers).toMatchObject({ 'x-team': 'treasury' });
  expect(new URL(sent[0]?.url ?? '').searchParams.get('sourceId')).toBe('acc_1');
});

test.each([401, 403, 404, 503])(
  'a look that broke off with %i leaves the transfer in doubt, whatever that status says of a read',
  async (status) => {
    const body = { error: 'No.', code: 'refused' };
    const { payments } = observed(() => Response.json(body, { status }));
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

test('a look that is aborted leaves the transfer in doubt', async () => {
  const { payments } = observed(() => Response.json(page([])));
  const looking = payments.transfers.reconcile(newTransfer, {
    since,
    signal: AbortSignal.abort(new Error('enough')),
  });
  const error = await failureOf(looking, AbortError);
  expect(error).toMatchObject({ name: 'AbortError', outcome: 'unknown', retryable: false });
});

test('a misspelt option is told as one of reconcile', async () => {
  const { payments } = observed(() => Response.json(page([])));
  const options = { since, clockskew: 1 } as ReconcileOptions;
  const error = await failureOf(
    payments.transfers.reconcile(newTransfer, options),
    ValidationError,
  );
  expect(error.operation).toBe('transfers.reconcile');
  expect(error.message).toContain(' in transfers.reconcile: ');
  // What the list refuses is told of the look, too.
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
  ['a since that is no date', newTransfer, { since: 'soon' }, 'options.since'],
  [
    'a since that is an invalid date',
    newTransfer,
    { since: new Date(Number.NaN) },
    'options.since',
  ],
  ['a since without an offset', newTransfer, { since: '2026-01-01T00:00:00' }, 'options.since'],
  ['a since on 30 February', newTransfer, { since: '2026-02-30T00:00:00Z' }, 'options.since'],
  ['a since that is a year', newTransfer, { since: 2_026 }, 'options.since'],
  ['a since in milliseconds', newTransfer, { since: 1_767_225_600_000 }, 'options.since'],
  ['a since yet to come', newTransfer, { since: '2999-01-01T00:00:00Z' }, 'options.since'],
  ['a timeout of a page', newTransfer, { since, timeout: -1 }, 'options.timeout'],
  ['a negative clockSkew', newTransfer, { since, clockSkew: -1 }, 'options.clockSkew'],
  [
    'a clockSkew as text, which would let a since yet to come through',
    newTransfer,
    { since: new Date(Date.now() + 3_600_000), clockSkew: '120000' },
    'options.clockSkew',
  ],
  ['a clockSkew of null', newTransfer, { since, clockSkew: null }, 'options.clockSkew'],
  ['a clockSkew that is a bigint', newTransfer, { since, clockSkew: 5n }, 'options.clockSkew'],
  ['a clockSkew that is none', newTransfer, { since, clockSkew: Number.NaN }, 'options.clockSkew'],
  ['an unknown option', newTransfer, { since, until: since }, 'options.until'],
  ['an amount that is a number', { ...newTransfer, amount: 12.5 }, { since }, 'amount'],
  ['no destination', { sourceAccountId: 'acc_1', amount: '1' }, { since }, 'destinationAccountId'],
  ['no input', undefined, { since }, ''],
])('reconcile refuses %s, and sends nothing', async (_name, asked, options, at) => {
  const { payments, sent } = observed();
  const looking = payments.transfers.reconcile(
    asked as TransferCreateInput,
    options as ReconcileOptions,
  );
  const error = await failureOf(looking, ValidationError);
  expect(error.issues.map(({ path }) => path)).toContain(at);
  // Of the creation it says nothing: whoever sent it again over this would pay twice.
  expect(error).toMatchObject({ outcome: 'unknown', retryable: false });
  expect(error.message).toMatch(
    /^The transfer is still in doubt: the search could not start\.\nDo not/,
  );
  expect(error.message).not.toContain('Nothing was sent');
  expect(sent).toEqual([]);
});

test('after a look that could not begin, the next one goes by what was known', async () => {
  const { payments } = observed();
  const withSince = await failureOf(
    payments.transfers.reconcile(newTransfer, { since, clockSkew: -1 }),
    ValidationError,
  );
  expect(withSince.startedAt).toBe(new Date(since).toISOString());
  // Nobody knows when it was sent, so no transfer is too old to be it.
  const withNone = await failureOf(
    payments.transfers.reconcile(newTransfer, { since: new Date(Number.NaN) }),
    ValidationError,
  );
  expect(withNone.startedAt).toBe('1970-01-01T00:00:00.000Z');
});

test('a since that a clock within clockSkew has not reached yet is no mistake', async () => {
  const { payments } = observed(() =>
    Response.json({ data: [], hasMore: false, nextCursor: null }),
  );
  const ahead = new Date(Date.now() + 60_000);
  expect(await payments.transfers.reconcile(newTransfer, { since: ahead })).toEqual({
    result: 'not_found',
    scanned: 0,
  });
});

test.each([7, true, {}, [], null])(
  'a currency of %j beside another amount is no reason to throw',
  async (currency) => {
    const wanted = { ...newTransfer, description: 'Inv. 7' };
    const odd = { ...match, description: 'Inv. 7', amount: '1250', currency };
    const { payments } = observed(
      () => Response.json({ data: [odd], hasMore: false, nextCursor: null }),
      { validation: 'report' },
    );
    expect(await payments.transfers.reconcile(wanted, { since })).toMatchObject({
      result: 'ambiguous',
    });
  },
);

const reference = 'payroll-2026-11-0017';
const uuid = '550e8400-e29b-41d4-a716-446655440000';
const withSign = 'R&D payroll-0017';

/** How banks rewrite a description. */
const descriptions: readonly (readonly [way: string, sent: string, listed: string | null])[] = [
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

/** How banks write a party, an amount or a currency; the description is ours. */
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

const rewrites: readonly (readonly [way: string, sent: string, listed: object])[] = [
  ...descriptions.map(
    ([way, sent, description]) => [way, sent, { description }] as [string, string, object],
  ),
  ...terms.map(([way, listed]) => [way, reference, listed] as [string, string, object]),
];

test('a payment that the list rewrites is never missed', async () => {
  const missed = await whichFail(rewrites, async (description, listed) => {
    const { look } = listing({ ...match, description, ...listed });
    expect((await look({ ...newTransfer, description })).result).toBe('ambiguous');
  });
  expect(missed).toEqual([]);
});

/** A sandbox that shows what a payment made in the way of a bank, and a client that pays once. */
function rewriting(description: string, listed: object) {
  const sandbox = platform();
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

test('createOnce makes one transfer when the response is lost and the list rewrites it', async () => {
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

test('createOnce resolves to a transfer that was recorded, however it is written now', async () => {
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
])('a neighbour is another payment: %s is not %s', async (one, other) => {
  for (const [description, listed] of [
    [one, other],
    [other, one],
  ] as const) {
    const { look } = listing({ ...match, description: listed });
    expect((await look({ ...newTransfer, description })).result).toBe('not_found');
  }
});

test('a transfer to another party with our description is no rival of the very payment', async () => {
  const description = 'Rent';
  const ours = { ...match, description };
  const theirs = { ...ours, id: 'txfr_2', destinationAccountId: 'acc_9' };
  const { look } = listing(theirs, ours);
  expect(await look({ ...newTransfer, description })).toEqual({ result: 'found', transfer: ours });
});

test('letters that repeat at the ends of two descriptions are compared in no time', async () => {
  const half = 'a'.repeat(500);
  const rows = Array.from({ length: 100 }, (_, at) => ({
    ...match,
    id: `txfr_${at}`,
    description: `${half}b${half.slice(2)}`,
  }));
  const begun = performance.now();
  await listing(...rows).look({ ...newTransfer, description: `c${'a'.repeat(998)}` });
  expect(performance.now() - begun).toBeLessThan(1_000);
});

/** A platform whose list has no end; a search that does not end either fails at page 100. */
function endless(row: (number: number) => object) {
  const { payments, sent } = observed(() => {
    if (sent.length === 100) return Response.json({}, { status: 403 });
    const rows = Array.from({ length: 100 }, (_, at) => row(100 * sent.length + at));
    return Response.json(page(rows, `after-${sent.length}`));
  });
  return { payments, sent };
}

test('an endless list of candidates is ambiguous after a thousand', async () => {
  const { payments, sent } = endless((number) => ({ ...match, id: `txfr_${number}` }));
  const result = await payments.transfers.reconcile(newTransfer, { since });
  expect(result).toMatchObject({
    result: 'ambiguous',
    candidates: { length: 1_000 },
  });
  // The page after the one that decides may have been asked for ahead.
  expect(sent.length).toBeLessThanOrEqual(12);
});

test('an endless list of other transfers ends with the signal of the caller', async () => {
  const caller = new AbortController();
  const { payments, sent } = endless((number) => {
    if (sent.length === 50) caller.abort();
    return { ...match, id: `txfr_${number}`, amount: '99' };
  });
  const search = payments.transfers.reconcile(newTransfer, { since, signal: caller.signal });
  expect(await failureOf(search, AbortError)).toMatchObject({ outcome: 'unknown' });
});

test.each(['', 'txfr_'])(
  'a search keeps no transfer that is no candidate, with an id (%j) or without',
  async (prefix) => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const heaps: number[] = [];
    const { payments, sent } = observed(() => {
      const rows = Array.from({ length: 100 }, (_, at) => ({
        ...match,
        id: prefix && `${prefix}${sent.length * 100 + at}`,
        amount: '99',
        description: `${sent.length} ${'x'.repeat(2_000)}`,
      }));
      if (sent.length === 20 || sent.length === 120) {
        collectGarbage();
        heaps.push(process.memoryUsage().heapUsed);
      }
      return Response.json(page(rows, sent.length === 120 ? null : `after-${sent.length}`));
    });
    const result = await payments.transfers.reconcile(newTransfer, { since });
    expect(result).toEqual({ result: 'not_found', scanned: 12_000 });
    const [early = 0, late = 0] = heaps;
    // Kept whole, each would take more than 2,000 bytes.
    expect((late - early) / 10_000).toBeLessThan(500);
  },
);

test.each<[string, object]>([
  ['that reports no more pages, and has a cursor', page([match], 'onwards', false)],
  ['that is empty, and reports that more follow', page([], 'onwards')],
])('a page %s leaves the transfer in doubt', async (_, contradiction) => {
  const { payments, sent } = observed(() =>
    Response.json(sent.length === 1 ? contradiction : page([])),
  );
  const error = await failureOf(payments.transfers.reconcile(newTransfer, { since }));
  expect(error).toMatchObject({ outcome: 'unknown', operation: 'transfers.reconcile' });
});

test('a list of the caller ends at such a page as the platform reports it', async () => {
  const { payments } = observed(() => Response.json(page([match], 'onwards', false)));
  expect(await payments.transfers.list().toArray({ max: 5 })).toEqual([match]);
});

test('an empty page of the sandbox leaves the transfer in doubt', async () => {
  const sandbox = platform();
  const payments = new PaymentsClient(sandbox.clientOptions);
  sandbox.faults.add({ operation: 'transfers.list', fault: { kind: 'empty_page' } });
  const error = await failureOf(payments.transfers.reconcile(input));
  expect(error).toMatchObject({ outcome: 'unknown', retryable: false });
  expect(await payments.transfers.reconcile(input)).toMatchObject({ result: 'not_found' });
});
