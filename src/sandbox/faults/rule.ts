import * as z from 'zod/mini';
import type { SandboxLogOperation } from '../api/operations.ts';
import { routes, type Route } from '../api/routes.ts';
import { bodylessStatuses } from '../../internal/http.ts';
import { lazy } from '../../internal/objects.ts';
import { maxTimerMs } from '../../internal/runtime.ts';
import { getMessage } from '../platform/sandbox-error.ts';
import { oneOf, parseInput } from '../platform/validation.ts';

/** Whether a fault happens before or after the call takes effect. */
type SandboxFaultMoment = 'before_commit' | 'after_commit';

/** A fault that a sandbox simulates, such as an error status or a broken connection. */
export type SandboxFault =
  | {
      /** The caller gets another status. An error status comes with the documented error body. */
      kind: 'status';
      /** The status that the caller gets, 200 to 599. Below 400, the usual response body stays. */
      status: number;
      /** The value of the Retry-After header: seconds, or a string that is sent unchanged. */
      retryAfter?: number | string | undefined;
      /** Further headers of the response, such as the `location` of a redirect. */
      headers?: Record<string, string> | undefined;
      /** The `code` of the error body. @default 'injected_fault' */
      code?: string | undefined;
      /** The message of the error body. Default: a sentence that names the status. */
      error?: string | undefined;
      /**
       * Whether the call takes effect although the caller gets this status. Default:
       * `before_commit` (no effect) for a status of 300 and above, otherwise `after_commit`.
       */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /**
       * The call takes effect on arrival, and its response comes `ms` milliseconds later. A
       * delivery to the `webhookUrl` is sent `ms` milliseconds late.
       */
      kind: 'delay';
      /** Milliseconds by the sandbox's clock. Required except for webhooks. @default 1000 */
      ms?: number | undefined;
    }
  | {
      /** The sandbox never responds, so the caller has to give up. */
      kind: 'hang';
      /** Whether the call takes effect before the sandbox hangs. @default 'before_commit' */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /** The connection breaks before any response. */
      kind: 'reset';
      /** Whether the call takes effect before the connection breaks. */
      when: SandboxFaultMoment;
    }
  | {
      /** The sandbox responds with an HTML page instead of JSON, as a proxy does. */
      kind: 'html';
      /** The status of the HTML page, 200 to 599. @default 502 */
      status?: number | undefined;
      /** Whether the call takes effect before the HTML page is sent. @default 'before_commit' */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /** The caller gets the headers and half of the body, then the connection ends. */
      kind: 'truncated_body';
      /** Whether the call takes effect before the response breaks off. @default 'after_commit' */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /** The caller gets the headers and half of the body, then nothing on an open connection. */
      kind: 'stalled_body';
      /** Whether the call takes effect before the response stalls. @default 'after_commit' */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /**
       * A list returns a page whose `nextCursor` repeats the `cursor` of the request. The request
       * for a first page has no cursor, so that request does not use up the fault.
       */
      kind: 'repeated_cursor';
    }
  | {
      /** A list returns a page without items, but with `hasMore` true and a cursor to the items. */
      kind: 'empty_page';
    }
  | {
      /**
       * For the operation `webhook` only. `drop`: the delivery is lost. `duplicate`: the delivery
       * is sent twice. `reorder`: the delivery is sent after the next one, or after a second if no
       * other follows.
       */
      kind: 'drop' | 'duplicate' | 'reorder';
    };

/** A fault that a sandbox simulates, and the requests that get the fault. */
export interface SandboxFaultRule {
  /**
   * The operation whose requests get the fault, such as `'transfers.create'`. `'*'` is any request
   * that the fault can change, even to a path that does not exist; `'webhook'` is a delivery to the
   * `webhookUrl`.
   */
  operation: SandboxLogOperation | '*';
  /**
   * How many matching requests get the fault; `'always'` (or `Infinity`) for all of them.
   * @default 1, or 'always' if `percent` is set
   */
  times?: number | 'always' | undefined;
  /** How many matching requests pass before the first gets the fault. @default 0 */
  after?: number | undefined;
  /** Percentage of the matching requests that get the fault, chosen at random. @default 100 */
  percent?: number | undefined;
  /** Seed of the random choice by `percent`. The same seed selects the same requests. @default 1 */
  seed?: number | undefined;
  /** The fault that the sandbox simulates. */
  fault: SandboxFault;
}

const operations = [...routes.map(({ operation }) => operation), 'webhook'] as const;
const webhookKinds = ['drop', 'duplicate', 'reorder'] as const;
const moments = ['before_commit', 'after_commit'] as const;
const optionalString = () => z.optional(z.string('expected a string'));
const optionalWhen = () => z.optional(oneOf(moments));
const statusRule = 'expected a status from 200 to 599';
const status = () => z.int(statusRule).check(z.gte(200, statusRule), z.lte(599, statusRule));
const msRule = `expected milliseconds, from 0 to ${maxTimerMs}`;

