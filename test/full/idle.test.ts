import { afterEach, beforeEach, expect, test } from 'vitest';
import { PaymentsClient, type TransferCreated } from '../../src/index.ts';
import { accountId, poison } from './bodies.ts';
import { usual } from './faults.ts';
import { FaultPlatform, nonceHeader, type Door } from './server.ts';

// What a server does to a connection while nobody uses it, and while this process is too busy to
// see it: the bytes lie in the kernel when the next request is about to be written.

let platform: FaultPlatform;
let payments: PaymentsClient;

beforeEach(async () => {
  platform = new FaultPlatform(usual);
  await platform.start();
  const { baseUrl } = platform.shared;
  payments = new PaymentsClient({ baseUrl, apiKey: 'sk_idle', timeout: 2_000, maxRetries: 2 });
});
afterEach(() => {
  platform.stop();
});

const create = (nonce: string): Promise<TransferCreated> =>
  payments.transfers.create(
    { sourceAccountId: accountId, destinationAccountId: 'acc_2', amount: '1.00' },
    { headers: { [nonceHeader]: nonce } },
  );

const response = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

const happenings: Readonly<Record<string, (door: Door) => number>> = {
  'is reset': (door) => door.toAll((socket) => socket.resetAndDestroy()),
  'is closed': (door) => door.toAll((socket) => socket.end()),
  'holds an answer that nobody asked for': (door) =>
    door.toAll((socket) => socket.write(response('200 OK', poison))),
  'holds a 408 that nobody caused': (door) =>
    door.toAll((socket) => socket.end(response('408 Request Timeout', '{}'))),
};

test.each(Object.entries(happenings))(
  'a creation on a connection that %s gets its own answer',
  async (_, happen) => {
    await create('first');
    // No turn of the event loop lies between the two.
    expect(happen(platform.shared)).toBe(1);
    const transfer = await create('second');
    expect([transfer.id]).toEqual(platform.idsOf('second'));
    expect(platform.arrivalsOf('second')).toBe(1);
  },
);
