import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { sqliteJournal, type JournalEntry } from 'payments-platform-sdk/journals';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClaim, createPlatform, newInput } from '../stores/scenarios.ts';
import { commandIn, fileOfCommand } from '../support/commands.ts';

// What payments-journal prints in each state of a payment, and that finish sends nothing.

const folder = mkdtempSync(join(tmpdir(), 'payments-words-'));
const { run } = commandIn(folder, fileOfCommand('journals'), (end) => closers.push(end));
const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  rmSync(folder, { recursive: true, force: true });
});

const minute = 60_000;
const store = ['--sqlite', 'payments.db'];

/** A platform and a journal with a payment in each state. */
async function setup(file = 'payments.db') {
  const sandbox = createPlatform();
  const server = await listen(sandbox, { port: 0 });
  closers.push(() => server.close());
  const { baseUrl, clientOptions } = server;
  const journal = sqliteJournal(join(folder, file));
  closers.push(() => {
    journal.close();
  });
  const { transfers } = new PaymentsClient({ ...clientOptions, journal });
  const env = { PAYMENTS_BASE_URL: baseUrl, PAYMENTS_API_KEY: clientOptions.apiKey };
  const claim = async (description: string, minutes: number, fields: object = {}) => {
    const input: OnceInput = { ...newInput(), description };
    const claimedAt = Date.now() - minutes * minute;
    const times = { claimedAt, firstClaimedAt: claimedAt, deadline: claimedAt + 2 * minute };
    const entry = createClaim(input, {
      ...times,
      expiresAt: claimedAt + 17 * minute,
      platform: baseUrl,
      history: [{ at: claimedAt, state: 'sending', host: 'worker-1' }],
      ...fields,
    });
    await journal.swap(description, undefined, entry);
    return input;
  };
  const readLedger = () => sandbox.transfers.list().map(({ description }) => description);
  return { sandbox, journal, transfers, env, claim, readLedger, baseUrl };
}

let all: Awaited<ReturnType<typeof setup>>;
beforeAll(async () => {
  all = await setup();
  const { journal, transfers, claim } = all;
  const ids = [
    await transfers.createOnce({ ...newInput(), description: 'paid' }),
    await transfers.create(await claim('found', 26)),
    await transfers.create({ ...newInput(), description: 'Payroll ambiguous', amount: '12.05' }),
  ].map(({ id }) => id);
  await claim('in_progress', 1);
  await claim('in_doubt', 6);
  await claim('expired', 25);
  await claim('endless', 40, { expiresAt: null });
  await claim('ambiguous', 94, { state: 'ambiguous', candidates: [ids[2], 'txfr_9'] });
  await claim('shared', 92, { state: 'ambiguous', candidates: [ids[0]], sharedWith: 'paid' });
  await claim('elsewhere', 90, { platform: 'https://other.example/v0' });
  await claim('not_paid', 60);
  await transfers.decide('not_paid', 'not_paid', { by: 'ada' });
  const gone = { ...newInput(), description: 'gone' };
  const lost: JournalEntry = {
    state: 'paid',
    transferId: 'txfr_77',
    paidAt: Date.now() - 60 * minute,
    platform: all.baseUrl,
    input: gone,
  };
  await journal.swap('gone', undefined, lost);
  const reused = { ...lost, transferId: ids[2] ?? '', input: { ...gone, description: 'reused' } };
  await journal.swap('reused', undefined, reused);
  await journal.swap('unreadable', undefined, { state: 'paused' } as never);
});

/** The text without what differs in each run. */
const settle = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, '2026-01-31 12:00 UTC')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-31T12:00:00.000Z')
    .replaceAll(/sha256:[0-9a-f]{12}/g, 'sha256:0123456789ab')
    .replaceAll(/\d+ s ago/g, '1 s ago')
    .replaceAll(/on (?!worker)\S+$/gm, 'on host')
    .replaceAll(/(oldest_open_seconds|"oldestOpenSeconds":) \d+/g, '$1 5400');

