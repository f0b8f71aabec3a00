// The calls of a client beside a mock library, to hosts that it mocks and to those that it does not. Run by mocks.mjs.
import { createRequire } from 'node:module';
import { memoryJournal } from 'payments-platform-sdk/journals';

const [, , library, addresses] = process.argv;
const { http: plain, https: secure, closed } = JSON.parse(addresses);

/** Nothing listens at the http address. */
const mocked = { http: 'http://127.0.0.1:8', https: 'https://api.mocked.test' };
const page = { data: [], hasMore: false, nextCursor: null };
let made = 0;
const createTransfer = (sent) => ({
  ...sent,
  id: `txfr_mocked${(made += 1)}`,
  currency: 'USDC',
  type: 'internal',
  status: 'pending',
  direction: 'outgoing',
  createdAt: '2026-11-24T10:00:00Z',
});

async function mockByMsw() {
  const { http, HttpResponse } = await import(library);
  const { setupServer } = await import(`${library}/node`);
  const handlers = Object.values(mocked).flatMap((origin) => [
    http.get(`${origin}/v0/:name`, () => HttpResponse.json(page)),
    http.post(`${origin}/v0/transfers`, async ({ request }) =>
      HttpResponse.json(createTransfer(await request.json()), { status: 201 }),
    ),
  ]);
  setupServer(...handlers).listen({ onUnhandledRequest: 'bypass', onUnhandledFrame: 'bypass' });
}

function mockByNock() {
  const nock = createRequire(import.meta.url)(library);
  for (const origin of Object.values(mocked)) {
    const scope = (nock.default ?? nock)(origin).persist();
    for (const name of ['accounts', 'transfers']) {
      scope.get(`/v0/${name}`).query(true).reply(200, page);
    }
    let sent;
    const keep = (body) => {
      sent = body;
      return true;
    };
    // Without parameters, because nock 15 never calls a function that has two.
    scope.post('/v0/transfers', keep).reply(201, () => createTransfer(sent));
  }
}

await (library.startsWith('msw') ? mockByMsw() : mockByNock());
const { PaymentsClient } = await import('payments-platform-sdk');

/** Makes a call three times, because the second and the third may find a connection. */
async function check(name, call, expected) {
  for (const round of [1, 2, 3]) {
    const got = await call(round).catch(
      (error) => `${error.code ?? error.name} ${error.outcome}: ${error.message}`,
    );
    if (!expected.test(got)) {
      console.log(`WRONG ${name}, call ${round}: ${got}`);
      process.exitCode = 1;
      return;
    }
  }
  console.log(`right ${name}`);
}

const input = { sourceAccountId: 'acc_1', counterpartyId: 'cpty_1', amount: '1.00' };
const createClient = (origin, options) =>
  new PaymentsClient({ baseUrl: `${origin}/v0`, apiKey: 'sk_mocked', timeout: 10_000, ...options });
const origins = {
  'mocked, http': mocked.http,
  'mocked, https': mocked.https,
  'not mocked, http': plain,
  'not mocked, https': secure,
};
for (const [name, origin] of Object.entries(origins)) {
  const { accounts, transfers } = createClient(origin, { journal: memoryJournal() });
  await check(`${name}, list`, async () => String((await accounts.list()).data), /^$/);
  await check(`${name}, create`, async () => (await transfers.create(input)).id, /^txfr_/);
  await check(
    `${name}, createOnce`,
    async (round) => {
      const description = `${name} ${round}`;
      return (await transfers.createOnce({ ...input, description })).id;
    },
    /^txfr_/,
  );
}
// Only sockets of Node prove that nothing was sent.
for (const protocol of ['http', 'https']) {
  const { transfers } = createClient(`${protocol}://${closed}`, { maxRetries: 0 });
  await check(`refused, ${protocol}`, () => transfers.create(input), /^ECONNREFUSED unknown/);
}
process.exit();
