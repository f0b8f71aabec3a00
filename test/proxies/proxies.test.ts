import { spawn } from 'node:child_process';
import { createServer as createHttpServer } from 'node:http';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  isPaymentsError,
  PaymentsClient,
  type ClientOptions,
  type Outcome,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startLedger, type Ledger, type LedgerOptions } from './ledger.ts';
import { missing, startHaproxy, startNginx } from './processes.ts';

// The responses of real nginx and haproxy, and whether the SDK reports them correctly. The ledger
// records which payments were made.

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function ledger(options?: LedgerOptions): Promise<Ledger> {
  const started = await startLedger(options);
  onTestFinished(started.close);
  return started;
}
async function nginx(upstream: number, blocks: Parameters<typeof startNginx>[1] = {}) {
  const proxy = await startNginx(upstream, blocks);
  onTestFinished(proxy.close);
  return proxy;
}
async function haproxy(upstream: number, lines: Parameters<typeof startHaproxy>[1] = {}) {
  const proxy = await startHaproxy(upstream, lines);
  onTestFinished(proxy.close);
  return proxy;
}
const clientAtUrl = (baseUrl: string, options: ClientOptions = {}): PaymentsClient =>
  new PaymentsClient({ baseUrl, apiKey: 'sk_test_proxies', ...options });

interface End {
  readonly description: string;
  readonly outcome: 'ok' | Outcome | 'thrown';
  readonly status?: number | undefined;
}

async function pay(payments: PaymentsClient, description: string): Promise<End> {
  try {
    await payments.transfers.create({
      sourceAccountId: 'acc_1',
      counterpartyId: 'cpty_1',
      amount: '1.00',
      description,
    });
    return { description, outcome: 'ok' };
  } catch (error) {
    if (!isPaymentsError(error)) return { description, outcome: 'thrown' };
    const status: unknown = Reflect.get(error, 'status');
    return { description, outcome: error.outcome, status: status as number | undefined };
  }
}

/** Payments made by ten workers. */
async function payMany(payments: PaymentsClient, count: number, manner: string): Promise<End[]> {
  const ends: End[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) ends.push(await pay(payments, `${manner} ${(next += 1)}`));
  };
  await Promise.all(Array.from({ length: 10 }, work));
  return ends;
}

/** Payments that were reported as without effect but are in the ledger, and payments made twice. */
function lies(ends: readonly End[], { payments }: Ledger): string[] {
  return [
    ...ends
      .filter(({ outcome }) => outcome === 'rejected' || outcome === 'not_sent')
      .map(({ description }) => description)
      .filter((description) => payments.includes(description)),
    ...payments.filter((description, index) => payments.indexOf(description) !== index),
  ];
}
const outcomes = (ends: readonly End[]): string[] => [
  ...new Set(ends.map(({ outcome, status }) => `${outcome} ${status ?? ''}`.trim())),
];

test('nginx and haproxy are installed for these tests', () => {
  expect(missing, 'install with: apt-get install nginx-light haproxy').toEqual([]);
});

