import {
  isObjectOrArray,
  isOpen,
  type Journal,
  type JournalEntry,
  type PaidEntry,
  type SendingEntry,
} from './journal.ts';
import { describeValue, Mismatch, Trial, type OnOpenEntry } from './trial.ts';

/*
 * The contract of a journal. Every case uses several journal objects (handles) on one store,
 * because a payment may be made twice if two processes read different entries.
 * Assumptions A3 and A4: docs/proof.md.
 */

interface JournalCase {
  /** What a correct journal does in this case. */
  readonly expected: string;
  readonly hint: string;
  /** The optional method that this case tests. A journal without the method skips the case. */
  readonly needs?: keyof Journal;
  /** Runs the case with a reference that no other run uses. `one` is a claim of that reference. */
  readonly run: (trial: Trial, reference: string, one: SendingEntry) => Promise<void>;
}

const handleCount = 2;
const racingCalls = 20;
const races = 2;
/** The journal's clock must advance by at least `minAdvanceMs` during a pause of `pauseMs`. */
const pauseMs = 50;
const minAdvanceMs = 25;
/** The clock of a store may step back by this much, because a time server may set that clock. */
const stepBackMs = 5;
/** A journal's clock that differs more from this process's clock may have a wrong time zone. */
const maxClockDifferenceMs = 120_000;
/** Time of payment of the entries that `prune` has to remove: 1970, before every real payment. */
const oldPaidAt = 1_000;
/** Number of payments to list: more than one page, because stores often read 100 or 200 rows. */
const openCount = 250;

/** Creates a claim, which is an entry in the state `sending`. The cases name it by its id. */
const createClaim = (
  reference: string,
  claimId: string,
  fields: Partial<SendingEntry> = {},
): SendingEntry => ({
  state: 'sending',
  claimId,
  host: 'host-1',
  // Times have fractions here, because a journal's clock may return fractions of a millisecond.
  claimedAt: 1_764_000_000_123.456,
  expiresAt: 1_764_000_420_123.456,
  firstClaimedAt: 1_763_999_999_999,
  // No client uses this base URL, so no client can make this payment.
  platform: 'https://test-journal.invalid/v0',
  input: {
    sourceAccountId: 'acc_000001',
    destinationAccountId: 'acc_000002',
    amount: '12.50',
    description: reference,
  },
  ...fields,
});

/** Copies a value of JSON, with the fields of every object in the opposite order. */
function reverseFields<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reverseFields) as T;
  if (!isObjectOrArray(value)) return value;
  const fields = Object.entries(value).map(([name, each]) => [name, reverseFields<unknown>(each)]);
  return Object.fromEntries(fields.toReversed()) as T;
}

/** Creates one entry for each state of a payment. */
function createEntries(reference: string) {
  const sending = createClaim(reference, 'one');
  const { input, platform } = sending;
  return {
    sending,
    ambiguous: { ...sending, state: 'ambiguous', candidates: ['txfr_000001', 'txfr_000002'] },
    not_paid: { state: 'not_paid', resolvedAt: 3, platform, input },
    paid: {
      state: 'paid',
      // No other reference names this transfer.
      transferId: `txfr_${reference}`,
      paidAt: oldPaidAt,
      resolvedBy: 'ops',
      platform,
      input,
    },
  } as const satisfies { [S in JournalEntry['state']]: Extract<JournalEntry, { state: S }> };
}

/** Checks which reference each handle finds for a transfer. */
const expectFound = (
  trial: Trial,
  { platform, transferId }: PaidEntry,
  expected: string | undefined,
): Promise<void> => trial.expect('find', (handle) => handle.find?.(platform, transferId), expected);

