import * as z from 'zod/mini';
import type { Schema } from '../../schemas/primitives.ts';
import { problemReply, successReply, type Reply } from '../api/responses.ts';
import { readBody } from '../api/calls.ts';
import { decoded, wrongMethod } from '../api/routes.ts';
import type { SandboxLogEntry } from '../log.ts';
import type { SandboxFaultRule } from '../faults/rule.ts';
import { SandboxError, wordsOf } from '../platform/sandbox-error.ts';
import { longestAdvance } from '../platform/state.ts';
import { asInput, checked } from '../platform/validation.ts';
import type { Sandbox } from '../sandbox.ts';
import { seedDemo } from './demo.ts';

/** Where everything is that drives a sandbox from outside. */
export const controlPath = '/_sandbox/';

/** A request to an endpoint of control. */
export interface ControlRequest {
  method: string;
  url: URL;
  /** What arrived, whatever its content type. */
  body: string;
}

interface Control extends ControlRequest {
  sandbox: Sandbox;
  /** The `{id}` of the path; '' when there is none. */
  id: string;
}

interface Endpoint {
  readonly method: string;
  readonly pattern: RegExp;
  readonly status: number;
  readonly run: (control: Control) => unknown;
}

function endpoint(
  place: `${'GET' | 'POST' | 'PUT' | 'DELETE'} ${string}`,
  status: number,
  run: (control: Control) => unknown,
): Endpoint {
  const [method = '', path = ''] = place.split(' ');
  const pattern = new RegExp(`^${controlPath}${path.replace('{id}', '([^/]+)')}$`);
  return { method, pattern, status, run };
}

const asBody = asInput('The body is');

/** The JSON value that arrived. @throws SandboxError when it is not JSON, or none arrived. */
function valueOf({ body }: Control): unknown {
  const read = readBody(body);
  if (read === undefined) {
    throw new SandboxError('This takes a JSON body, and no body arrived.', {
      code: 'body_required',
      status: 400,
    });
  }
  if ('problem' in read) throw read.problem;
  return read.value;
}

const bodyOf = <T>(schema: () => Schema<T>, control: Control): T =>
  checked(schema(), valueOf(control), asBody);

const amountBody = () => z.strictObject({ amount: z.string('expected a decimal as a string') });
const msRule = `expected milliseconds, a whole number from 0 to ${longestAdvance}`;
const clockBody = () =>
  z.strictObject({
    advanceMs: z.int(msRule).check(z.gte(0, msRule), z.lte(longestAdvance, msRule)),
  });
const resetBody = () =>
  z.strictObject({ seed: z.optional(z.literal('demo', 'expected "demo", the one seed there is')) });

/** Adds a rule that came as JSON, and answers it as the list shows it. */
function addFault({ sandbox }: Control, rule: unknown): unknown {
  try {
    sandbox.faults.add(rule as SandboxFaultRule);
  } catch (cause) {
    throw new SandboxError(wordsOf(cause), { code: 'validation_failed', status: 422, cause });
  }
  return sandbox.faults.list().at(-1);
}

function reset(control: Control): void {
  const { sandbox } = control;
  const seed = control.body === '' ? undefined : bodyOf(resetBody, control).seed;
  sandbox.reset();
  if (seed === 'demo') seedDemo(sandbox);
}

/**
 * The entries of the log after the one whose id the query names, those that came to their end.
 * @throws SandboxError when the query names something else.
 */
export function logAfter(sandbox: Sandbox, after: string | null): SandboxLogEntry[] {
  if (after !== null && !/^\d{1,15}$/.test(after)) {
    throw new SandboxError('after: expected the id of an entry, a whole number.', {
      code: 'invalid_query',
      status: 400,
    });
  }
  const last = Number(after ?? 0);
  return sandbox.log
    .filter(({ id = 0 }) => id > last)
    .toSorted((one, other) => Number(one.id) - Number(other.id));
}

const endpoints: readonly Endpoint[] = [
  endpoint('POST transfers/{id}/advance', 200, ({ sandbox, id }) => sandbox.transfers.advance(id)),
  endpoint('POST transfers/{id}/fail', 200, ({ sandbox, id }) => sandbox.transfers.fail(id)),
  endpoint('POST transfers/{id}/cancel', 200, ({ sandbox, id }) => sandbox.transfers.cancel(id)),
  endpoint('POST accounts/{id}/fund', 200, (control) =>
    control.sandbox.accounts.fund(control.id, bodyOf(amountBody, control).amount),
  ),
  endpoint('POST entities/{id}/approve', 200, ({ sandbox, id }) => sandbox.entities.approve(id)),
  endpoint('POST counterparties', 201, (control) =>
    // Both check what they are given.
    control.sandbox.counterparties.create(valueOf(control) as never),
  ),
  endpoint('POST ibans', 201, (control) => control.sandbox.ibans.create(valueOf(control) as never)),
  endpoint('POST ibans/{id}/deposit', 200, (control) =>
    control.sandbox.ibans.deposit(control.id, bodyOf(amountBody, control).amount),
  ),
  endpoint('GET faults', 200, ({ sandbox }) => sandbox.faults.list()),
  endpoint('POST faults', 201, (control) => addFault(control, valueOf(control))),
  endpoint('DELETE faults', 204, ({ sandbox }) => {
    sandbox.faults.clear();
  }),
  endpoint('GET log', 200, ({ sandbox, url }) => logAfter(sandbox, url.searchParams.get('after'))),
  endpoint('GET state', 200, ({ sandbox }) => sandbox.exportState()),
  endpoint('PUT state', 204, (control) => {
    control.sandbox.importState(valueOf(control));
  }),
  endpoint('POST reset', 204, reset),
  endpoint('POST clock', 200, (control) => {
    control.sandbox.advanceClock(bodyOf(clockBody, control).advanceMs);
    return control.sandbox.time;
  }),
];

/** Does what a request to control asks for, and answers as the API does. */
export function drive(sandbox: Sandbox, request: ControlRequest): Reply {
  const { pathname } = request.url;
  const found = endpoints.filter(({ pattern }) => pattern.test(pathname));
  const one = found.find(({ method }) => method === request.method);
  try {
    if (found.length === 0) throw noEndpoint(pathname);
    if (one === undefined) return wrongMethod(request.method, found);
    const id = decoded(one.pattern.exec(pathname)?.[1] ?? '');
    sandbox.settle();
    const value = one.run({ ...request, sandbox, id });
    if (request.method !== 'GET') sandbox.changed();
    return successReply(one.status, value);
  } catch (problem) {
    if (problem instanceof SandboxError) return problemReply(problem);
    throw problem;
  }
}

const noEndpoint = (path: string) =>
  new SandboxError(
    `There is no ${path.slice(0, 200)}. Control is under ${controlPath}: transfers/{id}/advance, fail or cancel; accounts/{id}/fund; entities/{id}/approve; counterparties; ibans; ibans/{id}/deposit; faults; log; state; reset; clock.`,
    { code: 'not_found', status: 404 },
  );