describe.skipIf(missing.length > 0)('a client behind a real proxy', () => {
  const timesOut = 'proxy_read_timeout 200ms;';
  const errorPage = 'error_page 500 502 503 504 /50x.html;';

  type Replacing = readonly [
    string,
    string,
    number,
    (port: number) => Promise<{ baseUrl: string }>,
  ];
  const nginxWith = (server: string) => (port: number) => nginx(port, { http: timesOut, server });
  const haproxyWith = (frontend: string) => (port: number) => haproxy(port, { frontend });
  test.for<Replacing>([
    [
      'an error page of nginx that is missing',
      'hang',
      404,
      nginxWith(`${errorPage} location = /50x.html { root /nonexistent; }`),
    ],
    ['a forbidden page', 'hang', 403, nginxWith(`${errorPage} location = /50x.html { deny all; }`)],
    [
      'a maintenance page of nginx',
      'hang',
      405,
      nginxWith('error_page 502 503 504 @down; location @down { try_files /down.html =503; }'),
    ],
    [
      'the maintenance page of docs/going-live.md',
      'hang',
      504,
      nginxWith('error_page 502 503 504 @down; location @down { return 503 "Down."; }'),
    ],
    ['a redirect away', 'hang', 307, nginxWith('error_page 504 =307 https://status.example.com/;')],
    [
      'haproxy, which denies the 201 with 403',
      'succeed',
      403,
      haproxyWith('http-response deny deny_status 403 if { status 201 }'),
    ],
    [
      'haproxy, which denies the 201 with 400',
      'succeed',
      400,
      haproxyWith('http-response deny deny_status 400 if { status 201 }'),
    ],
  ])('createOnce pays once even if its response becomes %s', async ([, manner, status, start]) => {
    const platform = await ledger();
    const { baseUrl } = await start(platform.port);
    const payments = clientAtUrl(baseUrl, { journal: memoryJournal() });
    const ends = await payMany(payments, 60, manner);
    expect([outcomes(ends), lies(ends, platform)]).toEqual([[`unknown ${status}`], []]);
    expect(platform.payments).toHaveLength(60);

    const description = `${manner} once`;
    const results: unknown[] = [];
    for (let call = 0; call < 3; call += 1) {
      const input = {
        sourceAccountId: 'acc_1',
        counterpartyId: 'cpty_1',
        amount: '1.00',
      } as const;
      const paid = payments.transfers.createOnce({ ...input, description });
      results.push(
        await paid.then(
          ({ id }) => id,
          (error: unknown) => error,
        ),
      );
    }
    expect(results).toEqual(['txfr_61', 'txfr_61', 'txfr_61']);
    expect(platform.payments.filter((each) => each === description)).toHaveLength(1);
  });

  test.for([
    ['a string', 'sk_test_proxies'],
    ['a function', () => 'sk_test_proxies'],
  ] as const)(
    'createOnce pays once if nginx turns status 504 into 401 (%s)',
    async ([, apiKey]) => {
      const platform = await ledger();
      // The key is valid for every request but the second, in which nginx asks for the error page.
      let checks = 0;
      const auth = createHttpServer((_, response) => {
        checks += 1;
        response.writeHead(checks === 1 || checks > 2 ? 204 : 401).end();
      });
      await new Promise<void>((resolve) => auth.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void auth.close());
      const { port } = auth.address() as AddressInfo;
      const { baseUrl } = await nginx(platform.port, {
        http: timesOut,
        server: `auth_request /auth; ${errorPage}
          location = /auth { internal; auth_request off; proxy_pass http://127.0.0.1:${port}; proxy_pass_request_body off; proxy_set_header content-length ""; }`,
      });
      const payments = clientAtUrl(baseUrl, { apiKey, journal: memoryJournal() });
      const input = { sourceAccountId: 'acc_1', counterpartyId: 'cpty_1', amount: '1.00' } as const;
      const { id } = await payments.transfers.createOnce({ ...input, description: 'hang once' });
      expect([id, platform.payments]).toEqual(['txfr_1', ['hang once']]);
    },
  );

  test.for([
    ['ignores the headers of a request', ''],
    ['honours cache-control: no-cache', 'proxy_cache_bypass $http_cache_control;'],
  ])('createOnce finds a late payment behind a cache that %s', async ([, location]) => {
    const platform = await ledger();
    const { baseUrl } = await nginx(platform.port, {
      http: 'proxy_cache_path cache keys_zone=lists:1m;',
      location: `proxy_cache lists; proxy_cache_valid 200 10m; ${location}`,
    });
    let now = Date.now();
    const journal = memoryJournal({ now: () => now });
    const input = {
      sourceAccountId: 'acc_1',
      counterpartyId: 'cpty_1',
      amount: '1.00',
      description: 'succeed late',
    } as const;
    const expiresAt = now + 60_000;
    const times = { claimedAt: now, deadline: now, expiresAt, firstClaimedAt: now };
    const claim = { state: 'sending', claimId: '1', host: 'h-1', platform: baseUrl } as const;
    await journal.swap(input.description, undefined, { ...claim, ...times, input });
    const payments = clientAtUrl(baseUrl, { journal, gracePeriod: 60_000 });
    await expect(payments.transfers.createOnce(input)).rejects.toMatchObject({
      reason: 'in_doubt',
    });
    // The cache now has an empty list. Then the request of the earlier claim arrives after all.
    expect(await pay(clientAtUrl(`http://127.0.0.1:${platform.port}/v0`), 'succeed late')).toEqual({
      description: 'succeed late',
      outcome: 'ok',
    });
    now = expiresAt + 1;
    const { id } = await payments.transfers.createOnce(input);
    expect([id, platform.payments]).toEqual(['txfr_1', ['succeed late']]);
  });

  test('a rejection by the platform stays rejected behind nginx and haproxy', async () => {
    const platform = await ledger();
    const proxies = [await nginx(platform.port), await haproxy(platform.port)];
    for (const { baseUrl } of proxies) {
      for (const status of [400, 401, 403, 404, 409, 422]) {
        const end = await pay(clientAtUrl(baseUrl), `reject-${status}`);
        expect(end).toMatchObject({ outcome: 'rejected', status });
      }
    }
    expect(platform.payments).toEqual([]);
  });

  test('a payment that nginx redirects to https has the outcome rejected', async () => {
    const platform = await ledger();
    const server = 'return 308 https://$host$request_uri;';
    const { baseUrl } = await nginx(platform.port, { server });
    const end = await pay(clientAtUrl(baseUrl), 'succeed');
    expect([end.outcome, end.status, platform.payments]).toEqual(['rejected', 308, []]);
  });

  test('reloads of haproxy leave at most 6% of outcomes unknown', async () => {
    const platform = await ledger({ delay: 5 });
    const proxy = await haproxy(platform.port);
    const payments = clientAtUrl(proxy.baseUrl);
    const ends: End[] = [];
    let isOver = false;
    const work = async (worker: number): Promise<void> => {
      for (let count = 0; !isOver; count += 1) {
        ends.push(await pay(payments, `succeed ${worker}-${count}`));
        await sleep(Math.random() * 50);
      }
    };
    const working = Array.from({ length: 16 }, (_, worker) => work(worker));
    for (let reload = 0; reload < 10; reload += 1) {
      await sleep(150);
      await proxy.reload();
    }
    isOver = true;
    await Promise.all(working);
    const inDoubt = ends.filter(({ outcome }) => outcome === 'unknown');
    expect(lies(ends, platform)).toEqual([]);
    expect(ends.length).toBeGreaterThan(200);
    // On a quiet machine no payment is in doubt, and on a busy machine up to four in a hundred.
    expect(inDoubt.length / ends.length).toBeLessThanOrEqual(0.06);
  });

  test('a client makes ten payments a second behind nginx limit_req', async () => {
    const platform = await ledger();
    const { baseUrl } = await nginx(platform.port, {
      http: 'limit_req_zone $binary_remote_addr zone=z:1m rate=20r/s; limit_req_status 429;',
      location: 'limit_req zone=z;',
    });
    let sent = 0;
    const payments = clientAtUrl(baseUrl, { hooks: { onRequest: () => (sent += 1) } });
    const until = Date.now() + 6_000;
    const ends: End[] = [];
    const work = async (worker: number): Promise<void> => {
      for (let count = 0; Date.now() < until; count += 1) {
        ends.push(await pay(payments, `succeed ${worker}-${count}`));
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, worker) => work(worker)));
    expect(lies(ends, platform)).toEqual([]);
    expect(platform.payments.length / 6).toBeGreaterThanOrEqual(10);
    expect(sent / platform.payments.length).toBeLessThan(2);
  });
});

