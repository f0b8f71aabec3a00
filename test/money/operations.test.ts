import {
  InvalidResponseError,
  type DriftEvent,
  type PaymentsClient,
  type RequestOptions,
} from 'payments-platform-sdk';
import { beforeEach, expect, test, vi } from 'vitest';
import { clientAt, failureOf } from '../support/clients.ts';
import { endpoints } from '../support/interface.ts';
import { responseBytes, type Step } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { account, entity, instruction, settings, transactionNumber } from '../support/records.ts';
import {
  address,
  built,
  errorBody,
  newInstruction,
  newTransfer,
  page,
  transfer,
  transferCreated,
} from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/*
 * The kind of each operation, which decides how often it may be sent. `resend.test.ts` tests each
 * kind with every status and every broken connection.
 */

interface Operation {
  readonly operation: string;
  /** `safe` is resent in doubt. `idempotent`, and `once` for a creation, only after a rejection. */
  readonly kind: 'safe' | 'idempotent' | 'once';
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly api: 'versioned' | 'root';
  /** The documented response. Undefined if there is none. */
  readonly good: unknown;
  /** What the response to a write must have: an id with this prefix, an object, or nothing. */
  readonly usable?: `${string}_` | 'object' | 'anything';
  call(payments: PaymentsClient, options?: RequestOptions): PromiseLike<unknown>;
}

const counterparty = {
  id: 'cpty_1',
  entityId: 'ent_1',
  name: 'Supplier',
  type: 'wallet',
  createdAt: '2026-01-01T00:00:00Z',
} as const;
const iban = {
  id: 'iban_1',
  entityId: 'ent_1',
  accountId: 'acc_1',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFFXXX',
  bankName: 'Bank',
  currency: 'EUR',
  status: 'active',
  createdAt: '2026-01-01T00:00:00Z',
} as const;

/** The kind of a `payments.request` follows from its method. */
const ownRequest = (
  method: Operation['method'],
  kind: Operation['kind'],
  api: Operation['api'] = 'versioned',
): Operation => ({
  operation: 'request',
  kind,
  method,
  path: '/vaults/1',
  api,
  good: { vault: 1 },
  usable: 'anything',
  call: (payments, options) => payments.request({ method, path: '/vaults/1', api }, options),
});

const read = { kind: 'safe', method: 'GET', api: 'versioned' } as const;
const creation = { kind: 'once', method: 'POST', api: 'versioned' } as const;
const change = { kind: 'idempotent', method: 'PATCH', api: 'versioned' } as const;
const deletion = {
  kind: 'idempotent',
  method: 'DELETE',
  api: 'versioned',
  good: undefined,
  usable: 'anything',
} as const;

