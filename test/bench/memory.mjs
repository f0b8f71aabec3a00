/*
 * What the client keeps in memory, each in a process of its own. `--write` updates docs/performance.md.
 *
 *   node --expose-gc memory.mjs [--write]
 */
import { execFileSync, fork } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PaymentsClient } from '../../dist/index.js';
import { memoryJournal } from '../../dist/journals/index.js';
import { idOf } from './data.mjs';
import { createPlatform } from './history.mjs';
import { writeSection } from './report.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});

/** The heap that is in use. What a finalizer frees, such as a signal, takes a turn of the event loop. */
async function heapAfterCollection() {
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc();
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}

const setup = (options) =>
  new PaymentsClient({ baseUrl: 'http://127.0.0.1/v0', apiKey: 'sk_bench', ...options });
const inputOf = (description) => ({
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '1.00',
  description,
});
const startServer = () =>
  new Promise((resolve) => {
    const server = fork(join(import.meta.dirname, 'server.mjs'));
    server.once('message', ({ port }) => resolve(`http://127.0.0.1:${port}/v0`));
  });

const works = {
  /** Bytes for each transfer read, at the end of the second scan of a search. */
  async search() {
    const history = 1_000_000;
    const platform = createPlatform({ history, newestFirst: false });
    const last = Math.floor(history / 100) + Math.floor(history / 97) - 2;
    let idle = 0;
    let most = 0;
    const fetch = async (...request) => {
      if (platform.counts.requests === 2) idle = await heapAfterCollection();
      if (platform.counts.requests === last) most = await heapAfterCollection();
      return await platform.fetch(...request);
    };
    const journal = { ...memoryJournal(), searchFirst: 'always' };
    const payments = setup({ fetch, journal, totalTimeout: 3_600_000 });
    await payments.transfers.createOnce(inputOf('unbounded'));
    return (most - idle) / (2 * history);
  },

  /** Megabytes above idle while a batch of a million payments is made. */
  async batch() {
    const total = 1_000_000;
    const created = { status: 'pending', type: 'book', createdAt: new Date().toISOString() };
    let made = 0;
    const fetch = async () => {
      made += 1;
      return Response.json({ ...created, id: `txfr_${made}` }, { status: 201 });
    };
    // Retains only the entries of open payments.
    const claims = new Map();
    const journal = {
      read: async (reference) => claims.get(reference),
      swap: async (reference, _, after) => {
        if (after?.state === 'sending') claims.set(reference, after);
        else claims.delete(reference);
        return true;
      },
      now: async () => 0,
    };
    async function* inputs() {
      for (let at = 0; at < total; at += 1) {
        if (at % 1_000 === 0) await setImmediate();
        yield inputOf(`million-${String(at).padStart(7, '0')}`);
      }
    }
    const idle = await heapAfterCollection();
    let [most, done] = [0, 0];
    for await (const { error } of setup({ fetch, journal }).transfers.createAllOnce(inputs())) {
      if (error !== undefined) throw error;
      done += 1;
      if (done % 100_000 === 0) most = Math.max(most, (await heapAfterCollection()) - idle);
    }
    return most / 1e6;
  },

  /** Megabytes above idle while a list of a million is read. */
  async list() {
    const platform = createPlatform({ history: 1_000_000 });
    const idle = await heapAfterCollection();
    let [most, seen] = [0, 0];
    for await (const { id } of setup({ fetch: platform.fetch }).transfers.list({ limit: 100 })) {
      if (id !== undefined) seen += 1;
      if (seen % 200_000 === 0) most = Math.max(most, (await heapAfterCollection()) - idle);
    }
    return most / 1e6;
  },

  /** By how many megabytes the RSS grows in the second half of 200,000 calls, 32 at a time. */
  async calls() {
    const payments = setup({ baseUrl: await startServer() });
    const run = async (count) => {
      let left = count;
      const lane = async () => {
        while ((left -= 1) >= 0) await payments.transfers.get(idOf(7));
      };
      await Promise.all(Array.from({ length: 32 }, lane));
      return process.memoryUsage.rss();
    };
    const half = await run(100_000);
    return ((await run(100_000)) - half) / 2 ** 20;
  },

  /** The peak of the RSS while a response of 16 MiB is read, above that before, as its multiple. */
  async response() {
    const size = 16 * 2 ** 20;
    const item = JSON.stringify({ id: idOf(1), description: 'x'.repeat(400) });
    const data = Array.from({ length: Math.floor(size / (item.length + 1)) }, () => item).join(',');
    const body = Buffer.from(`{"data":[${data}],"hasMore":false,"nextCursor":null}`);
    const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const payments = setup({ baseUrl: `http://127.0.0.1:${server.address().port}/v0` });
    await payments.transfers.get(idOf(1)).catch(() => undefined);
    const idle = process.memoryUsage.rss();
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 1);
    for await (const page of payments.transfers.list({ limit: 100 }).pages()) {
      if (page.data.length === 0) throw new Error('the response was not read');
    }
    clearInterval(timer);
    most = Math.max(most, process.resourceUsage().maxRSS * 1_024);
    return (most - idle) / size;
  },
};

const rows = [
  ['search', 'a search: bytes for each transfer read', 100],
  ['batch', '1,000,000 by `createAllOnce` from an async iterable: MB above idle', 100],
  ['list', 'a list of 1,000,000: MB above idle', 30],
  ['calls', '100,000 calls after 100,000, 32 at a time: MiB more RSS', 10],
  ['response', 'a response of 16 MiB: times its size, RSS', 10],
];
const [work] = positionals;
if (work === undefined) {
  const table = ['| work | measured | goal |', '| --- | --: | --: |'];
  for (const [name, what, goal] of rows) {
    const command = ['--expose-gc', import.meta.filename, name];
    const measured = Number(execFileSync(process.execPath, command, { encoding: 'utf8' }));
    const shown = Math.abs(measured) >= 10 ? Math.round(measured) : measured.toFixed(1);
    table.push(`| ${what} | ${measured > goal ? `**${shown}**` : shown} | ${goal} |`);
    console.log(table.at(-1));
  }
  if (values.write) await writeSection('memory', table.join('\n'));
} else {
  console.log(await works[work]());
  process.exit(0);
}
