import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { page, transfer } from '../support/values.ts';

/*
 * A platform that sends some responses twice, and rejects every tenth payment. The platform runs in
 * another process, so that a response and the next request can pass each other.
 */

export interface Fault {
  /** The numbers of the payments to which it responds twice. */
  readonly doubled: readonly number[];
  /** When the second response follows. If absent, at once, but held back by Nagle's algorithm. */
  readonly afterMs?: number;
  readonly latencyMs?: number;
}

const { doubled, afterMs, latencyMs = 0 } = JSON.parse(process.argv[2] ?? '') as Fault;
const made: object[] = [];
let count = 0;

const format = (status: number, body: unknown): string => {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status} Status\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
};

function pay(body: string): string {
  if (count % 10 === 0) return format(422, { error: 'No.', code: 'limit', details: null });
  const input = JSON.parse(body) as object;
  made.push({ ...transfer, ...input, id: `txfr_${made.length + 1}` });
  return format(201, made.at(-1));
}

async function respond(socket: Socket, body: string): Promise<void> {
  count += 1;
  const isDoubled = doubled.includes(count);
  const response = pay(body);
  if (latencyMs > 0) await sleep(latencyMs);
  socket.write(response);
  if (!isDoubled) return;
  if (afterMs !== undefined) await sleep(afterMs);
  socket.write(response);
}

const server = createServer((socket) => {
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
      if (head.startsWith('GET')) socket.write(format(200, page(made)));
      else void respond(socket, body);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on('disconnect', () => {
  process.exit();
});