/** Creates a schema for a whole number or Infinity, because the number schemas of zod reject Infinity. */
const countOrInfinity = (least: number) =>
  z.custom<number>(
    (value) =>
      typeof value === 'number' &&
      value >= least &&
      (Number.isInteger(value) || value === Infinity),
    `expected a whole number, ${least} or more, or Infinity`,
  );

const percentRule = 'expected a number above 0, up to 100';

const headersRule = 'expected names and values of headers';
const retryAfterRule = 'expected seconds, or the value of a header';
/** Whether a response can carry these headers: no line breaks, no characters beyond Latin-1. */
function areHeaders(headers: Record<string, string>): boolean {
  try {
    void new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

const createFaultSchemas = () =>
  [
    z
      .strictObject({
        kind: z.literal('status'),
        status: status(),
        retryAfter: z.optional(
          z
            .union([z.number(), z.string()], retryAfterRule)
            .check(z.refine((value) => areHeaders({ value: String(value) }), retryAfterRule)),
        ),
        headers: z.optional(
          z
            .record(z.string(), z.string(), headersRule)
            .check(z.refine((headers) => areHeaders(headers), headersRule)),
        ),
        code: optionalString(),
        error: optionalString(),
        when: optionalWhen(),
      })
      .check(
        z.refine((fault) => fault.status >= 300 || fault.when !== 'before_commit', {
          path: ['when'],
          error: 'a status below 300 means that the call took effect, so it is after_commit',
        }),
      ),
    z.strictObject({
      kind: z.literal('delay'),
      ms: z.optional(z.number(msRule).check(z.gte(0, msRule), z.lte(maxTimerMs, msRule))),
    }),
    z.strictObject({ kind: z.literal('hang'), when: optionalWhen() }),
    z.strictObject({ kind: z.literal('reset'), when: oneOf(moments) }),
    z.strictObject({
      kind: z.literal('html'),
      status: z.optional(
        status().check(
          z.refine(
            (value) => !bodylessStatuses.has(value),
            `responses of status ${[...bodylessStatuses].join(', ')} have no page`,
          ),
        ),
      ),
      when: optionalWhen(),
    }),
    z.strictObject({ kind: z.literal('truncated_body'), when: optionalWhen() }),
    z.strictObject({ kind: z.literal('stalled_body'), when: optionalWhen() }),
    z.strictObject({
      kind: z.literal(['repeated_cursor', 'empty_page', 'drop', 'duplicate', 'reorder']),
    }),
  ] as const;

const faultRuleSchema = lazy(() => {
  const faultSchemas = createFaultSchemas();
  return z
    .strictObject({
      operation: z.enum([...operations, '*'], `expected "*" or one of ${operations.join(', ')}`),
      times: z.optional(
        z.union(
          [countOrInfinity(1), z.literal('always')],
          'expected a whole number, 1 or more, or "always"',
        ),
      ),
      after: z.optional(countOrInfinity(0)),
      percent: z.optional(
        z.number(percentRule).check(z.gt(0, percentRule), z.lte(100, percentRule)),
      ),
      seed: z.optional(z.int('expected a whole number')),
      fault: z.discriminatedUnion(
        'kind',
        faultSchemas,
        `expected a fault with one of the kinds ${faultSchemas.flatMap(({ shape }) => shape.kind.def.values).join(', ')}`,
      ),
    })
    .check(
      z.refine(
        ({ operation, fault }) =>
          fault.kind !== 'delay' || fault.ms !== undefined || operation === 'webhook',
        { path: ['fault', 'ms'], error: `this field is required; ${msRule}` },
      ),
    );
});

/**
 * Checks a fault rule before it is added.
 * @throws TypeError if the rule is malformed or could never apply.
 */
export function checkFaultRule(faultRule: SandboxFaultRule): void {
  try {
    parseInput(faultRuleSchema(), faultRule, 'The rule of sandbox.faults.add is');
  } catch (cause) {
    throw new TypeError(getMessage(cause), { cause });
  }
  const { operation, fault } = faultRule;
  const isOnlyForWebhooks = webhookKinds.some((kind) => kind === fault.kind);
  const isPossible =
    operation === 'webhook' ? isOnlyForWebhooks || fault.kind === 'delay' : !isOnlyForWebhooks;
  if (!isPossible) {
    throw new TypeError(
      `The rule of sandbox.faults.add could never apply: ${fault.kind} does not affect ${operation}. A webhook has ${webhookKinds.join(', ')} and delay, and no other operation has the first three.`,
    );
  }
  const route = routes.find((candidate) => candidate.operation === operation);
  if (route !== undefined && !canApply(fault, route)) {
    throw new TypeError(
      `The rule of sandbox.faults.add could never apply: ${operation} responds with ${route.status === 204 ? 'no body' : 'no page with a cursor'}, so ${fault.kind} cannot affect it.`,
    );
  }
}

/** Whether a fault can affect an operation's response. A rule for `'*'` skips other operations. */
export function canApply(fault: SandboxFault, route: Route | undefined): boolean {
  switch (fault.kind) {
    case 'repeated_cursor':
    case 'empty_page':
      return route?.paged === true;
    case 'truncated_body':
    case 'stalled_body':
      return route?.status !== 204;
    default:
      return true;
  }
}
