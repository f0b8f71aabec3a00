import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PaymentsClient, type OnceInput } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { expect, onTestFinished, test } from 'vitest';
import { transfer, page } from '../support/values.ts';

// A server sends some responses twice, and rejects every tenth payment. On one connection each later payment
// would get the response to the one before it.

interface Fault {
  /** Whether the response to so many payments is sent twice. */
  readonly isDoubled: (count: number) => boolean;
  /** When the surplus response follows; at once, with Nagle's algorithm, if absent. */
  readonly afterMs?: number;
  readonly latencyMs?: number;
}

const respond = (status: number, body: unknown): string => {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status} Status\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
};

/** The references and ids of the payments that the server has made. */
async function startPlatform({ isDoubled, afterMs, latencyMs = 0 }: Fault) {
  const made: { id: string; description: string }[] = [];
  let count = 0;
  const pay = async (socket: Socket, body: string): Promise<void> => {
    count += 1;
    const isSentTwice = isDoubled(count);
    let response = respond(422, { error: 'No.', code: 'limit', details: null });
    if (count % 10 !== 0) {
      const input = JSON.parse(body) as OnceInput;
      made.push({ ...transfer, ...input, id: `txfr_${made.length + 1}` });
      response = respond(201, made.at(-1));
    }
    if (latencyMs > 0) await sleep(latencyMs);
    socket.write(response);
    if (!isSentTwice) return;
    if (afterMs !== undefined) await sleep(afterMs);
    socket.write(response);
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(afterMs !== undefined);
    socket.on('error', () => undefined);
    let rest = '';
    socket.on('data', (chunk) => {
      rest += chunk.toString();
      for (;;) {
        const [head] = /^[A-Z]+ [\s\S]*?\r\n\r\n/.exec(rest) ?? [];
        const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1] ?? 0);
        if (head === undefined || rest.length < head.length + length) return;
        const body = rest.slice(head.length, head.length + length);
        rest = rest.slice(head.length + length);
        if (head.startsWith('GET')) socket.write(respond(200, page(made)));
        else void pay(socket, body);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { made, baseUrl: `http://127.0.0.1:${port}/v0` };
}

const inputs: readonly OnceInput[] = Array.from({ length: 200 }, (_, index) => ({
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '1.00',
  description: `payout-${index + 1}`,
}));

const once = (count: number): boolean => count === 6;
const nagle: Fault = { isDoubled: once };
test.each<[string, Fault, 'loop' | number]>([
  ['a loop, one response doubled', nagle, 'loop'],
  ['a batch of one lane, one response doubled', nagle, 1],
  ['a batch of four lanes, one response doubled', nagle, 4],
  ['a batch of sixteen lanes, one response doubled', nagle, 16],
  [
    'a loop, every fortieth response doubled after 2 ms',
    { isDoubled: (count) => count % 40 === 0, afterMs: 2, latencyMs: 6 },
    'loop',
  ],
  [
    'a loop, one response doubled after 0.5 ms',
    { isDoubled: once, afterMs: 0.5, latencyMs: 3 },
    'loop',
  ],
  ['a loop, every rejection doubled', { isDoubled: (count) => count % 10 === 0 }, 'loop'],
  [
    'sixteen lanes, every seventh response doubled after 2 ms',
    { isDoubled: (count) => count % 7 === 0, afterMs: 2, latencyMs: 6 },
    16,
  ],
])('a surplus response answers for no other payment: %s', async (_, fault, lanes) => {
  const { made, baseUrl } = await startPlatform(fault);
  const payments = new PaymentsClient({ baseUrl, apiKey: 'sk_surplus', journal: memoryJournal() });
  const paid = new Map<string, string>();
  const failed = new Map<string, string>();
  if (lanes === 'loop') {
    for (const input of inputs) {
      const { transfers } = payments;
      await transfers.createOnce(input).then(
        ({ id }) => paid.set(input.description, id),
        (error: unknown) =>
          failed.set(input.description, String(Reflect.get(Object(error), 'outcome'))),
      );
    }
  } else {
    for await (const result of payments.transfers.createAllOnce(inputs, { concurrency: lanes })) {
      if (result.error !== undefined) failed.set(result.input.description, result.error.outcome);
      else paid.set(result.reference, result.transferId);
    }
  }
  expect([...failed.values()]).toEqual(Array.from({ length: 20 }, () => 'rejected'));
  const ids = new Map(made.map(({ description, id }) => [description, id]));
  expect(Object.fromEntries(paid)).toEqual(Object.fromEntries(ids));
  // What was rejected is paid by another call.
  for (const input of inputs.filter(({ description }) => failed.has(description))) {
    await payments.transfers.createOnce(input).catch(() => undefined);
  }
  const references = made.map(({ description }) => description);
  expect(references.filter((reference, at) => references.indexOf(reference) !== at)).toEqual([]);
});
