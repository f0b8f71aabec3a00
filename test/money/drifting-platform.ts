import {
  isPaymentsError,
  PaymentsClient,
  type OnceInput,
  type PaymentsError,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox, type SandboxFault } from 'payments-platform-sdk/sandbox';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { VirtualClock } from '../support/virtual-clock.ts';

/*
 * Pays by createOnce and createAllOnce on a platform that drops, nulls and adds fields at random:
 * npm run build:code && node test/money/drifting-platform.ts --runs 2000 --seed 7
 */

/** Creates random numbers from 0 to below 1 that are the same for each seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Json = Record<string, unknown>;

/** Changes each field of a record with this probability, and sometimes adds fields. */
function changeRecord(record: Json, random: () => number, probability: number): Json {
  const changedRecord: Json = {};
  for (const [name, value] of Object.entries(record)) {
    const isChanged = random() < probability;
    const others = [undefined, undefined, null, null, 7, {}, [value], ''];
    const other = others[Math.floor(random() * others.length)];
    changedRecord[name] = isChanged ? other : value;
  }
  if (random() < 0.3) changedRecord['feeAmount'] = 1.5;
  if (random() < 0.3) changedRecord['tags'] = [null, { id: 5 }];
  return changedRecord;
}

/** Changes a response: a record, or a page with its records. */
function changeBody(body: Json, change: (record: Json) => Json, random: () => number): Json {
  if (!Array.isArray(body['data'])) return change(body);
  const data = (body['data'] as Json[]).map(change);
  return random() < 0.02 ? { data, nextCursor: body['nextCursor'] } : { ...body, data };
}

export interface DriftReport {
  readonly runs: number;
  readonly payments: number;
  /** Payments that the changed responses made ambiguous at least once. */
  readonly ambiguous: number;
  readonly violations: readonly string[];
}

/** Makes payments while responses drift, and compares them with the platform's ledger. */
export async function runDrift(runs: number, seed: number): Promise<DriftReport> {
  const violations: string[] = [];
  let payments = 0;
  let ambiguous = 0;
  for (let run = 0; run < runs; run += 1) {
    const result = await playRun(seededRandom(seed + run));
    payments += result.payments;
    ambiguous += result.ambiguous;
    for (const violation of result.violations) violations.push(`seed ${seed + run}: ${violation}`);
  }
  return { runs, payments, ambiguous, violations };
}

const driftingRounds = 8;
const maxRounds = 60;

