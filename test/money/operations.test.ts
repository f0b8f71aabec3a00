import {
  InvalidResponseError,
  type PaymentsClient,
  type RequestOptions,
} from 'payments-platform-sdk';
import { beforeEach, expect, test, vi } from 'vitest';
import { nouns } from '../../src/sandbox/platform/ids.ts';
import { clientAt, failureOf } from '../support/clients.ts';
import { endpoints, invoke } from '../support/interface.ts';
import { responseBytes, type Step } from '../support/loopback.ts';
import { rawServer } from '../support/raw-server.ts';
import { seededSandbox } from '../support/platform.ts';
import { instruction, settings, transactionNumber } from '../support/records.ts';
import { built, errorBody, page, transferCreated } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import type { DriftEvent } from '../../src/calls/hooks.ts';

/*
 * The kind of each operation, which decides how often it may be sent. `resend.test.ts` tests each
 * kind with every status and every broken connection.
 */

interface Operation {
  readonly operation: string;
  /** `safe` is resent in doubt. `idempotent`, and `once` for a creation, only after a rejection. */
  readonly kind: 'safe' | 'idempotent' | 'once';
  readonly method: string;
  readonly path: string;
  readonly base: 'versioned' | 'root';
  /** The documented response. Undefined if there is none. */
  readonly good: unknown;
  /** What the response to a write must have: an id with this prefix, an object, or nothing. */
  readonly usable?: `${string}_` | 'object' | 'anything' | undefined;
  call(payments: PaymentsClient, options?: RequestOptions): PromiseLike<unknown>;
}

const sandbox = seededSandbox();
/** The first record of a noun, whose id ends in 1 without zeros; undefined for the others. */
function recordOf(operation: string): object | undefined {
  const noun = nouns.find((each) => operation.startsWith(`${each}.`));
  const [record] = noun === undefined ? [] : sandbox[noun].list();
  return record && { ...record, id: record.id.replace('00000', '') };
}
const goods: Readonly<Record<string, unknown>> = {
  'transfers.create': transferCreated,
  'settings.update': settings,
  'instructions.build': built,
  'instructions.list': [instruction],
  'transactions.list': [transactionNumber(1)],
};
const usable: Readonly<Record<string, Operation['usable']>> = {
  'entities.create': 'ent_',
  'accounts.create': 'acc_',
  'accounts.update': 'acc_',
  'transfers.create': 'txfr_',
  'counterparties.delete': 'anything',
  'ibans.delete': 'anything',
  'settings.update': 'object',
};

/** The kind of an operation, and of a `payments.request`, follows from the method. */
const kindOf = (method: string): Operation['kind'] => {
  if (method === 'GET') return 'safe';
  return method === 'POST' ? 'once' : 'idempotent';
};
const goodOf = (operation: string): unknown => {
  if (operation.endsWith('.delete')) return undefined;
  const record = recordOf(operation);
  return goods[operation] ?? (operation.endsWith('.list') ? page([record]) : record);
};

const operations = endpoints.map(({ operation, method, path, base, examples }): Operation => {
  // The last example of a list has no arguments.
  const { id, body = {} } = examples.at(-1) ?? {};
  const parameters: unknown[] = id === undefined ? [body] : [id.replace('00000', '')];
  if (method === 'PATCH' && id !== undefined) parameters.push(body);
  return {
    operation,
    // This endpoint computes without storing anything.
    kind: operation === 'instructions.build' ? 'safe' : kindOf(method),
    method,
    path: path.replace('{id}', String(parameters[0])),
    base,
    good: goodOf(operation),
    usable: usable[operation],
    call: (payments, options) => invoke(payments, operation, [...parameters, options]),
  };
});
const requests = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).flatMap((method) =>
  (['versioned', 'root'] as const).map((base): Operation => ({
    operation: 'request',
    kind: kindOf(method),
    method,
    path: '/vaults/1',
    base,
    good: { vault: 1 },
    usable: 'anything',
    call: (payments, options) =>
      payments.request({ method, path: '/vaults/1', api: base }, options),
  })),
);

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

test.each(writes)(
  '$method $path is sent once if its connection is reset',
  async ({ method, path, base, call }) => {
    const { server, payments } = await serveSteps(({ reset }) => {
      reset();
    });
    expect(await failureOf(call(payments))).toMatchObject({ outcome: 'unknown', method });
    expect(server.arrivals.map(({ method, target }) => [method, target])).toEqual([
      [method, base === 'root' ? path : `/v0${path}`],
    ]);
  },
);

test.each(reads)(
  '$method $path is sent 3 times if its connection is reset',
  async ({ method, path, base, call }) => {
    const { server, payments } = await serveSteps(({ reset }) => {
      reset();
    });
    expect(await failureOf(call(payments))).toMatchObject({ outcome: 'unknown', method });
    const target = base === 'root' ? path : `/v0${path}`;
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

const noIds = [undefined, null, '', 7, 'other_1', { text: 'id' }];

test.each(withId)(
  '$operation rejects a response without an id',
  async ({ good, usable = '', call }) => {
    const objects = noIds.map((id) => ({ ...Object(good), id }));
    const slash = { ...Object(good), id: `${usable}1/2` };
    const bodies = [
      ...objects,
      { ...Object(good), id: usable },
      slash,
      [],
      null,
      'accepted',
      [good],
    ];
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
  '$operation resolves if its response has an id and odd fields',
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

test('settings.update rejects as unknown if its 2xx body is no object', async () => {
  const update = rows.find(({ usable }) => usable === 'object');
  for (const body of [{}, { autoEarnEnabled: 'yes' }]) {
    const { payments, drifts } = await serveSteps(responseBytes(200, body));
    expect(await update?.call(payments)).toEqual(body);
    expect(drifts).toHaveLength(1);
  }
  for (const body of ['null', '7', '"saved"', '[]', '<p>']) {
    const { server, payments } = await serveSteps(responseBytes(200, Buffer.from(body)));
    const result = update === undefined ? Promise.resolve() : update.call(payments);
    expect((await failureOf(result, InvalidResponseError)).outcome).toBe('unknown');
    expect(server.arrivals).toHaveLength(1);
  }
});

test.each(reads.filter(({ operation }) => operation !== 'request'))(
  '$operation rejects a response of the wrong shape without a retry',
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
