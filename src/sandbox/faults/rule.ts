import * as z from 'zod/mini';
import type { SandboxLogOperation } from '../api/operations.ts';
import { routes, type Route } from '../api/routes.ts';
import { maxTimerMs } from '../../internal/runtime.ts';
import { getMessage } from '../platform/sandbox-error.ts';
import { inputReport, parseInput } from '../platform/validation.ts';

/** Whether a fault applies before the call takes effect, or after. */
export type SandboxFaultMoment = 'before_commit' | 'after_commit';

/** A fault to simulate. */
export type SandboxFault =
  | {
      /** A response with another status. An error status comes with the documented error body. */
      kind: 'status';
      /** 200 to 599. Below 400, a call that took effect keeps its own body. */
      status: number;
      /** The Retry-After header: seconds, or a string that is sent unchanged. */
      retryAfter?: number | string | undefined;
      /** Further headers, such as the `location` of a redirect. */
      headers?: Record<string, string> | undefined;
      /** The `code` of the error body. @default 'injected_fault' */
      code?: string | undefined;
      /** The message of the error body. Default: a sentence that names the status. */
      error?: string | undefined;
      /** Default: `before_commit` for 300 and above, otherwise `after_commit`. */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /**
       * The call takes effect on arrival, and its response comes `ms` milliseconds later. A
       * delivery to the `webhookUrl` is sent that much later.
       */
      kind: 'delay';
      /** Milliseconds by the clock of the sandbox. Required, except for a webhook. @default 1000 */
      ms?: number | undefined;
    }
  | {
      /** No response at all; the caller has to give up. */
      kind: 'hang';
      /** Whether the call takes effect before the sandbox hangs. @default 'before_commit' */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /** The connection is reset. */
      kind: 'reset';
      /** Whether the call took effect first. */
      when: SandboxFaultMoment;
    }
  | {
      /** An HTML page instead of JSON, as proxies send them. */
      kind: 'html';
      /** 200 to 599. @default 502 */
      status?: number | undefined;
      /** Whether the call takes effect first. @default 'before_commit' */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /** The headers and half of the body, then the connection ends. */
      kind: 'truncated_body';
      /** Whether the call takes effect first. @default 'after_commit' */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /** The headers and half of the body, then nothing more. */
      kind: 'stalled_body';
      /** Whether the call takes effect first. @default 'after_commit' */
      when?: SandboxFaultMoment | undefined;
    }
  | {
      /**
       * A page whose `nextCursor` repeats the `cursor` of the request. A first page has no cursor
       * to repeat, so it does not use the fault up.
       */
      kind: 'repeated_cursor';
    }
  | {
      /** A page without items although `hasMore` is true. Its cursor leads to the items. */
      kind: 'empty_page';
    }
  | {
      /**
       * For the operation `webhook` only. A delivery is lost, sent twice, or sent after the next
       * one (or after a second, if no other follows).
       */
      kind: 'drop' | 'duplicate' | 'reorder';
    };

/** A fault and the requests it applies to. */
export interface SandboxFaultRule {
  /**
   * The operation, such as `'transfers.create'`. `'*'` affects every request, even to a path that
   * does not exist. `'webhook'` affects deliveries to the `webhookUrl`.
   */
  operation: SandboxLogOperation | '*';
  /**
   * How many requests are affected; `'always'` (or `Infinity`) for all. @default 1, or 'always' if `percent`
   * is set
   */
  times?: number | 'always' | undefined;
  /** How many matching requests to let through first. @default 0 */
  after?: number | undefined;
  /** How many of a hundred matching requests are affected, by chance. @default 100 */
  percent?: number | undefined;
  /** Seed of the random choice: the same whole number selects the same requests. @default 1 */
  seed?: number | undefined;
  /** The fault to simulate. */
  fault: SandboxFault;
}

const operations = [...routes.map(({ operation }) => operation), 'webhook'] as const;
const webhookKinds = ['drop', 'duplicate', 'reorder'] as const;
const moments = ['before_commit', 'after_commit'] as const;
const whenSchema = z.enum(moments, `expected one of ${moments.join(', ')}`);
const optionalWhen = z.optional(whenSchema);
const optionalString = z.optional(z.string('expected a string'));
const statusRule = 'expected a status from 200 to 599';
const statusSchema = z.int(statusRule).check(z.gte(200, statusRule), z.lte(599, statusRule));
const msRule = `expected milliseconds, from 0 to ${maxTimerMs}`;

/** Statuses of responses that have no body. */
export const bodylessStatuses: readonly number[] = [204, 205, 304];

/** A schema for a count that may be Infinity, because the number schemas of zod reject Infinity. */
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

const faultSchemas = [
  z
    .strictObject({
      kind: z.literal('status'),
      status: statusSchema,
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
      code: optionalString,
      error: optionalString,
      when: optionalWhen,
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
  z.strictObject({ kind: z.literal('hang'), when: optionalWhen }),
  z.strictObject({ kind: z.literal('reset'), when: whenSchema }),
  z.strictObject({
    kind: z.literal('html'),
    status: z.optional(
      statusSchema.check(
        z.refine(
          (value) => !bodylessStatuses.includes(value),
          `responses of status ${bodylessStatuses.join(', ')} have no page`,
        ),
      ),
    ),
    when: optionalWhen,
  }),
  z.strictObject({ kind: z.literal('truncated_body'), when: optionalWhen }),
  z.strictObject({ kind: z.literal('stalled_body'), when: optionalWhen }),
  z.strictObject({ kind: z.literal('repeated_cursor') }),
  z.strictObject({ kind: z.literal('empty_page') }),
  z.strictObject({ kind: z.literal('drop') }),
  z.strictObject({ kind: z.literal('duplicate') }),
  z.strictObject({ kind: z.literal('reorder') }),
] as const;

const FaultRuleSchema = z
  .strictObject({
    operation: z.enum([...operations, '*'], `expected "*" or one of ${operations.join(', ')}`),
    times: z.optional(
      z.union(
        [countOrInfinity(1), z.literal('always')],
        'expected a whole number, 1 or more, or "always"',
      ),
    ),
    after: z.optional(countOrInfinity(0)),
    percent: z.optional(z.number(percentRule).check(z.gt(0, percentRule), z.lte(100, percentRule))),
    seed: z.optional(z.int('expected a whole number')),
    fault: z.discriminatedUnion(
      'kind',
      faultSchemas,
      `expected a fault with one of the kinds ${faultSchemas.map(({ shape }) => shape.kind.def.values[0]).join(', ')}`,
    ),
  })
  .check(
    z.refine(
      ({ operation, fault }) =>
        fault.kind !== 'delay' || fault.ms !== undefined || operation === 'webhook',
      { path: ['fault', 'ms'], error: `this field is required; ${msRule}` },
    ),
  );

/** @throws TypeError for a rule that is malformed or could never apply. */
export function checkFaultRule(faultRule: SandboxFaultRule): void {
  try {
    parseInput(FaultRuleSchema, faultRule, inputReport('The rule of sandbox.faults.add is'));
  } catch (cause) {
    throw new TypeError(getMessage(cause), { cause });
  }
  const { operation, fault } = faultRule;
  const isWebhookKind = webhookKinds.some((kind) => kind === fault.kind);
  if (operation === 'webhook' ? !isWebhookKind && fault.kind !== 'delay' : isWebhookKind) {
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

/** Whether a fault can affect the response of a route; a rule for `'*'` skips the other routes. */
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
