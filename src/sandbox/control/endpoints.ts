import * as z from 'zod/mini';
import { lazy } from '../../internal/objects.ts';
import { isError } from '../../internal/thrown.ts';
import type { Schema } from '../../schemas/primitives.ts';
import { errorReply, successReply, type Reply } from '../api/responses.ts';
import { readBody } from '../api/calls.ts';
import { decodeSegment, createWrongMethodReply } from '../api/routes.ts';
import type { SandboxFaultRule } from '../faults/rule.ts';
import { nouns } from '../platform/ids.ts';
import { SandboxError, getMessage } from '../platform/sandbox-error.ts';
import { maxClockAdvanceMs } from '../platform/state.ts';
import { parseInput } from '../platform/validation.ts';
import type { Sandbox } from '../sandbox.ts';
import { version } from '../../version.ts';
import { seedDemo } from './demo.ts';

/** How the paths of the control endpoints begin, such as /_sandbox/reset. */
export const controlPath = '/_sandbox/';

export interface ControlRequest {
  method: string;
  url: URL;
  /** The text of the request body. The content type of the request does not matter. */
  body: string;
}

interface Control extends ControlRequest {
  sandbox: Sandbox;
  id: string;
}

function endpoint(
  methodAndPath: `${'GET' | 'POST' | 'PUT' | 'DELETE'} ${string}`,
  status: number,
  run: (control: Control) => unknown,
) {
  const [method = '', path = ''] = methodAndPath.split(' ');
  const pattern = new RegExp(`^${controlPath}${path.replace('{id}', '([^/]+)')}$`);
  return { method, pattern, status, run };
}

/**
 * Parses the body of a request to a control endpoint.
 * @throws SandboxError when the body is not JSON, or is missing.
 */
function readJsonBody({ body }: Control): unknown {
  const jsonBody = readBody(body);
  if (jsonBody === undefined) {
    throw new SandboxError('This takes a JSON body, and no body arrived.', {
      code: 'body_required',
      status: 400,
    });
  }
  if ('problem' in jsonBody) throw jsonBody.problem;
  return jsonBody.value;
}

const parseBody = <T>(schema: () => Schema<T>, control: Control): T =>
  parseInput(schema(), readJsonBody(control), 'The body is');

const amountBodySchema = lazy(() =>
  z.strictObject({ amount: z.string('expected a decimal as a string') }),
);
const msRule = `expected milliseconds, a whole number from 0 to ${maxClockAdvanceMs}`;
const clockBodySchema = lazy(() =>
  z.strictObject({
    advanceMs: z.int(msRule).check(z.gte(0, msRule), z.lte(maxClockAdvanceMs, msRule)),
  }),
);
const resetRule = 'expected "demo", or "start" for what it started with';
const resetBodySchema = lazy(() =>
  z.strictObject({ seed: z.optional(z.enum(['demo', 'start'], resetRule)) }),
);

/** Adds a fault rule from a request body. Returns the rule as `GET /_sandbox/faults` lists it. */
function addFault({ sandbox }: Control, faultRule: unknown): unknown {
  try {
    sandbox.faults.add(faultRule as SandboxFaultRule);
  } catch (cause) {
    const problem = isError(cause) ? cause.cause : undefined;
    const details = problem instanceof SandboxError ? (problem.details ?? undefined) : undefined;
    const code = 'validation_failed';
    throw new SandboxError(getMessage(cause), { code, status: 422, details, cause });
  }
  return sandbox.faults.list().at(-1);
}

function reset(control: Control): void {
  const { sandbox } = control;
  const seed = control.body === '' ? undefined : parseBody(resetBodySchema, control).seed;
  if (seed === 'start') {
    sandbox.restoreStart();
    return;
  }
  sandbox.reset();
  if (seed === 'demo') seedDemo(sandbox);
}

interface FeedItem {
  readonly id: number | undefined;
}

/** Items with ids, such as log entries, which callers can read as a list or follow as a stream. */
export interface Feed {
  list(sandbox: Sandbox): readonly FeedItem[];
  listen(sandbox: Sandbox, listener: (item: FeedItem) => void): () => void;
}

export const feeds: Readonly<Record<string, Feed>> = {
  log: {
    list: (sandbox) => sandbox.log,
    listen: (sandbox, listener) => sandbox.onLog(listener),
  },
  changes: {
    list: (sandbox) => sandbox.listChanges(),
    listen: (sandbox, listener) => sandbox.onChange(listener),
  },
};