const operations: readonly Operation[] = [
  {
    ...creation,
    operation: 'entities.create',
    path: '/entities',
    good: entity,
    usable: 'ent_',
    call: (payments, options) => payments.entities.create({ email: 'ada@example.com' }, options),
  },
  {
    ...read,
    operation: 'entities.list',
    path: '/entities',
    good: page([entity]),
    call: (payments, options) => payments.entities.list({}, options),
  },
  {
    ...read,
    operation: 'entities.get',
    path: '/entities/ent_1',
    good: entity,
    call: (payments, options) => payments.entities.get('ent_1', options),
  },
  {
    ...creation,
    operation: 'accounts.create',
    path: '/accounts',
    good: account,
    usable: 'acc_',
    call: (payments, options) => payments.accounts.create({ entityId: 'ent_1' }, options),
  },
  {
    ...read,
    operation: 'accounts.list',
    path: '/accounts',
    good: page([account]),
    call: (payments, options) => payments.accounts.list({}, options),
  },
  {
    ...read,
    operation: 'accounts.get',
    path: '/accounts/acc_1',
    good: account,
    call: (payments, options) => payments.accounts.get('acc_1', options),
  },
  {
    ...change,
    operation: 'accounts.update',
    path: '/accounts/acc_1',
    good: account,
    usable: 'acc_',
    call: (payments, options) => payments.accounts.update('acc_1', { name: 'Main' }, options),
  },
  {
    ...creation,
    operation: 'transfers.create',
    path: '/transfers',
    good: transferCreated,
    usable: 'txfr_',
    call: (payments, options) => payments.transfers.create(newTransfer, options),
  },
  {
    ...read,
    operation: 'transfers.list',
    path: '/transfers',
    good: page([transfer]),
    call: (payments, options) => payments.transfers.list({}, options),
  },
  {
    ...read,
    operation: 'transfers.get',
    path: '/transfers/txfr_1',
    good: transfer,
    call: (payments, options) => payments.transfers.get('txfr_1', options),
  },
  {
    ...read,
    operation: 'counterparties.list',
    path: '/counterparties',
    good: page([counterparty]),
    call: (payments, options) => payments.counterparties.list({}, options),
  },
  {
    ...read,
    operation: 'counterparties.get',
    path: '/counterparties/cpty_1',
    good: counterparty,
    call: (payments, options) => payments.counterparties.get('cpty_1', options),
  },
  {
    ...deletion,
    operation: 'counterparties.delete',
    path: '/counterparties/cpty_1',
    call: (payments, options) => payments.counterparties.delete('cpty_1', options),
  },
  {
    ...read,
    operation: 'ibans.list',
    path: '/ibans',
    good: page([iban]),
    call: (payments, options) => payments.ibans.list({}, options),
  },
  {
    ...read,
    operation: 'ibans.get',
    path: '/ibans/iban_1',
    good: iban,
    call: (payments, options) => payments.ibans.get('iban_1', options),
  },
  {
    ...deletion,
    operation: 'ibans.delete',
    path: '/ibans/iban_1',
    call: (payments, options) => payments.ibans.delete('iban_1', options),
  },
  {
    ...change,
    operation: 'settings.update',
    path: '/platform/settings',
    good: settings,
    usable: 'object',
    call: (payments, options) => payments.settings.update({ defaultChain: 'base' }, options),
  },
  {
    // The endpoint computes without storing anything.
    kind: 'safe',
    method: 'POST',
    api: 'root',
    operation: 'instructions.build',
    path: '/instruction/build',
    good: built,
    call: (payments, options) => payments.instructions.build(newInstruction, options),
  },
  {
    ...read,
    api: 'root',
    operation: 'instructions.list',
    path: '/instructions/all',
    good: [instruction],
    call: (payments, options) => payments.instructions.list({ address }, options),
  },
  {
    ...read,
    api: 'root',
    operation: 'transactions.list',
    path: '/transactions',
    good: [transactionNumber(1)],
    call: (payments, options) => payments.transactions.list({ address }, options),
  },
];
const requests = [
  ownRequest('GET', 'safe'),
  ownRequest('POST', 'once'),
  ownRequest('PUT', 'idempotent'),
  ownRequest('PATCH', 'idempotent'),
  ownRequest('DELETE', 'idempotent'),
  ownRequest('POST', 'once', 'root'),
];

const rows = [...operations, ...requests];
const reads = rows.filter(({ kind }) => kind === 'safe');
const writes = rows.filter(({ kind }) => kind !== 'safe');
const withId = writes.filter(({ usable }) => usable?.endsWith('_'));

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

const ok = ({ good }: Operation) =>
  good === undefined ? responseBytes(204) : responseBytes(200, good);

/** A server that runs these steps, and a client of it that waits 0 ms between attempts. */
async function serveSteps(...steps: readonly Step[]) {
  const server = await rawServer(...steps);
  const drifts: DriftEvent[] = [];
  const hooks = { onDrift: (event: DriftEvent) => drifts.push(event) };
  const payments = clientAt(server, { maxRetries: 2, clock: new VirtualClock(), hooks });
  return { server, payments, drifts };
}

test('the table of operations.test.ts lists every operation of the API reference with its method, path and API', () => {
  const documented = endpoints.map(({ operation, method, path, base }) => [
    operation,
    method,
    path,
    base,
  ]);
  const here = operations.map(({ operation, method, path, api }) => [
    operation,
    method,
    path.replace(/\w+_1$/, '{id}'),
    api,
  ]);
  expect(here).toEqual(documented);
});

test.each(writes)(
  '$method $path ($operation) is sent once and ends as unknown if its connection breaks',
  async ({ method, path, api, call }) => {
    const { server, payments } = await serveSteps(({ reset }) => {
      reset();
    });
    expect(await failureOf(call(payments))).toMatchObject({ outcome: 'unknown', method });
    expect(server.arrivals.map(({ method, target }) => [method, target])).toEqual([
      [method, api === 'root' ? path : `/v0${path}`],
    ]);
  },
);

