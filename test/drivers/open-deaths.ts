import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { PaymentsClient, type OnceInput } from '../../src/index.ts';
import type { JournalEntry } from '../../src/journals/index.ts';
import { listen } from '../../src/sandbox/server.ts';
import { createPayrollSandbox, killOnStores, withStore, type StoreName } from './once-deaths.ts';
import { openJournalAt, payoutOf, type WorkerOrder, type WorkerReport } from './once-payouts.ts';

/*
 * Workers are killed while they pay, and no call repeats their payments. `payments-journal list`
 * has to show exactly these payments, and the loop of docs/operate.md has to finish them.
 * node test/drivers/open-deaths.ts --payouts 2000 --kills 20 [--store redis]
 */

export interface OpenDeaths {
  readonly store: StoreName;
  readonly payouts: number;
  readonly kills: number;
  /** How many payments are open after the workers died. */
  readonly open: number;
  /** How many of them the platform had. */
  readonly made: number;
  /** How long the list command took, including the start of its process. */
  readonly listMs: number;
  /** Results of the loop that finishes the open payments. */
  readonly results: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** The violations. Empty when the list was exact and each payment was made once. */
  readonly wrong: readonly string[];
}

const limits = { gracePeriod: 1_500, totalTimeout: 1_000 };
/** How long a creation takes. Workers are killed during some creations. */
const creationMs = 20;
/** How many workers pay at a time. */
const crewSize = 4;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Runs the built command without `npx`. */
const list = (...args: readonly string[]) =>
  new Promise<{ status: number; out: string }>((resolve) => {
    const bin = fileURLToPath(new URL('../../dist/journals/bin.js', import.meta.url));
    const options = { maxBuffer: 2 ** 26 };
    execFile(process.execPath, [bin, 'list', ...args], options, (error, out) => {
      resolve({ status: Number(error?.code ?? 0), out });
    });
  });

/** Runs a worker, and kills it when it has made `payments` payments or has ended. */
async function runWorker(order: WorkerOrder, payments: number): Promise<void> {
  const worker = fork(fileURLToPath(new URL('once-worker.ts', import.meta.url)), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  let count = 0;
  worker.on('message', (report: WorkerReport) => {
    count += 1;
    if (report === 'done') worker.kill('SIGKILL');
    else if (count === payments)
      setTimeout(() => worker.kill('SIGKILL'), Math.random() * creationMs);
  });
  worker.send(order);
  await once(worker, 'exit');
}

export async function leaveOpen(
  store: StoreName,
  { payouts, kills }: { readonly payouts: number; readonly kills: number },
): Promise<OpenDeaths> {
  const startedAt = performance.now();
  const sandbox = createPayrollSandbox();
  const slow = { kind: 'delay', ms: creationMs } as const;
  sandbox.faults.add({ operation: 'transfers.create', times: Infinity, fault: slow });
  const server = await listen(sandbox, { port: 0 });
  const { baseUrl, clientOptions } = server;
  const readLedger = () =>
    Map.groupBy(sandbox.transfers.list(), ({ description }) => description ?? '');
  const wrong: string[] = [];
  const results: Record<string, number> = {};
  let [open, made, listMs] = [0, 0, 0];

  await withStore(store, async (address) => {
    const { journal, close } = openJournalAt(address);
    const { apiKey } = sandbox;
    const entries = new Map<number, JournalEntry>();
    const rest = Array.from({ length: payouts }, (_, at) => at + 1);
    /** Runs a worker, and leaves the payouts that it has not claimed to later workers. */
    const runAndRead = async (todo: number[], payments = Infinity): Promise<void> => {
      await runWorker({ store: address, baseUrl, apiKey, ...limits, todo }, payments);
      // Waits for the request that was on its way when the process died.
      await pause(creationMs + 50);
      for (const number of todo) {
        const entry = await journal.read(payoutOf(number).description);
        if (entry === undefined) rest.push(number);
        else entries.set(number, entry);
      }
    };
    const share = Math.ceil(payouts / kills);
    for (let started = 0; started < kills; started += crewSize) {
      const crew = Array.from({ length: Math.min(crewSize, kills - started) }, () =>
        runAndRead(rest.splice(0, share), Math.ceil(share * (0.3 + Math.random() * 0.5))),
      );
      await Promise.all(crew);
    }
    await runAndRead(rest.splice(0));
    if (entries.size < payouts) wrong.push(`${payouts - entries.size} payouts were not claimed`);
    const left = [...entries].flatMap(([number, { state }]) =>
      state === 'paid' ? [] : [payoutOf(number).description],
    );
    const before = readLedger();
    open = left.length;
    made = left.filter((reference) => before.has(reference)).length;

    const listStartedAt = performance.now();
    const { status, out } = await list('--json', `--${store}`, address);
    listMs = Math.round(performance.now() - listStartedAt);
    const listed = (JSON.parse(out) as { reference: string }[]).map(({ reference }) => reference);
    if (status !== 3) wrong.push(`list had status ${status}`);
    if (listed.toSorted().join() !== left.toSorted().join()) {
      wrong.push(`list showed ${listed.length} payments, and ${left.length} were open`);
    }

    // Finishes the open payments as examples/finish-open-payments.ts does.
    const { transfers } = new PaymentsClient({ ...clientOptions, ...limits, journal });
    const inputs: OnceInput[] = [];
    for await (const { input } of transfers.listUndecided()) if (input) inputs.push(input);
    for await (const { input, result } of transfers.createAllOnce(inputs)) {
      results[result] = (results[result] ?? 0) + 1;
      const expected = before.has(input.description) ? 'found' : 'created';
      if (result !== expected) wrong.push(`${input.description} was ${result}, not ${expected}`);
    }
    const end = await list(`--${store}`, address);
    if (end.status !== 0) wrong.push(`something is open at the end: ${end.out}`);
    await close();
  });
  await server.close();

  const ledger = readLedger();
  for (let number = 1; number <= payouts; number += 1) {
    const { description } = payoutOf(number);
    const count = ledger.get(description)?.length ?? 0;
    if (count !== 1) wrong.push(`${description} was paid ${count} times`);
  }
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return { store, payouts, kills, open, made, listMs, results, seconds, wrong };
}

if (import.meta.main) await killOnStores(leaveOpen);