/** A connection with a delay of 25 ms in each direction. */
async function farAway(port: number): Promise<number> {
  const delayedCopy = (from: Socket, to: Socket): void => {
    from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), 25));
    from.on('end', () => setTimeout(() => to.end(), 25));
    from.on('error', () => setTimeout(() => to.destroy(), 25));
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    delayedCopy(near, far);
    delayedCopy(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('every payment has a known outcome if the server closes idle connections', async () => {
  const platform = await ledger({ idle: 1_000 });
  const port = await farAway(platform.port);
  const ends: End[] = [];
  const work = async (worker: number): Promise<void> => {
    const payments = clientAtUrl(`http://127.0.0.1:${port}/v0`);
    for (let count = 0; count < 4; count += 1) {
      ends.push(await pay(payments, `succeed ${worker}-${count}`));
      await sleep(900 + Math.random() * 200);
    }
  };
  await Promise.all(Array.from({ length: 25 }, (_, worker) => work(worker)));
  expect(outcomes(ends)).toEqual(['ok']);
});

const modules = fileURLToPath(new URL('../runtimes/node_modules/', import.meta.url));
const deno = `${modules}@deno/linux-x64-glibc`;
const runtimes: readonly (readonly [string, readonly string[]])[] = [
  ['Node', [process.execPath]],
  ['Bun', [`${modules}@oven/bun-linux-x64/bin/bun`]],
  [
    'Deno',
    [
      `${deno}/${existsSync(deno) ? readdirSync(deno).find((name) => name === 'deno') : ''}`,
      'run',
      '-A',
    ],
  ],
];

// Bun and Deno are available after test:runtimes.
test.for(runtimes.filter(([, [program = '']]) => existsSync(program)))(
  'a %s process reads a response that arrived while it was suspended',
  async ([, [program = '', ...args]]) => {
    const platform = await ledger({ delay: 300 });
    const script = fileURLToPath(new URL('paused.ts', import.meta.url));
    const sdk = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
    const url = `http://127.0.0.1:${platform.port}/v0`;
    const child = spawn(program, [...args, script, sdk, url, '40', '1000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    while (platform.arrived() < 40) await sleep(5);
    child.kill('SIGSTOP');
    await sleep(2_500);
    child.kill('SIGCONT');
    await new Promise((resolve) => child.on('exit', resolve));
    const inDoubt = (JSON.parse(output) as string[]).filter((end) => end !== 'ok');
    expect(inDoubt.length / 40).toBeLessThanOrEqual(0.05);
  },
);
