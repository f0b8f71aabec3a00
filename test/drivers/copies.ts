import { createServer, type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OnceInput } from 'payments-platform-sdk';
import type * as journals from 'payments-platform-sdk/journals';
import type * as package_ from '../../src/index.ts';
import { errorBody, page, transfer } from '../support/values.ts';

/*
 * A platform that sends responses again some milliseconds later, as a faulty proxy does, and how
 * many payments end wrong or are made twice behind it: node test/drivers/copies.ts
 * Runs on every runtime, so it imports no test runner.
 */

type Sdk = Pick<typeof package_, 'PaymentsClient'> & Pick<typeof journals, 'memoryJournal'>;

/** How long after a request its response follows, in ms, and how long after that its copy. */
interface Delays {
  readonly response: readonly [min: number, max: number];
  readonly copy: number;
}

export type Row = Delays & {
  readonly what: 'rejections' | 'createOnce' | 'createAllOnce' | 'reconcileAll';
  readonly payments: number;
  /** How long the caller waits between two payments. @default 0 */
  readonly gap?: number;
};

/** Every row in which 0.4.0 paid twice or called a payment missing, and some in which it did not. */
export const rows: readonly Row[] = [
  { what: 'rejections', payments: 20, response: [150, 150], copy: 150, gap: 100 },
  { what: 'rejections', payments: 20, response: [150, 150], copy: 250, gap: 200 },
  { what: 'rejections', payments: 20, response: [150, 150], copy: 30, gap: 5 },
  { what: 'createOnce', payments: 20, response: [20, 20], copy: 5 },
  { what: 'createOnce', payments: 20, response: [20, 20], copy: 10 },
  { what: 'createOnce', payments: 20, response: [30, 30], copy: 3 },
  { what: 'createOnce', payments: 20, response: [10, 15], copy: 9 },
  { what: 'createAllOnce', payments: 60, response: [10, 40], copy: 9 },
  { what: 'createAllOnce', payments: 20, response: [20, 20], copy: 5 },
  { what: 'createAllOnce', payments: 20, response: [10, 15], copy: 9 },
  { what: 'reconcileAll', payments: 20, response: [20, 20], copy: 5 },
];

/** How many payments were reported wrong, were made twice, or are still in doubt. */
export interface Ends {
  wrong: number;
  twice: number;
  inDoubt: number;
}

interface Request {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

class CopyingPlatform {
  readonly made: (OnceInput & { readonly id: string })[] = [];
  /** Whether lists fail and the responses to payments are lost. */
  isDown = false;
  readonly #row: Row;
  readonly #server = createServer((socket) => {
    this.#receive(socket);
  });

  constructor(row: Row) {
    this.#row = row;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v0`;
  }

  close(): void {
    this.#server.close();
  }

  countOf(reference: string): number {
    return this.made.filter(({ description }) => description === reference).length;
  }

  #receive(socket: Socket): void {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    let rest = '';
    socket.on('data', (chunk) => {
      rest += chunk.toString();
      for (;;) {
        const [head] = /^[A-Z]+ [\s\S]*?\r\n\r\n/.exec(rest) ?? [];
        const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1] ?? 0);
        if (head === undefined || rest.length < head.length + length) return;
        const [method = '', target = ''] = head.split(' ');
        const body = rest.slice(head.length, head.length + length);
        rest = rest.slice(head.length + length);
        void this.#respond(socket, { method, url: new URL(target, 'http://localhost'), body });
      }
    });
  }

  async #respond(socket: Socket, request: Request): Promise<void> {
    const { what, copy, response: delay } = this.#row;
    const isPost = request.method === 'POST';
    const response = isPost ? this.#pay(request) : this.#list(request);
    if (isPost && this.isDown) {
      socket.destroy();
      return;
    }
    const isRejection = response.startsWith('HTTP/1.1 422');
    const [min, max] = delay;
    if (!isRejection) await sleep(min + Math.random() * (max - min));
    socket.write(response);
    // The rejections are sent twice, or the lists.
    if (what === 'rejections' ? !isRejection : isPost || this.isDown) return;
    await sleep(copy);
    socket.write(response);
  }

  #pay({ body }: Request): string {
    const input = JSON.parse(body) as OnceInput;
    if (input.description.startsWith('bad')) return format(422, errorBody);
    const id = `txfr_${this.made.length + 1}`;
    this.made.push(
      Object.assign({ ...transfer, createdAt: new Date().toISOString() }, input, { id }),
    );
    const { status, type, createdAt } = transfer;
    return format(201, { id, status, type, createdAt });
  }

  #list({ url }: Request): string {
    if (this.isDown) return format(503, errorBody);
    const [, id] = /\/transfers\/(.+)$/.exec(url.pathname) ?? [];
    if (id !== undefined)
      return format(
        200,
        this.made.find((each) => each.id === id),
      );
    const source = url.searchParams.get('accountId');
    const mine = this.made.filter((each) => each.sourceAccountId === source);
    return format(200, page(mine));
  }
}