/** The cases of the contract. If the first one fails, all others would fail for the same reason. */
const cases: readonly JournalCase[] = [
  {
    expected: 'every handle reads what a swap by any handle wrote.',
    hint: 'Check that the store can be reached and has its table. Store the entry in the one store that all processes share, under its reference. Do not cache, and do not read from a replica. Resolve to undefined if there is no entry.',
    run: async (trial, reference, one) => {
      await trial.read(reference, undefined);
      await trial.swap(reference, undefined, one);
    },
  },
  {
    expected: 'an entry of every state is kept and removed.',
    hint: 'Store the whole entry as JSON, and let swap(reference, before, undefined) delete it.',
    run: async (trial, reference) => {
      const { sending, ambiguous, not_paid: notPaid, paid } = createEntries(reference);
      const states = [undefined, sending, ambiguous, notPaid, sending, paid, undefined, sending];
      for (const [index, before] of states.slice(0, -1).entries()) {
        await trial.swap(reference, before, states[index + 1]);
      }
    },
  },
  {
    expected: 'swap(reference, undefined, after) writes only if there is no entry.',
    hint: 'Insert by a primary key, and resolve to false if the reference exists: ON CONFLICT DO NOTHING.',
    run: async (trial, reference, one) => {
      await trial.swap(reference, undefined, one);
      await trial.swapInVain(reference, undefined, createClaim(reference, 'other'), one);
      await trial.swapInVain(reference, undefined, one, one);
    },
  },
  {
    expected: 'swap(reference, before, after) writes only if the entry still is `before`.',
    hint: 'Compare the whole entry in the statement that writes: WHERE reference = ? AND entry = ?.',
    run: async (trial, reference, one) => {
      const other = createClaim(reference, 'other');
      await trial.swapInVain(reference, one, other, undefined);
      await trial.swap(reference, undefined, one);
      const { ambiguous } = createEntries(reference);
      const similar: readonly JournalEntry[] = [
        { ...one, claimId: 'ONE' },
        { ...one, expiresAt: Number(one.expiresAt) + 1 },
        { ...one, input: { ...one.input, amount: '12.5' } },
        ambiguous,
      ];
      // None of these similar entries is in the journal, so none may be replaced.
      for (const before of similar) await trial.swapInVain(reference, before, other, one);
      await trial.swap(reference, one, ambiguous);
      const candidates = ['txfr_000001', 'txfr_000003'] as const;
      await trial.swapInVain(reference, { ...ambiguous, candidates }, other, ambiguous);
      await trial.swap(reference, ambiguous, other);
    },
  },
  {
    expected: 'an entry is compared by its values, in whatever order its fields are.',
    hint: 'Read the stored text, compare its values with `before`, and let the statement that writes expect that text.',
    run: async (trial, reference) => {
      const claim = createClaim(reference, 'one', { history: [{ at: 1, state: 'sending' }] });
      await trial.swap(reference, undefined, claim);
      await trial.swap(reference, reverseFields(claim), createClaim(reference, 'other'));
      await trial.swap(reference, reverseFields(createClaim(reference, 'other')), undefined);
    },
  },
  {
    expected: 'swap(reference, before, undefined) removes the entry only if it still is `before`.',
    hint: 'Delete in one statement: DELETE … WHERE reference = ? AND entry = ?.',
    run: async (trial, reference, one) => {
      const other = createClaim(reference, 'other');
      await trial.swapInVain(reference, one, undefined, undefined);
      await trial.swap(reference, undefined, one);
      await trial.swapInVain(reference, other, undefined, one);
      await trial.swap(reference, one, undefined);
      await trial.swap(reference, undefined, other);
    },
  },
  {
    expected: 'swap(reference, undefined, undefined) resolves to whether there is no entry.',
    hint: 'Read the entry, write nothing.',
    run: async (trial, reference) => {
      await trial.swap(reference, undefined, undefined);
      const one = createClaim(reference, 'one');
      await trial.swap(reference, undefined, one);
      await trial.swapInVain(reference, undefined, undefined, one);
    },
  },
  {
    expected: `of ${racingCalls} calls of swap at once with the same \`before\`, one wins.`,
    hint: 'Compare and write in one atomic statement. Resolve to false if the store reports a conflict.',
    run: async (trial) => {
      for (let turn = 0; turn < races; turn += 1) {
        const reference = trial.newReference();
        const claims = Array.from({ length: racingCalls }, (_, index) =>
          createClaim(reference, `claim ${index}`),
        );
        const inserted = await trial.race(reference, undefined, claims);
        const others = claims.map((claim) => ({ ...claim, host: 'host-2' }));
        const updated = await trial.race(reference, inserted, others);
        await trial.race(
          reference,
          updated,
          claims.map(() => undefined),
        );
      }
    },
  },
  {
    expected: 'references that differ in one character have entries of their own.',
    hint: 'Use a key of at least 140 characters that is compared byte by byte (MySQL: CHARACTER SET ascii COLLATE ascii_bin), and do not change the reference.',
    run: async (trial) => {
      const ends = ['inv-1', 'INV-1', 'inv_1', 'inv%1', 'inv*1', 'inv 1', 'inv  1', 'inv/1'];
      // With the start that newReference adds, these references have 140 characters, the maximum.
      const long = 'x'.repeat(140 - trial.newReference('.').length);
      const references = [...ends, `${long}1`, `${long}2`].map((end) => trial.newReference(end));
      const entries = references.map((reference) => createClaim(reference, 'one'));
      for (const [index, reference] of references.entries()) {
        await trial.swap(reference, undefined, entries[index]);
      }
      for (const [index, reference] of references.entries()) {
        await trial.read(reference, entries[index]);
      }
    },
  },
  {
    expected: 'a reference may contain every printable ASCII character.',
    hint: 'Pass the reference as a parameter of the statement; escape it in a path, a URL or a pattern.',
    run: async (trial) => {
      const codes = Array.from({ length: 127 - 32 }, (_, index) => index + 32);
      // One reference cannot hold all printable characters, so two references share them. The space
      // is first, because a reference must not end with a space.
      const reference = trial.newReference(String.fromCharCode(...codes.slice(0, 80)));
      const other = trial.newReference(String.fromCharCode(...codes.slice(60)));
      for (const each of [reference, other]) {
        await trial.swap(each, undefined, createClaim(each, 'one'));
      }
    },
  },
  {
    expected: 'an entry keeps its text: quotes, line ends, every script, emoji, 16,000 characters.',
    hint: 'Use a column of Unicode text without a short limit (MySQL: TEXT CHARACTER SET utf8mb4), and pass the entry as a parameter.',
    run: async (trial) => {
      const texts = [
        `'quoted' "twice" \`back\` \\ \\n %s $1 :name ? -- ; {}`,
        'Zo\u00EB \u8ACB\u6C42\u66F8 \u{1F4B8} e\u0301 \r\n\t end ',
        'x'.repeat(16_000),
      ];
      for (const host of texts) {
        const reference = trial.newReference();
        await trial.keep(reference, createClaim(reference, 'one', { host }));
      }
    },
  },
  {
    expected: 'an entry keeps every digit of its numbers.',
    hint: 'Store the entry as JSON text; a column of a number may round.',
    run: async (trial, reference) => {
      const numbers = { claimedAt: 0, firstClaimedAt: 0.1 + 0.2, expiresAt: 2 ** 53 - 1 };
      await trial.keep(reference, createClaim(reference, 'one', numbers));
    },
  },
  {
    expected: 'an entry keeps its history in order, and a field that is null.',
    hint: 'Store the entry as JSON text.',
    run: async (trial, reference) => {
      const history = Array.from({ length: 32 }, (_, at) => {
        const state = at % 2 === 0 ? 'sending' : 'ambiguous';
        return { at, state, host: `host-${at}` } as const;
      });
      await trial.keep(reference, createClaim(reference, 'one', { history, expiresAt: null }));
    },
  },
  {
    expected: 'the caller may change an entry that it passed to swap or got from read.',
    hint: 'Keep a copy: a string of JSON, or structuredClone(entry).',
    run: async (trial, reference) => {
      const passed = createClaim(reference, 'one');
      await trial.swap(reference, undefined, passed);
      const changeInPlace = (entry: JournalEntry | undefined): void => {
        if (!entry) return;
        Object.assign(entry, { platform: 'changed' });
        Object.assign(entry.input, { amount: '1' });
      };
      changeInPlace(passed);
      await trial.read(reference, createClaim(reference, 'one'));
      for (const handle of trial.handles) {
        changeInPlace(await trial.call('read', () => handle.read(reference)));
      }
      await trial.read(reference, createClaim(reference, 'one'));
    },
  },
  {
    expected: 'now resolves to milliseconds since 1970, by one clock for all handles.',
    hint: 'Read the clock of the store in the store, not the clock of the process.',
    run: async (trial, reference) => {
      let last = 0;
      for (let turn = 0; turn < 4 * handleCount; turn += 1) {
        const now = await trial.call('now', () => trial.nextHandle().now(reference));
        if (!Number.isFinite(now) || Math.abs(now - Date.now()) > maxClockDifferenceMs) {
          throw new Mismatch(
            `now resolved to ${describeValue(now)} instead of about ${Date.now()}.`,
            'Resolve to a number of milliseconds, not to seconds, a string or a Date, and check that both clocks are set.',
          );
        }
        if (now < last - stepBackMs) {
          throw new Mismatch(`now resolved to ${now} after another handle's ${last}.`);
        }
        last = now;
      }
    },
  },
  {
    expected: 'now advances between two calls.',
    hint: 'Read a clock with milliseconds in each call. The now() of SQL is the start of a transaction, or has whole seconds.',
    run: async (trial, reference) => {
      for (const handle of trial.handles) {
        const before = await trial.call('now', () => handle.now(reference));
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        const after = await trial.call('now', () => handle.now(reference));
        if (after - before >= minAdvanceMs) continue;
        throw new Mismatch(`now advanced by ${after - before} in ${pauseMs} ms.`);
      }
    },
  },
  {
    expected: 'open() lists what is sending or ambiguous, and nothing else.',
    hint: "Select by the state of the entry, now: state IN ('sending', 'ambiguous').",
    needs: 'open',
    run: async (trial) => {
      const reference = trial.newReference('"state":"sending"');
      const { sending, ambiguous, not_paid: notPaid, paid } = createEntries(reference);
      const states = [undefined, sending, ambiguous, notPaid, sending, undefined, sending, paid];
      for (const [index, before] of states.slice(0, -1).entries()) {
        const after = states[index + 1];
        await trial.swap(reference, before, after);
        await trial.expectOpen(new Map(isOpen(after) ? [[reference, after]] : []));
      }
      await trial.swapInVain(reference, undefined, sending, paid);
      await trial.expectOpen(new Map());
    },
  },
  {
    expected: 'open() looks at the state of the entry, not at the states in its history.',
    hint: 'Keep the state in a column of its own, which swap writes with the entry.',
    needs: 'open',
    run: async (trial, reference) => {
      const other = trial.newReference();
      const history = (['sending', 'not_paid', 'paid', 'ambiguous'] as const).map((state, at) => ({
        at,
        state,
      }));
      const claim = createClaim(reference, 'one', { history });
      const notPaid = { ...createEntries(other).not_paid, history };
      await trial.swap(reference, undefined, claim);
      await trial.swap(other, undefined, notPaid);
      await trial.expectOpen(new Map([[reference, claim]]));
      await trial.swap(other, notPaid, undefined);
    },
  },
  {
    expected: `open() lists each of ${openCount} payments once, while the caller decides them.`,
    hint: 'Read the next page from the last reference on, not by its number, and hold no lock between two entries.',
    needs: 'open',
    run: async (trial) => {
      const claims = new Map<string, JournalEntry>();
      for (let count = 0; count < openCount; count += 1) {
        const reference = trial.newReference();
        claims.set(reference, createClaim(reference, 'one'));
      }
      const inserts = [...claims].map(([reference, claim]) =>
        trial.trySwap(reference, undefined, claim),
      );
      await Promise.all(inserts);
      await trial.expectOpen(claims);
      const decide: OnOpenEntry = (reference, entry) => trial.trySwap(reference, entry, undefined);
      const { size } = await trial.listOpen(trial.nextHandle(), decide);
      if (size < openCount) {
        throw new Mismatch(`open() listed ${size} of ${openCount} that were decided meanwhile.`);
      }
      await trial.expectOpen(new Map());
    },
  },
  {
    expected: 'a caller may stop reading from open().',
    hint: 'Release the connection or the cursor in a finally block of the generator.',
    needs: 'open',
    run: async (trial, reference, claim) => {
      await trial.swap(reference, undefined, claim);
      for (const handle of [...trial.handles, ...trial.handles, ...trial.handles]) {
        await trial.call('open()', async () => {
          for await (const _ of handle.open?.() ?? []) break;
        });
      }
      await trial.swap(reference, claim, undefined);
    },
  },
  {
    expected:
      'prune({ paidBefore }) removes what was paid before it, with keepReferences only the terms, and resolves to the number.',
    hint: "DELETE … WHERE state = 'paid' AND paidAt < paidBefore, in milliseconds, and return the count. With keepReferences, replace input by { description } in the entries that have more, and clear columns of terms.",
    needs: 'prune',
    run: async (trial) => {
      await prunePaid(trial, false);
      await prunePaid(trial, true);
    },
  },
  {
    expected: 'find resolves to the reference of the paid entry, as long as that entry says so.',
    hint: 'Keep platform and transferId in columns, which swap writes with the entry: null unless the entry is paid.',
    needs: 'find',
    run: async (trial, reference) => {
      const { sending, paid, not_paid: notPaid } = createEntries(reference);
      await expectFound(trial, paid, undefined);
      await trial.swap(reference, undefined, sending);
      await expectFound(trial, paid, undefined);
      await trial.swap(reference, sending, paid);
      await expectFound(trial, paid, reference);
      await expectFound(trial, { ...paid, platform: `${paid.platform}/other` }, undefined);
      await trial.swap(reference, paid, notPaid);
      await expectFound(trial, paid, undefined);
      await trial.swap(reference, notPaid, paid);
      await trial.swap(reference, paid, undefined);
      await expectFound(trial, paid, undefined);
    },
  },
  {
    expected: 'of two references, only one is paid by one transfer of a platform.',
    hint: 'Add a unique index on platform and transferId, and resolve to false if the store reports a conflict.',
    needs: 'find',
    run: async (trial, reference) => {
      const other = trial.newReference();
      const { paid } = createEntries(reference);
      const claim = createClaim(other, 'one');
      const shared = { ...paid, input: claim.input };
      const elsewhere = { ...shared, platform: `${paid.platform}/other` };
      await trial.swap(reference, undefined, paid);
      await trial.swap(other, undefined, claim);
      await trial.swapInVain(other, claim, shared, claim);
      await expectFound(trial, paid, reference);
      await trial.swap(other, claim, elsewhere);
      await trial.swap(other, elsewhere, undefined);
      await trial.swapInVain(other, undefined, shared, undefined);
      await trial.swap(reference, paid, undefined);
      await trial.swap(other, undefined, shared);
      await expectFound(trial, paid, other);
    },
  },
  {
    expected: `of ${racingCalls} references that record one transfer at once, one wins.`,
    hint: 'Let the unique index of the store decide, not a read before the write.',
    needs: 'find',
    run: async (trial) => {
      const references = Array.from({ length: racingCalls }, () => trial.newReference());
      const claims = references.map((reference) => createClaim(reference, 'one'));
      const { paid } = createEntries(references[0] ?? '');
      await Promise.all(
        references.map((each, index) => trial.trySwap(each, undefined, claims[index])),
      );
      const swaps = references.map((each, index) => trial.trySwap(each, claims[index], paid));
      const winners = (await Promise.all(swaps)).filter(({ isWon }) => isWon);
      if (winners.length === 1) return;
      throw new Mismatch(`${winners.length} of ${racingCalls} calls at once resolved to true.`);
    },
  },
  {
    expected:
      'similar lists the payments with these terms, newest first, except for not_paid ones.',
    hint: 'Keep the terms, with the amount by value, and the time of the first claim since the latest not_paid in columns, which swap writes with the entry.',
    needs: 'similar',
    run: async (trial, again) => {
      // No other run has entries of this platform.
      const platform = `https://${crypto.randomUUID()}.invalid/v0`;
      const [one, other] = [trial.newReference(), trial.newReference()];
      const claim = async (reference: string, before?: JournalEntry): Promise<SendingEntry> => {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        const at = await trial.call('now', () => trial.nextHandle().now(reference));
        const history = [...(before?.history ?? []), { at, state: 'sending' as const }];
        const times = { claimedAt: at, expiresAt: at, firstClaimedAt: at };
        const entry = createClaim(reference, 'one', { ...times, platform, history });
        await trial.swap(reference, before, entry);
        return entry;
      };
      const earlier = await claim(again);
      const end = { at: earlier.claimedAt, state: 'not_paid' } as const;
      const history = [...(earlier.history ?? []), end];
      const notPaid = { ...createEntries(again).not_paid, platform, history };
      await trial.swap(again, earlier, notPaid);
      const second = await claim(one);
      const paid = { ...createEntries(one).paid, platform, history: second.history };
      await trial.swap(one, second, paid);
      const third = await claim(other);
      const ambiguous = { ...third, state: 'ambiguous', candidates: ['txfr_000001'] } as const;
      await trial.swap(other, third, ambiguous);
      const { description: _, ...input } = createClaim('', 'one').input;
      const terms = { platform, input: { ...input, amount: '12.5', currency: 'USDC' } };
      const decided = [[other, ambiguous] as const, [one, paid] as const];
      await trial.expectSimilar(terms, 0, decided);
      const sending = await claim(again, notPaid);
      const listed = [[again, sending] as const, ...decided];
      const others: readonly object[] = [
        { platform: `${platform}/other` },
        { input: { ...input, sourceAccountId: 'acc_000003' } },
        { input: { ...input, destinationAccountId: 'acc_000003' } },
        { input: { ...input, destinationAccountId: undefined, counterpartyId: 'cpty_000001' } },
        { input: { ...input, amount: '12.51' } },
        { input: { ...input, currency: 'EURC' } },
      ];
      for (const fields of others) {
        const reference = trial.newReference();
        const changed: SendingEntry = { ...sending, ...fields };
        const entry = { ...changed, input: { ...changed.input, description: reference } };
        await trial.swap(reference, undefined, entry);
      }
      const rows = await trial.expectSimilar(terms, 0, listed);
      for (const { claimedAt } of rows) {
        if (Math.abs(claimedAt - sending.claimedAt) <= maxClockDifferenceMs) continue;
        throw new Mismatch(
          `similar listed claimedAt ${describeValue(claimedAt)} instead of about ${sending.claimedAt}.`,
        );
      }
      await trial.expectSimilar(terms, rows[1]?.claimedAt ?? NaN, listed.slice(0, 2));
    },
  },
  {
    expected: 'firstClaimAt resolves to one time for all handles, also after a claim is removed.',
    hint: 'Write the time before the first entry, by a statement of its own that changes nothing that is there.',
    needs: 'firstClaimAt',
    run: async (trial, reference, claim) => {
      await trial.swap(reference, undefined, claim);
      const readTimes = () =>
        Promise.all(
          trial.handles.map((handle) => trial.call('firstClaimAt', () => handle.firstClaimAt?.())),
        );
      const times = await readTimes();
      await trial.swap(reference, claim, undefined);
      const [time = NaN] = times;
      for (const each of [...times, ...(await readTimes())]) {
        if (each === time && time >= 0 && time <= Date.now() + maxClockDifferenceMs) continue;
        throw new Mismatch(
          `firstClaimAt resolved to ${describeValue(each)} instead of ${describeValue(time)}.`,
          Number.isNaN(time) ? 'Resolve to milliseconds since 1970, or to 0.' : undefined,
        );
      }
    },
  },
];

