import { readFileSync } from 'node:fs';
import { PaymentsClient } from 'payments-platform-sdk';
import type { Sandbox } from 'payments-platform-sdk/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { clientOf, type SentRequest } from '../support/clients.ts';
import {
  argumentsOf,
  type Endpoint,
  endpoints,
  type Example,
  invoke,
} from '../support/interface.ts';
import { seededSandbox, clientOfSandbox } from '../support/platform.ts';
import { recordingServer } from '../support/recording-server.ts';

const filled = (path: string, id: string | undefined): string => path.replace('{id}', id ?? '');

/** Every example of every endpoint, with a name for the report. */
const examples = endpoints.flatMap((endpoint) =>
  endpoint.examples.map((example, index) => ({
    name: `${endpoint.method} ${endpoint.path} (${endpoint.operation} ${index + 1})`,
    endpoint,
    example,
  })),
);

describe('the examples of the API reference', () => {
  test.each(endpoints)('use every documented parameter and field of $operation', (endpoint) => {
    const used = (part: 'query' | 'body') =>
      new Set(endpoint.examples.flatMap((example) => Object.keys(example[part] ?? {})));
    expect(used('query')).toEqual(new Set(endpoint.query));
    expect(used('body')).toEqual(new Set(endpoint.body));
  });
});

describe('the client', () => {
  test('the client has a method for each endpoint, and only documented helpers', () => {
    const payments = new PaymentsClient(seededSandbox().clientOptions);
    const beyondTheDocument = [
      'waitFor',
      'waitForAll',
      'reconcile',
      'reconcileAll',
      'createOnce',
      'createAllOnce',
    ]
      .concat(['listUndecided', 'decide'])
      .map((name) => `transfers.${name}`);
    const methods = Object.entries(payments).flatMap(([noun, resource]) =>
      methodsOf(resource).map((verb) => `${noun}.${verb}`),
    );
    expect(methods.toSorted()).toEqual(
      [...endpoints.map(({ operation }) => operation), ...beyondTheDocument].toSorted(),
    );
  });

  test('the client itself has only request(), withOptions() and toJSON()', () => {
    const payments = new PaymentsClient(seededSandbox().clientOptions);
    // toJSON is for JSON.stringify, which must not show a credential.
    expect(methodsOf(payments)).toEqual(['request', 'toJSON', 'withOptions']);
  });
});

const methodsOf = (value: object): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(value))
    .filter((name) => name !== 'constructor')
    .toSorted();

describe('a request on a real server', () => {
  let sandbox: Sandbox;
  let server: Awaited<ReturnType<typeof recordingServer>>;

  beforeAll(async () => {
    // A real server receives the requests of fetch and node:http as in production.
    server = await recordingServer((request, body) =>
      request.method === 'GET' && body !== ''
        ? sandbox.getWithBody(request, body)
        : sandbox.fetch(request),
    );
  });
  afterAll(() => server.close());

  /** The request that an example sends, whether it succeeds or not. */
  async function arriving(
    { operation }: Endpoint,
    example: Example,
    bases: { baseUrl: string; rootUrl?: string },
  ): Promise<SentRequest> {
    sandbox = seededSandbox();
    const { apiKey, jwt } = sandbox;
    const payments = new PaymentsClient({ ...bases, apiKey, jwt, maxRetries: 0 });
    const before = server.requests.length;
    await invoke(payments, operation, argumentsOf(example)).then(undefined, () => undefined);
    expect(server.requests.length - before).toBe(1);
    const [requests] = server.requests.slice(before);
    if (requests === undefined) throw new Error('nothing arrived');
    return requests;
  }

  test.each(examples)(
    '$name sends the request that the API reference describes',
    async ({ endpoint, example }) => {
      const { origin } = server;
      const request = await arriving(endpoint, example, { baseUrl: `${origin}/v0` });
      const prefix = endpoint.base === 'versioned' ? '/v0' : '';
      expect(request.method).toBe(endpoint.method);
      expect(request.url).toBe(
        `${origin}${prefix}${filled(endpoint.path, example.id)}${example.search ?? ''}`,
      );

      const [right, wrong] =
        endpoint.credential === 'apiKey'
          ? [sandbox.apiKey, sandbox.jwt]
          : [sandbox.jwt, sandbox.apiKey];
      expect(request.headers['authorization']).toBe(`Bearer ${right}`);
      expect(JSON.stringify(request)).not.toContain(wrong);

      expect(request.headers['accept']).toBe('application/json');
      expect(request.headers['user-agent']).toMatch(/^payments-platform-sdk\/\d+\.\d+\.\d+/);
      if (example.body === undefined) {
        expect(request.body).toBe('');
        expect(request.headers['content-type']).toBeUndefined();
      } else {
        expect(JSON.parse(request.body)).toEqual(example.body);
        expect(request.headers['content-type']).toBe('application/json');
        expect(request.headers['content-length']).toBe(String(Buffer.byteLength(request.body)));
        // A server would read a GET with a body of no stated length as two requests.
        expect(request.headers['transfer-encoding']).toBeUndefined();
      }
    },
  );

  test.each(examples)('the request of $name keeps the base URL’s path prefix', async (one) => {
    const { endpoint, example } = one;
    const { origin } = server;
    const request = await arriving(endpoint, example, { baseUrl: `${origin}/platform/api/v0/` });
    const prefix = endpoint.base === 'versioned' ? '/platform/api/v0' : '/platform/api';
    expect(request.url).toBe(
      `${origin}${prefix}${filled(endpoint.path, example.id)}${example.search ?? ''}`,
    );
  });

  test.each(examples)('$name goes to the URL of its API', async ({ endpoint, example }) => {
    const { origin } = server;
    const request = await arriving(endpoint, example, {
      baseUrl: `${origin}/v0`,
      rootUrl: `${origin}/automation//`,
    });
    const prefix = endpoint.base === 'versioned' ? '/v0' : '/automation';
    expect(request.url).toBe(
      `${origin}${prefix}${filled(endpoint.path, example.id)}${example.search ?? ''}`,
    );
  });
});

