import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PaymentsClient, type TransferCreated } from '../../src/index.ts';
import { accountId, poison } from '../drivers/bodies.ts';
import { usual } from '../drivers/faults.ts';
import { FaultPlatform, nonceHeader, type Endpoint } from '../drivers/server.ts';

// What a server does to an idle connection while this process is busy: the bytes wait in the kernel
// when the next request is written.

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

const formatResponse = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

const events: Readonly<Record<string, (endpoint: Endpoint) => number>> = {
  'is reset': (endpoint) => endpoint.forEachSocket((socket) => socket.resetAndDestroy()),
  'is closed': (endpoint) => endpoint.forEachSocket((socket) => socket.end()),
  'holds an unrequested response': (endpoint) =>
    endpoint.forEachSocket((socket) => socket.write(formatResponse('200 OK', poison))),
  'holds an unrequested 408': (endpoint) =>
    endpoint.forEachSocket((socket) => socket.end(formatResponse('408 Request Timeout', '{}'))),
};

test.each(Object.entries(events))('a creation survives a connection that %s', async (_, apply) => {
  await create('first');
  // The next creation takes the connection only after such a silence.
  await sleep(100);
  // No turn of the event loop lies between this event and the next creation.
  expect(apply(platform.shared)).toBe(1);
  const transfer = await create('second');
  expect([transfer.id]).toEqual(platform.idsOf('second'));
  expect(platform.arrivalsOf('second')).toBe(1);
});