async function prunePaid(trial: Trial, keepReferences: boolean): Promise<void> {
  const paidBefore = new Date(2 * oldPaidAt);
  const options = { paidBefore, keepReferences };
  const prune = async (expected?: number): Promise<void> => {
    const count = await trial.call('prune()', () => trial.nextHandle().prune?.(options));
    if (expected === undefined || count === expected) return;
    throw new Mismatch(`prune() resolved to ${describeValue(count)} instead of ${expected}.`);
  };
  // Removes paid entries that an earlier run of this case has left because the run was killed.
  await prune();
  const entries = new Map<string, JournalEntry>();
  const write = async (create: (reference: string) => JournalEntry): Promise<string> => {
    // A journal that searches the text of an entry must not take this reference for its state.
    const reference = trial.newReference(
      `"state":"paid","paidAt":1 ${keepReferences} ${entries.size}`,
    );
    entries.set(reference, create(reference));
    await trial.swap(reference, undefined, entries.get(reference));
    return reference;
  };
  const createPaidAt = (paidAt: number) => (reference: string) =>
    ({ ...createEntries(reference).paid, paidAt }) satisfies PaidEntry;
  // These entries have to stay: those that are not paid, however old, and those paid later.
  const oldTimes = { claimedAt: 1, expiresAt: 1, firstClaimedAt: 1 };
  await write((reference) => createClaim(reference, 'one', oldTimes));
  await write((reference) => ({ ...createEntries(reference).ambiguous, ...oldTimes }));
  await write((reference) => createEntries(reference).not_paid);
  await write(createPaidAt(paidBefore.getTime()));
  await write(createPaidAt(Date.now()));
  const dropped = (entry: JournalEntry) =>
    keepReferences && entry.state === 'paid'
      ? { ...entry, input: { description: entry.input.description } }
      : undefined;
  // These entries have to go. The second was paid half a millisecond before `paidBefore`.
  const pruned = [
    await write(createPaidAt(oldPaidAt)),
    await write(createPaidAt(paidBefore.getTime() - 0.5)),
  ];
  await prune(pruned.length);
  for (const [reference, entry] of entries) {
    await trial.read(reference, pruned.includes(reference) ? dropped(entry) : entry);
  }
  await prune(0);
}