/**
 * Returns the log entries or changes with an id above the query parameter `after`, but only the
 * last `latest` of them. Requests that are still running have no id and are left out.
 * @throws SandboxError when `after` or `latest` is not a whole number.
 */
export function readFeed(feed: Feed, sandbox: Sandbox, query: URLSearchParams): FeedItem[] {
  const readNumber = (name: string): number | undefined => {
    const value = query.get(name);
    if (value === null) return undefined;
    if (/^\d{1,15}$/.test(value)) return Number(value);
    throw new SandboxError(`${name}: expected a whole number.`, {
      code: 'invalid_query',
      status: 400,
    });
  };
  const after = readNumber('after') ?? 0;
  const latest = readNumber('latest') ?? Infinity;
  const items = feed.list(sandbox).filter(({ id = 0 }) => id > after);
  // The log lists requests as they arrived, but an entry gets its id when its request ends. The
  // minimum of 1 is needed because `slice(-0)` returns every item.
  return items
    .toSorted((first, other) => Number(first.id) - Number(other.id))
    .slice(-Math.max(1, latest));
}

const endpoints = [
  ...(['advance', 'fail', 'cancel'] as const).map((verb) =>
    endpoint(`POST transfers/{id}/${verb}`, 200, ({ sandbox, id }) => sandbox.transfers[verb](id)),
  ),
  endpoint('POST accounts/{id}/fund', 200, (control) =>
    control.sandbox.accounts.fund(control.id, parseBody(amountBodySchema, control).amount),
  ),
  endpoint('POST entities/{id}/approve', 200, ({ sandbox, id }) => sandbox.entities.approve(id)),
  ...nouns.map((noun) =>
    endpoint(`POST ${noun}`, 201, (control) =>
      // The `create` method of each noun validates its input, so the body may be any JSON value.
      control.sandbox[noun].create(readJsonBody(control) as never),
    ),
  ),
  endpoint('POST ibans/{id}/deposit', 200, (control) =>
    control.sandbox.ibans.deposit(control.id, parseBody(amountBodySchema, control).amount),
  ),
  endpoint('GET faults', 200, ({ sandbox }) => sandbox.faults.list()),
  endpoint('POST faults', 201, (control) => addFault(control, readJsonBody(control))),
  endpoint('DELETE faults', 204, ({ sandbox }) => {
    sandbox.faults.clear();
  }),
  ...Object.entries(feeds).map(([name, feed]) =>
    endpoint(`GET ${name}`, 200, ({ sandbox, url }) => readFeed(feed, sandbox, url.searchParams)),
  ),
  endpoint('GET health', 200, () => ({ ok: true, version })),
  endpoint('GET state', 200, ({ sandbox }) => sandbox.exportState()),
  endpoint('PUT state', 204, (control) => {
    control.sandbox.importState(readJsonBody(control));
  }),
  endpoint('POST reset', 204, reset),
  endpoint('POST clock', 200, (control) => {
    control.sandbox.advanceClock(parseBody(clockBodySchema, control).advanceMs);
    return control.sandbox.time;
  }),
];

/** Handles a request to a control endpoint. Responses have the same form as those of the API. */
export function handleControl(sandbox: Sandbox, request: ControlRequest): Reply {
  const { pathname } = request.url;
  const matchingEndpoints = endpoints.filter(({ pattern }) => pattern.test(pathname));
  const matchingEndpoint = matchingEndpoints.find(({ method }) => method === request.method);
  try {
    if (matchingEndpoints.length === 0) throw createNotFoundError(pathname);
    if (matchingEndpoint === undefined)
      return createWrongMethodReply(request.method, matchingEndpoints);
    const id = decodeSegment(matchingEndpoint.pattern.exec(pathname)?.[1] ?? '');
    sandbox.runDueSteps();
    const value = matchingEndpoint.run({ ...request, sandbox, id });
    if (request.method !== 'GET') sandbox.notifyChange();
    return successReply(matchingEndpoint.status, value);
  } catch (problem) {
    if (problem instanceof SandboxError) return errorReply(problem);
    throw problem;
  }
}

const createNotFoundError = (path: string) =>
  new SandboxError(
    `There is no ${path.slice(0, 200)}. Control is under ${controlPath}: transfers/{id}/advance, fail or cancel; accounts/{id}/fund; entities/{id}/approve; ${nouns.join(', ')}; ibans/{id}/deposit; faults; log; changes; state; reset; clock; health.`,
    { code: 'not_found', status: 404 },
  );