test.each(examples)('the credential of $name goes only to its own host', async (one) => {
  const { endpoint, example } = one;
  const { payments, requests } = clientOf(undefined, {
    baseUrl: 'https://versioned.example.com/v0',
    rootUrl: 'https://root.example.org',
    apiKey: 'sk_for_versioned',
    jwt: 'only.for.root',
  });
  await invoke(payments, endpoint.operation, argumentsOf(example)).then(undefined, () => undefined);
  expect(requests).toHaveLength(1);
  const [host, token] =
    endpoint.base === 'versioned'
      ? ['versioned.example.com', 'sk_for_versioned']
      : ['root.example.org', 'only.for.root'];
  expect(new URL(requests[0]?.url ?? '').host).toBe(host);
  expect(requests[0]?.headers['authorization']).toBe(`Bearer ${token}`);
});

describe('the sandbox', () => {
  /** A cursor has to come from the platform, so the example cursor is left out. */
  const possible = examples.filter(({ example }) => example.query?.['cursor'] === undefined);

  test.each(possible)(
    'the sandbox responds to $name in the documented shape',
    async ({ endpoint, example }) => {
      const sandbox = seededSandbox();
      const { payments } = clientOfSandbox(sandbox, { maxRetries: 0 });
      const { data, response } = await invoke(
        payments,
        endpoint.operation,
        argumentsOf(example),
      ).withResponse();
      // The sandbox does not call the webhookUrl of the example, and says so in the log.
      const operations = sandbox.log.map(({ operation }) => operation);
      expect(operations.filter((each) => each !== 'webhook')).toEqual([endpoint.operation]);
      if (endpoint.response === undefined) {
        expect(data).toBeUndefined();
      } else {
        const raw: unknown = await response.json();
        expect(z.safeParse(endpoint.response, raw).error?.issues).toBeUndefined();
      }
    },
  );

  const paged = endpoints.filter(({ query }) => query.includes('cursor'));

  test.each(paged)(
    'the sandbox splits $operation into pages linked by nextCursor',
    async (endpoint) => {
      const { operation, path } = endpoint;
      const { payments, requests } = clientOfSandbox(seededSandbox(), { maxRetries: 0 });
      const EnvelopeSchema = z.object({
        data: z.array(z.object({ id: z.string() })),
        hasMore: z.boolean(),
        nextCursor: z.nullable(z.string()),
      });
      const first = EnvelopeSchema.parse(await invoke(payments, operation, [{ limit: 1 }]));
      expect(first).toMatchObject({ data: [{ id: expect.any(String) }], hasMore: true });
      const query = { limit: 1, cursor: first.nextCursor };
      const second = EnvelopeSchema.parse(await invoke(payments, operation, [query]));
      expect(second).toMatchObject({ data: [{ id: expect.any(String) }], nextCursor: null });
      expect(second.data[0]?.id).not.toBe(first.data[0]?.id);
      const nextUrl = new URL(requests[1]?.url ?? '');
      expect(nextUrl.pathname).toBe(`/v0${path}`);
      expect(nextUrl.searchParams.get('cursor')).toBe(first.nextCursor);
      // The API reference requires the same limit on every page.
      expect(nextUrl.searchParams.get('limit')).toBe('1');
    },
  );
});

test('docs/test.md names every resource that has the method get()', () => {
  const guide = readFileSync(new URL('../../docs/test.md', import.meta.url), 'utf8');
  const created = endpoints
    .map(({ operation }) => operation.split('.'))
    .filter(([, verb]) => verb === 'get');
  expect(created.filter(([noun]) => !new RegExp(`[\` /]${noun}\``).test(guide))).toEqual([]);
});
