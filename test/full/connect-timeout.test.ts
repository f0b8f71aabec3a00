import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  ConnectionError,
  PaymentsClient,
  TimeoutError,
  type ClientOptions,
} from 'payments-platform-sdk';
import { afterEach, expect, test } from 'vitest';
import { apiKey, failureOf } from '../support/clients.ts';
import { calls, kinds } from '../support/kinds.ts';
import { newTransfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

// A connection that is not established in time is a TimeoutError, which is a ConnectionError.

const createFetchError = (facts: object): Error =>
  new TypeError('fetch failed', {
    cause: Object.assign(new Error('connect timed out'), facts),
  });
const byUndici = { code: 'UND_ERR_CONNECT_TIMEOUT' };
const bySystem = { code: 'ETIMEDOUT', syscall: 'connect' };

const createClient = (error: Error, options: ClientOptions = {}): PaymentsClient =>
  new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey,
    jwt: 'eyJh.eyJz.c2ln',
    clock: new VirtualClock(),
    maxRetries: 0,
    fetch: async () => {
      throw error;
    },
    ...options,
  });

test.each(kinds)(
  'a call (%s) rejects with a TimeoutError if connecting times out',
  async (kind) => {
    for (const facts of [byUndici, bySystem]) {
      const error = await failureOf(
        calls[kind].send(createClient(createFetchError(facts))),
        TimeoutError,
      );
      expect(error).toBeInstanceOf(ConnectionError);
      // A custom fetch may have sent something before.
      expect(error).toMatchObject({
        phase: 'connect',
        code: facts.code,
        outcome: 'unknown',
        retryable: kind !== 'once POST',
        attempts: [{ outcome: 'unknown', reason: facts.code }],
      });
      expect(error.message).toContain(` failed (${facts.code})`);
    }
  },
);

test('a failed connection causes a TimeoutError only if every address timed out', async () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const late = Object.assign(new Error('late'), bySystem);
  const both = (...errors: Error[]): Error =>
    new TypeError('fetch failed', { cause: new AggregateError(errors) });
  const create = (error: Error) => createClient(error).transfers.create(newTransfer);
  expect(await failureOf(create(both(late, late)))).toBeInstanceOf(TimeoutError);
  expect(await failureOf(create(both(late, refused)))).not.toBeInstanceOf(TimeoutError);
});

test('ETIMEDOUT on an established connection causes no TimeoutError', async () => {
  const error = createFetchError({ code: 'ETIMEDOUT', syscall: 'read' });
  const failed = await failureOf(createClient(error).transfers.create(newTransfer));
  expect(failed).toBeInstanceOf(ConnectionError);
  expect(failed).not.toBeInstanceOf(TimeoutError);
});

let child: ChildProcess | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  child?.kill('SIGKILL');
  child = undefined;
});

/** A port of a suspended process with a full backlog. */
async function openBlackhole(): Promise<number> {
  child = spawn(process.execPath, [
    '-e',
    "const s = require('node:net').createServer(); s.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))",
  ]);
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const port = Number(line.toString());
  child.kill('SIGSTOP');
  for (let count = 0; count < 6; count += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  return port;
}

test.skipIf(process.platform !== 'linux')(
  'a creation has outcome not_sent if connecting takes too long',
  async () => {
    const baseUrl = `http://127.0.0.1:${await openBlackhole()}/v0`;
    const payments = new PaymentsClient({ baseUrl, apiKey, timeout: 500, maxRetries: 1 });
    const error = await failureOf(payments.transfers.create(newTransfer), TimeoutError);
    expect(error).toMatchObject({
      phase: 'connect',
      outcome: 'not_sent',
      retryable: true,
      attempts: [{ outcome: 'not_sent' }, { outcome: 'not_sent' }],
    });
  },
);
