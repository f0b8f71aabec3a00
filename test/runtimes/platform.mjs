// The platform of every runtime, in a separate process: the packed sandbox behind HTTP, with records and
// faults, and a server that echoes requests. Each message over IPC starts a new sandbox; the reply has the
// data that the story needs.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , consumer] = process.argv;
const resolve = createRequire(join(consumer, 'anything.mjs')).resolve;
const load = (name) => import(pathToFileURL(resolve(name)).href);
const { Sandbox, seedDemo } = await load('payments-platform-sdk/sandbox');
const { listen } = await load('payments-platform-sdk/sandbox/server');

/** A JSON number that loses digits as a double. */
const big = '9007199254740993';
const echo = createServer((request, response) => {
  const sent = JSON.stringify(request.headers['user-agent'] ?? '');
  response.setHeader('content-type', 'application/json');
  response.end(`{"userAgent":${sent},"big":${big}}`);
}).listen(0, '127.0.0.1');
await once(echo, 'listening');

/** One fault for each operation that the story does not otherwise use. */
function prepareFaults({ faults }) {
  faults.add({ operation: 'ibans.get', times: Infinity, fault: { kind: 'hang' } });
  faults.add({ operation: 'settings.update', times: Infinity, fault: { kind: 'hang' } });
  faults.add({ operation: 'counterparties.get', fault: { kind: 'stalled_body' } });
  faults.add({ operation: 'accounts.get', fault: { kind: 'status', status: 503 } });
  faults.add({
    operation: 'transfers.create',
    after: 1,
    fault: { kind: 'reset', when: 'after_commit' },
  });
}

async function open() {
  const sandbox = new Sandbox();
  seedDemo(sandbox);
  const entity = sandbox.entities.create({ email: 'grace@example.com' });
  const [source, destination] = [0, 1].map(() => sandbox.accounts.create({ entityId: entity.id }));
  sandbox.accounts.fund(source.id, '1000.00');
  for (let made = 0; made < 23; made += 1) {
    sandbox.transfers.create({
      sourceAccountId: source.id,
      destinationAccountId: destination.id,
      amount: '1.00',
    });
  }
  const server = await listen(sandbox, { port: 0 });
  const { PaymentsClient } = await load('payments-platform-sdk');
  const client = new PaymentsClient(server.clientOptions);
  const transfers = await client.transfers.list().toArray({ max: 1000 });
  prepareFaults(sandbox);
  return {
    clientOptions: server.clientOptions,
    echoUrl: `http://127.0.0.1:${echo.address().port}/v0`,
    entityId: entity.id,
    sourceAccountId: source.id,
    destinationAccountId: destination.id,
    transfers: transfers.length,
    // seedDemo creates an Instruction for this owner.
    owner: '0x00000000000000000000000000000000000000aa',
    big,
  };
}

process.on('message', ({ id }) => {
  open().then(
    (world) => process.send({ id, world }),
    (error) => process.send({ id, error: String(error?.stack ?? error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