/** Runs one case of the contract, and returns a part of the report if the case fails. */
async function runCase(
  { expected, hint, run }: JournalCase,
  handles: readonly Journal[],
): Promise<string | undefined> {
  const trial = new Trial(handles);
  try {
    const reference = trial.newReference();
    await run(trial, reference, createClaim(reference, 'one'));
    return undefined;
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    return `Expected: ${expected}\n   Happened: ${error.message}\n   To do: ${error.hint ?? hint}`;
  } finally {
    await trial.removeAll();
  }
}

/**
 * Checks a journal of your own, and throws an error that lists what to fix. `makeJournal` opens
 * another handle on the same store, from which the test removes its own entries.
 * @example
 * ```ts
 * import { memoryJournal, testJournal } from 'payments-platform-sdk/journals';
 *
 * const journal = memoryJournal(); // yours
 * await testJournal(() => journal);
 * ```
 */
export async function testJournal(makeJournal: () => Journal | Promise<Journal>): Promise<void> {
  const handles: Journal[] = [];
  for (let count = 0; count < handleCount; count += 1) handles.push(await makeJournal());
  const [handle] = handles;
  const failures: string[] = [];
  for (const each of cases) {
    if (handle?.[each.needs ?? 'read'] === undefined) continue;
    const failure = await runCase(each, handles);
    if (failure !== undefined) failures.push(failure);
    if (failure !== undefined && each === cases[0]) break;
  }
  if (failures.length === 0) return;
  const list = failures.map((failure, index) => `${index + 1}. ${failure}`);
  throw new Error(
    `Cases of testJournal that failed: ${list.length}. Do not pay with this journal until it passes.\n${list.join('\n')}`,
  );
}