test('payments-journal prints what journal-words.txt shows for each state', async () => {
  const states =
    'in_progress in_doubt expired endless ambiguous shared elsewhere paid gone reused not_paid';
  const commands = [
    ['list'],
    ['list', '--older-than', '1d'],
    ...[...states.split(' '), 'unreadable', 'unknown'].map((state) => ['show', state]),
    ['stats'],
    ['stats', '--json'],
    ['stats', '--prometheus'],
    ['decide', 'in_doubt', 'not_paid', '--yes'],
    ['decide', 'found', 'not_paid', '--yes'],
    ['decide', 'paid', 'not_paid', '--yes'],
    ['decide', 'unknown', 'not_paid', '--yes'],
    ['decide', 'expired', 'not_paid', '--by', 'ada', '--yes'],
    ['finish', 'paid', 'gone', 'reused', 'not_paid', 'found'],
    ['finish'],
    ['check'],
    ['migrate', '--dry-run'],
    ['prune', '--paid-before', '2026-01-31'],
    ['prune', '--paid-before', new Date().toISOString(), '--keep-references'],
    ['show', 'paid'],
  ];
  let text = '';
  for (const args of commands) {
    const { status, out, err } = await run([...args, ...store], all.env);
    text += settle(`$ payments-journal ${args.join(' ')} # status ${status}\n\n${out}${err}\n\n`);
  }
  await expect(text).toMatchFileSnapshot('journal-words.txt');
  expect(text).not.toMatch(/1970|\d{5,} ms|createOnce|transfers\.|retryAfterMs|undefined/);
}, 60_000);

test('`finish` sends only GETs and records only what the list shows', async () => {
  const { sandbox, journal, transfers, env, claim, readLedger } = await setup('finish.db');
  await transfers.create(await claim('one', 25));
  await claim('two', 25);
  const before = sandbox.log.length;
  const files = ['--sqlite', 'finish.db'];
  expect(await run(['finish', '--by', 'ada', ...files], env)).toMatchObject({ status: 3 });
  const methods = new Set(sandbox.log.slice(before).map(({ method }) => method));
  expect([...methods]).toEqual(['GET']);
  expect(await journal.read('one')).toMatchObject({ state: 'paid', resolvedBy: 'ada' });
  expect(await journal.read('two')).toMatchObject({ state: 'sending' });
  expect(readLedger()).toEqual(['one']);
  await transfers.create({ ...newInput(), description: 'two' });
  expect(await run(['finish', ...files], env)).toMatchObject({ status: 0, err: '' });
  const [, change] = (await journal.read('two'))?.history ?? [];
  expect(change).toMatchObject({ state: 'paid', by: 'payments-journal finish' });
});

test('`finish` names an unreadable account and records the other payments', async () => {
  const { journal, transfers, env, claim } = await setup('accounts.db');
  await claim('foreign', 25, {
    input: { ...newInput(), description: 'foreign', sourceAccountId: 'acc_999999' },
  });
  await transfers.create(await claim('own', 25));
  const { status, out, err } = await run(['finish', '--sqlite', 'accounts.db'], env);
  expect({ status, err }).toEqual({ status: 3, err: '' });
  expect(out).toMatch(/^foreign +not searched: .*account_not_found.*\nown +paid by txfr_\d+/m);
  expect(await journal.read('own')).toMatchObject({ state: 'paid' });
});

test('`finish` exits with status 1 if the list cannot be read', async () => {
  const { sandbox, env, claim } = await setup('list.db');
  await claim('r-1', 25);
  const fault = { kind: 'status', status: 403, code: 'forbidden', error: 'No access.' } as const;
  sandbox.faults.add({ operation: 'transfers.list', times: 'always', fault });
  const { status, out, err } = await run(['finish', '--sqlite', 'list.db'], env);
  expect(status).toBe(1);
  expect(out).toMatch(/^r-1 +not searched: its account could not be read$/m);
  expect(err).toContain('The platform responded with 403 (forbidden)');
});

test('`finish` prints possible decisions if a listed transfer may be the payment', async () => {
  const { transfers, env, claim } = await setup('decisions.db');
  const input = await claim('inv-7', 25);
  const { id } = await transfers.create({ ...input, description: 'Payroll inv-7' });
  const flags = ['--sqlite', 'decisions.db', '--transfers-filter', 'accountId'];
  const { out } = await run(['finish', ...flags], env);
  expect(out).toContain(`Next, compare them, and decide inv-7.`);
  // The printed commands ask for the same list.
  const [, record = ''] = /npx payments-journal (decide inv-7 txfr_.*)\n/.exec(out) ?? [];
  expect(record).toBe(`decide inv-7 ${id} ${flags.join(' ')}`);
  expect(await run([...record.split(' '), '--yes'], env)).toMatchObject({ status: 0, err: '' });
});

test('`finish` and `show` suggest a new reference after a failed transfer', async () => {
  const { sandbox, transfers, env, claim } = await setup('failed.db');
  const { id } = await transfers.create(await claim('r-1', 25));
  sandbox.transfers.fail(id);
  const { status, out } = await run(['finish', '--sqlite', 'failed.db'], env);
  expect(status).toBe(3);
  expect(out).toContain(`${id} has failed: pay under a new reference`);
  expect((await run(['show', 'r-1', '--sqlite', 'failed.db'], env)).out).toContain(
    'The transfer failed: pay under a new reference.',
  );
});

