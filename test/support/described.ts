import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { afterAll, expect } from 'vitest';
import { operationPaths, type SandboxOperation } from '../../src/sandbox/api/operations.ts';
import type { SandboxReply } from '../../src/sandbox/api/responses.ts';
import { openApi } from '../../src/sandbox/openapi/openapi.ts';

// The responses of every sandbox of a file, checked against openapi.json when the file ends.

interface Received {
  readonly operation: SandboxOperation;
  readonly status: number;
  readonly body: string | null;
}

/** An object of openapi.json, with its references followed. */
type Node = Readonly<Record<string, unknown>>;

const pointerOf = (...keys: readonly string[]): string =>
  keys
    .map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');

/** Makes a function that returns how a response differs from openapi.json, or undefined. */
export async function createResponseCheck(): Promise<(received: Received) => string | undefined> {
  const document: Node = { ...(await openApi()) };
  const ajv = new Ajv2020({
    strict: false,
    formats: {
      'date-time': (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text),
      email: /@/,
      uri: (text: string) => URL.canParse(text),
    },
  });
  ajv.addSchema(document, 'openapi.json');
  const validators = new Map<string, ValidateFunction>();
  const getAt = (node: Node, ...keys: readonly string[]): Node => {
    const value = keys.reduce<unknown>(
      (at, key): unknown => Reflect.get(Object(at) as object, key),
      node,
    );
    const reference = (value as Node | undefined)?.['$ref'];
    return typeof reference === 'string'
      ? getAt(document, ...reference.split('/').slice(1))
      : ((value ?? {}) as Node);
  };
  return ({ operation, status, body }) => {
    const [method = '', path = ''] = operationPaths[operation].split(' ');
    const described = ['paths', path.replace(/^\/v0/, ''), method.toLowerCase(), 'responses'];
    const isNamed = getAt(document, ...described, String(status))['description'] !== undefined;
    const response = getAt(document, ...described, isNamed ? String(status) : 'default');
    if (!isNamed && status < 400) return `${operation}: status ${status} is not described`;
    const schema = getAt(response, 'content', 'application/json')['schema'] as { $ref?: string };
    if (schema?.$ref === undefined) return body === null ? undefined : `${operation}: has a body`;
    const name = schema.$ref.split('/').at(-1) ?? '';
    const reference = `openapi.json#${pointerOf('components', 'schemas', name)}`;
    const validate = validators.get(name) ?? ajv.compile({ $ref: reference });
    validators.set(name, validate);
    if (validate(JSON.parse(body ?? 'null'))) return undefined;
    return `${operation} ${status}: ${ajv.errorsText(validate.errors)} in ${body}`;
  };
}

const received: Received[] = [];
let check: Promise<(response: Received) => string | undefined> | undefined;

function record(sandbox: Sandbox, reply: SandboxReply): void {
  if (!('status' in reply) || reply.kind !== 'complete') return;
  const entry = sandbox.log.findLast(
    ({ requestId }) => requestId === reply.headers['x-request-id'],
  );
  if (entry?.operation === undefined || entry.operation === 'webhook') return;
  if (entry.fault !== undefined) return;
  received.push({ operation: entry.operation, status: reply.status, body: reply.body });
}

/** Checks the responses of all sandboxes from now on. */
export function checkDescribedResponses(): void {
  const { handle } = Sandbox.prototype;
  Sandbox.prototype.handle = async function handleAndRecord(request) {
    const reply = await handle.call(this, request);
    record(this, reply);
    return reply;
  };
  afterAll(async () => {
    Sandbox.prototype.handle = handle;
    const responses = received.splice(0);
    if (responses.length === 0) return;
    const findViolation = await (check ??= createResponseCheck());
    const violations = responses.map(findViolation).filter((each) => each !== undefined);
    expect([...new Set(violations)]).toEqual([]);
  });
}