test.each(reads)(
  '$method $path ($operation) is sent three times if its connection breaks each time',
  async ({ method, path, api, call }) => {
    const { server, payments } = await serveSteps(({ reset }) => {
      reset();
    });
    expect(await failureOf(call(payments))).toMatchObject({ outcome: 'unknown', method });
    const target = api === 'root' ? path : `/v0${path}`;
    expect(server.arrivals.map(({ method, target }) => [method, target])).toEqual(
      Array.from({ length: 3 }, () => [method, target]),
    );
  },
);

test.each(rows)('$method $path ($operation) is sent again after status 425', async (row) => {
  const { server, payments, drifts } = await serveSteps(responseBytes(425, errorBody), ok(row));
  await row.call(payments);
  expect(server.arrivals).toHaveLength(2);
  expect(drifts).toEqual([]);
});

test.each(writes)(
  '$method $path ($operation) ends as unknown and is not sent again after status 503',
  async (row) => {
    const { server, payments } = await serveSteps(responseBytes(503, errorBody), ok(row));
    expect((await failureOf(row.call(payments))).outcome).toBe('unknown');
    expect(server.arrivals).toHaveLength(1);
  },
);

test.each(reads)('$method $path ($operation) is sent again after status 503', async (row) => {
  const { server, payments } = await serveSteps(responseBytes(503, errorBody), ok(row));
  await row.call(payments);
  expect(server.arrivals).toHaveLength(2);
});

const noIds = [undefined, null, '', 7, 'other_1', { text: 'id' }];

test.each(withId)(
  '$operation ends as unknown and is not sent again if its 2xx response has no valid id',
  async ({ good, usable = '', call }) => {
    const objects = noIds.map((id) => ({ ...Object(good), id }));
    const bodies = [...objects, { ...Object(good), id: usable }, [], null, 'accepted', [good]];
    const wrong: unknown[] = [];
    for (const body of bodies) {
      const json = responseBytes(
        200,
        body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      );
      const { server, payments } = await serveSteps(json);
      const result = await call(payments).then(
        (data) => data,
        (error: unknown) => error,
      );
      const isRight =
        result instanceof InvalidResponseError &&
        result.outcome === 'unknown' &&
        server.arrivals.length === 1;
      if (!isRight) wrong.push({ body, result, arrivals: server.arrivals.length });
    }
    expect(wrong).toEqual([]);
  },
);

test.each(withId)(
  '$operation resolves to a 2xx response with a valid id even if other fields are wrong or missing',
  async ({ usable, call }) => {
    for (const rest of [{}, { status: 7, createdAt: null, name: [], email: false }]) {
      const body = { id: `${usable}9`, ...rest };
      const { server, payments, drifts } = await serveSteps(responseBytes(200, body));
      expect(await call(payments)).toEqual(body);
      expect(drifts).toHaveLength(1);
      expect(server.arrivals).toHaveLength(1);
    }
  },
);

test('an update of the settings resolves if its 2xx response is an object, and ends as unknown otherwise', async () => {
  const update = rows.find(({ usable }) => usable === 'object');
  for (const body of [{}, { autoEarnEnabled: 'yes' }]) {
    const { payments, drifts } = await serveSteps(responseBytes(200, body));
    expect(await update?.call(payments)).toEqual(body);
    expect(drifts).toHaveLength(1);
  }
  for (const body of ['null', '7', '"saved"', '<p>']) {
    const { server, payments } = await serveSteps(responseBytes(200, Buffer.from(body)));
    const result = update === undefined ? Promise.resolve() : update.call(payments);
    expect((await failureOf(result, InvalidResponseError)).outcome).toBe('unknown');
    expect(server.arrivals).toHaveLength(1);
  }
});

test('a deletion with a 2xx response resolves, whatever the body is', async () => {
  for (const { call } of rows.filter(({ good }) => good === undefined)) {
    for (const body of [undefined, {}, '<p>']) {
      const { server, payments } = await serveSteps(responseBytes(200, body));
      expect(await call(payments)).toBeUndefined();
      expect(server.arrivals).toHaveLength(1);
    }
  }
});

test.each(reads.filter(({ operation }) => operation !== 'request'))(
  '$operation rejects a 200 response of another shape without a retry',
  async ({ operation, call }) => {
    // A built instruction has no id, so any object is returned.
    const body = operation === 'instructions.build' ? [] : { id: 7 };
    const { server, payments } = await serveSteps(responseBytes(200, body));
    expect(await failureOf(call(payments), InvalidResponseError)).toMatchObject({
      reason: 'shape',
    });
    expect(server.arrivals).toHaveLength(1);
  },
);