test('no command changes another platform’s payment without --platform', async () => {
  const { journal, env, claim } = await setup('moved.db');
  const platform = 'https://old.example/v0';
  await claim('open', 40, { platform });
  await claim('r-1', 40, { platform, state: 'ambiguous', candidates: ['txfr_1'] });
  const flags = ['--force', '--yes', '--sqlite', 'moved.db'];
  for (const reference of ['open', 'r-1']) {
    const { status, err } = await run(['decide', reference, 'not_paid', ...flags], env);
    expect(status).toBe(1);
    expect(err).toContain(`${reference} belongs to ${platform}, and PAYMENTS_BASE_URL is http`);
    const { out } = await run(['show', reference, '--sqlite', 'moved.db'], env);
    expect(out).toContain(`  export PAYMENTS_BASE_URL=${platform}\n`);
    expect(out).not.toMatch(/payments-journal decide|could not be read/);
    const moved = ['decide', reference, 'not_paid', '--platform', platform, ...flags];
    expect(await run(moved, env)).toMatchObject({ status: 0, err: '' });
    expect(await journal.read(reference)).toMatchObject({ state: 'not_paid' });
  }
});

test('`show` suggests no decision if no transfer can be read', async () => {
  const { env, claim } = await setup('unread.db');
  await claim('r-1', 40, { state: 'ambiguous', candidates: ['txfr_1', 'txfr_2'] });
  const { out } = await run(['show', 'r-1', '--sqlite', 'unread.db'], env);
  expect(out).toContain('None of the transfers can be read. Before you decide, check that');
  expect(out).not.toContain('--force');
});

test('`stats` escapes a currency that another program has written', async () => {
  const { env, claim } = await setup('currency.db');
  const currency = 'a"b\\c';
  await claim('r-1', 1, { input: { ...newInput(), description: 'r-1', currency } });
  const { out } = await run(['stats', '--prometheus', '--sqlite', 'currency.db'], env);
  expect(out).toContain(String.raw`payments_journal_open_amount{currency="A\"B\\C"} 12.5`);
});

/** A module of the service, whose client has the journal in a file. */
function writeClient(name: string, file: string, options = ''): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    `import { PaymentsClient } from '${import.meta.resolve('payments-platform-sdk')}';
import { sqliteJournal } from '${import.meta.resolve('payments-platform-sdk/journals')}';
export default new PaymentsClient({ journal: sqliteJournal('${join(folder, file)}'), ${options} });\n`,
  );
  return path;
}

test('`finish --client` makes the payments that the client’s rules permit', async () => {
  const { env, claim, readLedger } = await setup('client.db');
  await claim('allowed', 25);
  await claim('vetoed', 25);
  const options = "authorize: ({ reference }) => reference !== 'vetoed'";
  const file = writeClient('payments.mjs', 'client.db', options);
  const search = await run(['finish', 'allowed', '--sqlite', 'client.db'], env);
  expect(search.out).toMatch(/npx payments-journal finish allowed --sqlite client\.db --client /);
  const one = await run(['finish', 'allowed', '--client', file], env);
  expect(one).toMatchObject({ status: 0, out: 'allowed  created  txfr_000001\n\n1 of 1 paid.\n' });
  const rest = await run(['finish', '--client', file, '--sqlite', 'client.db'], env);
  expect(rest).toMatchObject({ status: 3, out: expect.stringContaining('0 of 1 paid.\n') });
  expect(rest.out).toMatch(/^vetoed {2}in_doubt {2}The option authorize vetoed this payment/m);
  expect(readLedger()).toEqual(['allowed']);
});

test('`finish --client` sends nothing if its client has another journal', async () => {
  const { env, claim, readLedger } = await setup('one.db');
  await claim('r-1', 25);
  const other = await setup('other.db');
  await other.claim('r-2', 25);
  const file = writeClient('other.mjs', 'other.db');
  const args = ['finish', '--client', file, '--sqlite', 'one.db'];
  const { status, err } = await run(args, env);
  expect({ status, err }).toEqual({
    status: 1,
    err: `The journal of ${file} has no open payment r-1. Nothing was sent.\n`,
  });
  expect((await run(['finish', 'r-1', '--client', file], env)).status).toBe(1);
  const typo = ['finish', 'typo', '--client', file, '--sqlite', 'other.db'];
  expect(await run(typo, env)).toMatchObject({ status: 1, out: '' });
  expect([...readLedger(), ...other.readLedger()]).toEqual([]);
});

test('`finish --client` exits with status 2 for a module without client', async () => {
  writeFileSync(join(folder, 'none.mjs'), 'export const payments = 7;\n');
  const { status, err } = await run(['finish', '--client', 'none.mjs']);
  expect({ status, err }).toMatchObject({
    status: 2,
    err: expect.stringContaining('none.mjs has'),
  });
});