async function playRun(random: () => number): Promise<Omit<DriftReport, 'runs'>> {
  const pick = <T>(...values: readonly [T, ...T[]]): T =>
    values[Math.floor(random() * values.length)] ?? values[0];
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const listOrder = pick('oldest_first', 'newest_first', 'shuffled');
  const sandbox = new Sandbox({ clock: () => clock.now(), listOrder });
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  sandbox.entities.approve(entityId);
  for (const name of ['Source', 'Destination']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund('acc_000001', '100000');
  const terms = { sourceAccountId: 'acc_000001', destinationAccountId: 'acc_000002' } as const;
  const oldCount = pick(0, 3, 150);
  for (let number = 0; number < oldCount; number += 1) {
    sandbox.transfers.create({ ...terms, amount: '7.77', description: `old ${number} rent` });
    clock.passed += 60_000;
  }
  const oldIds = new Set(sandbox.transfers.list().map(({ id }) => id));

  // If `isPermanent`, each old transfer lacks one field for good. Otherwise each response changes.
  const isPermanent = random() < 0.4;
  const probability = pick(0.02, 0.1, 0.4);
  let isDrifting = true;
  const change = (record: Json): Json => {
    if (!isPermanent) return changeRecord(record, random, probability);
    const { id } = record as { id: string };
    if (!oldIds.has(id as `txfr_${string}`)) return record;
    const names = Object.keys(record);
    return { ...record, [names[Number(id.slice(-6)) % names.length] ?? 'direction']: undefined };
  };
  const client = (): PaymentsClient =>
    new PaymentsClient({
      ...sandbox.clientOptions,
      clock,
      journal,
      validation: undefined,
      platform: { transfersNewestFirst: listOrder === 'newest_first' && isNewestFirst },
      fetch: async (request) => {
        const response = await sandbox.fetch(request);
        if (!isDrifting || !response.ok) return response;
        const body = changeBody((await response.json()) as Json, change, random);
        return Response.json(body, { status: response.status, headers: response.headers });
      },
    });
  const journal = memoryJournal({ now: () => clock.now() });
  if (random() < 0.4) Object.assign(journal, { searchFirst: 'always' });
  const isNewestFirst = random() < 0.5;

  const inputs = Array.from({ length: pick(1, 2, 12) }, (_, number): OnceInput => {
    return { ...terms, amount: '12.50', description: `invoice ${number} of May` };
  });
  const paid = new Map<string, string>();
  const wasAmbiguous = new Set<string>();
  const violations: string[] = [];
  const made = (reference: string) =>
    sandbox.transfers.list().filter(({ description }) => description === reference);
  const recordError = (reference: string, error: PaymentsError): void => {
    if (Reflect.get(error, 'reason') === 'ambiguous') wasAmbiguous.add(reference);
    const isMade = made(reference).length > 0;
    if (isMade && error.outcome !== 'unknown') violations.push(`${reference}: ${error.message}`);
  };
  const payOne = async (input: OnceInput): Promise<void> => {
    const reference = input.description;
    try {
      const { id } = await clock.runTimersDuring(client().transfers.createOnce(input));
      paid.set(reference, id);
    } catch (error) {
      if (!isPaymentsError(error)) throw error;
      recordError(reference, error);
    }
  };
  const payAll = async (unpaid: readonly OnceInput[]): Promise<void> => {
    const batch = client().transfers.createAllOnce(unpaid, { retryTimeout: 1 });
    const consume = async (): Promise<void> => {
      for await (const result of batch) {
        if (result.error === undefined) paid.set(result.reference, result.transferId);
        else recordError(result.input.description, result.error);
      }
    };
    await clock.runTimersDuring(consume());
  };
  for (let round = 0; round < maxRounds && paid.size < inputs.length; round += 1) {
    isDrifting = isPermanent || round < driftingRounds;
    for (let after = 0; after < 3 && round < driftingRounds; after += 1) {
      const when = pick('before_commit', 'after_commit');
      const fault: SandboxFault = pick(
        { kind: 'reset', when },
        { kind: 'hang', when },
        { kind: 'truncated_body', when },
      );
      if (random() < 0.5) sandbox.faults.add({ operation: 'transfers.create', after, fault });
    }
    const unpaid = inputs.filter(({ description }) => !paid.has(description));
    if (random() < 0.4) await payAll(unpaid);
    else for (const input of unpaid) await payOne(input);
    await clock.advance(pick(1_000, 30_000, 300_000));
    sandbox.faults.clear();
  }
  for (const { description } of inputs) {
    const ids = made(description).map(({ id }) => id);
    if (ids.length > 1) violations.push(`${description} was paid ${ids.length} times`);
    const id = paid.get(description);
    if (id === undefined) violations.push(`${description} is stuck`);
    else if (id !== ids[0]) violations.push(`${description} is ${ids.join()}, not ${id}`);
  }
  return { payments: inputs.length, ambiguous: wasAmbiguous.size, violations };
}

async function main(): Promise<void> {
  const options = { runs: { type: 'string', default: '200' }, seed: { type: 'string' } } as const;
  const { values } = parseArgs({ options });
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  const { violations, ...counts } = await runDrift(Number(values.runs), seed);
  console.log(JSON.stringify({ seed, ...counts, violations: violations.length }));
  for (const violation of violations) console.log(`VIOLATION ${violation}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
