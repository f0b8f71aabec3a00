import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { expect, onTestFinished, test } from 'vitest';
import { rows } from '../drivers/copies.ts';
import { otherRuntimes } from '../drivers/runtimes.ts';
import type { Fault } from '../drivers/surplus-server.ts';

// After a surplus response, each payment on its connection would get the response to another one.

async function startServer(fault: Fault): Promise<string> {
  const script = fileURLToPath(new URL('../drivers/surplus-server.ts', import.meta.url));
  const server = fork(script, [JSON.stringify(fault)]);
  onTestFinished(() => {
    server.disconnect();
  });
  const [port] = (await once(server, 'message')) as [number];
  return `http://127.0.0.1:${port}/v0`;
}

const inputs: readonly OnceInput[] = Array.from({ length: 200 }, (_, index) => ({
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '1.00',
  description: `payout-${index + 1}`,
}));
const every = (step: number): number[] =>
  Array.from({ length: inputs.length / step }, (_, index) => (index + 1) * step);

interface Ends {
  /** The ids of the transfers, by the reference of the payment. */
  readonly paid: Record<string, string>;
  /** The outcomes of the other payments, by their reference. */
  readonly failed: Record<string, string>;
}

/** Pays one payment after another, or as a batch with so many lanes. */
async function pay({ transfers }: PaymentsClient, lanes: number | undefined): Promise<Ends> {
  const ends: Ends = { paid: {}, failed: {} };
  if (lanes === undefined) {
    for (const input of inputs) {
      await transfers.createOnce(input).then(
        ({ id }) => (ends.paid[input.description] = id),
        ({ outcome }) => (ends.failed[input.description] = String(outcome)),
      );
    }
    return ends;
  }
  for await (const result of transfers.createAllOnce(inputs, { concurrency: lanes })) {
    const { description } = result.input;
    if (result.error === undefined) ends.paid[description] = result.transferId;
    else ends.failed[description] = result.error.outcome;
  }
  return ends;
}

test.each<[string, Fault, number?]>([
  ['one response twice, createOnce in a loop', { doubled: [6] }],
  ['one response twice, a batch with concurrency 1', { doubled: [6] }, 1],
  ['one response twice, a batch with concurrency 4', { doubled: [6] }, 4],
  ['one response twice, a batch with concurrency 16', { doubled: [6] }, 16],
  ['every fortieth response again after 2 ms', { doubled: every(40), afterMs: 2, latencyMs: 6 }],
  ['one response again after 0.5 ms', { doubled: [6], afterMs: 0.5, latencyMs: 3 }],
  ['every seventh response again after 1 ms', { doubled: every(7), afterMs: 1, latencyMs: 3 }],
  ['every rejection twice', { doubled: every(10) }],
  ['every seventh response twice, with a latency of 20 ms', { doubled: every(7), latencyMs: 20 }],
  ['every seventh again, concurrency 16', { doubled: every(7), afterMs: 2, latencyMs: 6 }, 16],
])('no payment accepts the second copy of a response: %s', async (_, fault, lanes) => {
  const baseUrl = await startServer(fault);
  const payments = new PaymentsClient({
    baseUrl,
    apiKey: 'sk_surplus',
    journal: memoryJournal(),
  });
  const list = async (): Promise<[reference: string, id: string][]> => {
    const transfers = await payments.transfers.list().toArray({ max: 1_000 });
    return transfers.map(({ description, id }) => [description ?? '', id]);
  };
  const { paid, failed } = await pay(payments, lanes);
  expect(paid).toEqual(Object.fromEntries(await list()));
  expect(Object.values(failed)).toEqual(Array.from({ length: 20 }, () => 'rejected'));
  for (const input of inputs) {
    if (input.description in failed) {
      await payments.transfers.createOnce(input).catch(() => undefined);
    }
  }
  const references = (await list()).map(([reference]) => reference);
  expect(new Set(references).size).toBe(references.length);
});

const node = { name: 'node', binary: process.execPath, args: [] };

test.each([node, ...otherRuntimes])(
  'on $name every payment is right behind a proxy that copies responses',
  async ({ binary, args }) => {
    const script = fileURLToPath(new URL('../drivers/copies.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(binary, [...args, script]);
    const lines = stdout.trim().split('\n');
    const ends = { wrong: 0, twice: 0, inDoubt: 0 };
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      rows.map((row) => ({ ...row, ...ends })),
    );
  },
);