function format(status: number, body: unknown): string {
  const text = JSON.stringify(body);
  const date = new Date().toUTCString();
  return `HTTP/1.1 ${status} Status\r\ncontent-type: application/json\r\ndate: ${date}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

const inputOf = (description: string, source: number): OnceInput => ({
  sourceAccountId: `acc_${source}`,
  destinationAccountId: 'acc_payee',
  amount: '12.50',
  description,
});

/** Plays one row, in real time, because a copy and the next request have to pass each other. */
export async function playCopies(row: Row, { PaymentsClient, memoryJournal }: Sdk): Promise<Ends> {
  const platform = new CopyingPlatform(row);
  const baseUrl = await platform.listen();
  const times = { timeout: 1_000, totalTimeout: 2_000, gracePeriod: 1, maxRetries: 0 };
  const options = { baseUrl, apiKey: 'sk_copies', journal: memoryJournal(), ...times };
  const { transfers } = new PaymentsClient(options);
  const ends: Ends = { wrong: 0, twice: 0, inDoubt: 0 };
  const pay = async (input: OnceInput): Promise<'paid' | 'rejected' | 'unknown'> => {
    try {
      const { id } = await transfers.createOnce(input);
      const own = platform.made.find((each) => each.id === id);
      if (own?.description !== input.description) ends.wrong += 1;
      return 'paid';
    } catch (error) {
      return (error as { outcome?: string }).outcome === 'unknown' ? 'unknown' : 'rejected';
    }
  };
  const inputs = Array.from({ length: row.payments }, (_, at) => inputOf(`good-${at}`, at));
  if (row.what === 'rejections') {
    for (const [at, input] of inputs.entries()) {
      await pay(inputOf(`bad-${at}`, 0));
      await sleep(row.gap);
      if ((await pay(input)) === 'rejected' && platform.countOf(input.description) > 0) {
        ends.wrong += 1;
      }
      await sleep(row.gap);
    }
  } else {
    platform.isDown = true;
    await Promise.all(inputs.map(pay));
    platform.isDown = false;
    // The claims end.
    await sleep(times.totalTimeout + 100);
  }
  if (row.what === 'reconcileAll') {
    for await (const { result } of transfers.reconcileAll(inputs)) {
      if (result === 'missing') ends.wrong += 1;
    }
  } else if (row.what === 'createAllOnce') {
    for await (const { input, result, transferId } of transfers.createAllOnce(inputs, {
      retryTimeout: 5_000,
    })) {
      const own = platform.made.find((each) => each.id === transferId);
      if (result === 'not_paid') ends.wrong += 1;
      if (result === 'in_doubt') ends.inDoubt += 1;
      if (transferId !== undefined && own?.description !== input.description) ends.wrong += 1;
    }
  } else {
    for (const input of inputs) if ((await pay(input)) !== 'paid') ends.inDoubt += 1;
  }
  ends.twice = inputs.filter(({ description }) => platform.countOf(description) > 1).length;
  platform.close();
  return ends;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const sdk = {
    ...(await import('../../src/index.ts')),
    ...(await import('../../src/journals/index.ts')),
  };
  const results = await Promise.all(rows.map((row) => playCopies(row, sdk)));
  for (const [at, row] of rows.entries()) {
    console.log(JSON.stringify({ ...row, ...results[at] }));
  }
  process.exit(results.every(({ wrong, twice }) => wrong + twice === 0) ? 0 : 1);
}
