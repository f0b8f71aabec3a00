import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';
import { expect, onTestFinished, test } from 'vitest';
import { openApi } from '../../src/sandbox/openapi/openapi.ts';
import { createResponseCheck } from '../support/described.ts';
import { endpoints } from '../support/interface.ts';

// The description of the API: test/support/described.ts compares it with every response of a sandbox.

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
}
type PathItem = Readonly<Record<'get' | 'post' | 'patch' | 'delete', Operation | undefined>> & {
  readonly servers?: readonly { readonly url: string }[];
};

const document = await openApi();
const text = JSON.stringify(document);
const items = document.paths as unknown as Readonly<Record<string, PathItem>>;

test.each(endpoints)(
  'openapi.json describes $operation with its path, its server and its credential',
  (endpoint) => {
    const item = items[endpoint.path];
    const method = endpoint.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
    const { operationId, security, parameters = [], requestBody } = item?.[method] ?? {};
    expect({ operationId, security }).toEqual({
      operationId: endpoint.operation,
      security: [{ [endpoint.credential]: [] }],
    });
    const [server] = item?.servers ?? document.servers;
    expect(server?.url.endsWith('/v0')).toBe(endpoint.base === 'versioned');
    const names = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    expect(names.toSorted()).toEqual(endpoint.query.toSorted());
    const [name = ''] = /(?<=schemas\/)\w+/.exec(JSON.stringify(requestBody ?? {})) ?? [];
    const { components } = document as unknown as {
      components: { schemas: Record<string, { properties: object }> };
    };
    const fields = Object.keys(components.schemas[name]?.properties ?? {});
    expect(fields.toSorted()).toEqual(endpoint.body.toSorted());
  },
);

test('openapi.json describes exactly the documented operations', () => {
  expect(text.match(/"operationId":/g)).toHaveLength(endpoints.length);
});

test('the fields `x-gap` in openapi.json name every row of docs/gaps.md', () => {
  const gaps = readFileSync(new URL('../../docs/gaps.md', import.meta.url), 'utf8');
  const rows = [...gaps.matchAll(/^\| (\d+) +\|/gm)].map(([, row]) => Number(row));
  const marks = [...text.matchAll(/"x-gap":(?:(\d+)|\[([\d,]+)\])/g)];
  const named = new Set(marks.flatMap(([, row, list = row ?? '']) => list.split(',').map(Number)));
  expect(rows.length).toBeGreaterThan(60);
  expect([...named].toSorted((one, other) => one - other)).toEqual(rows);
});

const { components } = document as unknown as {
  components: { schemas: Record<string, { properties?: Record<string, object> }> };
};
const fields = Object.entries(components.schemas).flatMap(([type, { properties = {} }]) =>
  Object.entries(properties).map(([name, field]) => ({ name: `${type}.${name}`, field })),
);
test('every time in openapi.json has the format date-time', () => {
  const times = fields.filter(({ field }) => JSON.stringify(field).includes('ISO 8601'));
  expect(times.length).toBeGreaterThanOrEqual(10);
  expect(times.filter(({ field }) => !JSON.stringify(field).includes('date-time'))).toEqual([]);
});

test('every status in openapi.json names a gap', () => {
  const statuses = fields.filter(({ name }) => /status$/i.test(name));
  expect(statuses.length).toBeGreaterThan(8);
  // Every enum has row 33, so that row alone says nothing about a status.
  const rowsOf = (field: object) =>
    [Reflect.get(field, 'x-gap')].flat().filter((row) => row !== 33);
  expect(statuses.filter(({ field }) => rowsOf(field)[0] === undefined)).toEqual([]);
});

test('every query parameter in openapi.json names a gap', () => {
  const parameters = Object.values(items).flatMap((item) => item.get?.parameters ?? []);
  const inQueries = parameters.filter((each) => each.in === 'query');
  expect(inQueries.length).toBeGreaterThan(10);
  expect(inQueries.filter((each) => !('x-gap' in each))).toEqual([]);
});

test('Redocly finds no error and no warning in openapi.json', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, config });
  expect(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
  ).toEqual([]);
});

test('the OpenAPI schema’s validator finds no error in openapi.json', async () => {
  const { valid, errors } = await new Validator().validate(
    JSON.parse(text) as Record<string, unknown>,
  );
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
});

test('createResponseCheck finds a response that openapi.json does not describe', async () => {
  const findViolation = await createResponseCheck();
  const received = { operation: 'transfers.create', status: 201 } as const;
  const transfer = {
    id: 'txfr_1',
    status: 'pending',
    type: 'wire',
    createdAt: '2026-01-01T00:00:00Z',
  };
  const check = (body: object, status: number = received.status) =>
    findViolation({ ...received, status, body: JSON.stringify(body) });
  expect(check(transfer)).toBeUndefined();
  expect(check({ ...transfer, later: 1 })).toBeUndefined();
  expect(check({ ...transfer, id: 'acc_1' })).toContain('pattern "^txfr_"');
  expect(check({ ...transfer, createdAt: 'today' })).toContain('date-time');
  expect(check({ ...transfer, type: undefined })).toContain("'type'");
  expect(check(transfer, 202)).toContain('status 202');
  expect(check({ error: 'no' }, 418)).toContain("'code'");
});

async function serve(): Promise<string> {
  const server = await listen(new Sandbox());
  onTestFinished(() => server.close());
  return server.rootUrl;
}

test('the sandbox server serves openapi.json with its URLs, without a key', async () => {
  const root = await serve();
  const response = await fetch(`${root}/openapi.json`);
  const served = (await response.json()) as typeof document;
  expect(served.servers).toEqual([{ url: `${root}/v0` }]);
  expect(served.paths['/transactions']?.['servers']).toEqual([{ url: root }]);
  expect(served.paths['/transfers']).toEqual(document.paths['/transfers']);
  expect((await fetch(`${root}/openapi.json`, { method: 'HEAD' })).status).toBe(200);
});

test('the sandbox server lets pages on other local ports read openapi.json', async () => {
  const root = await serve();
  const origin = 'http://localhost:8080';
  const { headers } = await fetch(`${root}/openapi.json`, { headers: { origin } });
  expect(headers.get('access-control-allow-origin')).toBe(origin);
});

test.each([
  ['GET', '/v0/transfer', 'GET /v0/transfers'],
  ['POST', '/v0/transfer', 'POST /v0/transfers'],
  ['GET', '/v0/account/acc_000001', 'GET /v0/accounts/{id}'],
  ['GET', '/transfers', 'GET /v0/transfers'],
  ['PATCH', '/v0/settings', 'PATCH /v0/platform/settings'],
  ['GET', '/v0/settings', 'PATCH /v0/platform/settings'],
  ['GET', '/instructions', 'GET /instructions/all'],
])(
  'the error for %s %s names the nearest endpoint, %s, and openapi.json',
  async (method, path, nearest) => {
    const response = await fetch(`${await serve()}${path}`, { method });
    const { error, code } = (await response.json()) as { error: string; code: string };
    expect([response.status, code]).toEqual([404, 'not_found']);
    expect(error).toContain(`The nearest one is ${nearest}.`);
    expect(error).toContain('/openapi.json');
  },
);
