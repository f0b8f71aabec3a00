import * as z from 'zod/mini';
import type { SandboxFault, SandboxFaultRule } from './faults.ts';
import { wordsOf } from './problem.ts';
import { routes, type Route } from './routes.ts';
import { asInput, checked } from './validation.ts';

const operations = routes.map(({ operation }) => operation);
const moments = ['before_commit', 'after_commit'] as const;
const when = z.enum(moments, `expected one of ${moments.join(', ')}`);
const maybeWhen = z.optional(when);
const maybeText = z.optional(z.string('expected a string'));
const statusRule = 'expected a status from 200 to 599';
const status = z.int(statusRule).check(z.gte(200, statusRule), z.lte(599, statusRule));
const msRule = 'expected milliseconds, from 0 to 2147483647';

/** Statuses whose answers have no body. */
export const bodyless: readonly number[] = [204, 205, 304];

/** A count that may be Infinity, which zod's own numbers may not. */
const countOrInfinity = (least: number) =>
  z.custom<number>(
    (value) =>
      typeof value === 'number' &&
      value >= least &&
      (Number.isInteger(value) || value === Infinity),
    `expected a whole number, ${least} or more, or Infinity`,
  );

const headersRule = 'expected names and texts of headers';
const retryAfterRule = 'expected seconds, or the text of a header';
/** Whether a response can carry these: no line breaks, no characters beyond Latin-1. */
function areHeaders(headers: Record<string, string>): boolean {
  try {
    void new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

const faults = [
  z
    .strictObject({
      kind: z.literal('status'),
      status,
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
      code: maybeText,
      error: maybeText,
      when: maybeWhen,
    })
    .check(
      z.refine((fault) => fault.status >= 300 || fault.when !== 'before_commit', {
        path: ['when'],
        error: 'a status below 300 says that the call took effect, so it is after_commit',
      }),
    ),
  z.strictObject({
    kind: z.literal('delay'),
    ms: z.number(msRule).check(z.gte(0, msRule), z.lte(2_147_483_647, msRule)),
  }),
  z.strictObject({ kind: z.literal('hang'), when: maybeWhen }),
  z.strictObject({ kind: z.literal('reset'), when }),
  z.strictObject({
    kind: z.literal('html'),
    status: z.optional(
      status.check(
        z.refine(
          (value) => !bodyless.includes(value),
          `answers of status ${bodyless.join(', ')} have no page`,
        ),
      ),
    ),
    when: maybeWhen,
  }),
  z.strictObject({ kind: z.literal('truncated_body'), when: maybeWhen }),
  z.strictObject({ kind: z.literal('stalled_body'), when: maybeWhen }),
  z.strictObject({ kind: z.literal('repeated_cursor') }),
  z.strictObject({ kind: z.literal('empty_page') }),
] as const;

const FaultRuleSchema = z.strictObject({
  operation: z.enum([...operations, '*'], `expected "*" or one of ${operations.join(', ')}`),
  times: z.optional(countOrInfinity(1)),
  after: z.optional(countOrInfinity(0)),
  fault: z.discriminatedUnion(
    'kind',
    faults,
    `expected a fault whose kind is one of ${faults.map(({ shape }) => shape.kind.def.values[0]).join(', ')}`,
  ),
});

/** @throws TypeError for a rule that is malformed or could never apply. */
export function checkFaultRule(rule: SandboxFaultRule): void {
  try {
    checked(FaultRuleSchema, rule, asInput('The rule of sandbox.faults.add is'));
  } catch (cause) {
    throw new TypeError(wordsOf(cause), { cause });
  }
  const { operation, fault } = rule;
  const route = routes.find((candidate) => candidate.operation === operation);
  if (route !== undefined && !suits(fault, route)) {
    throw new TypeError(
      `The rule of sandbox.faults.add could never apply: ${operation} answers ${route.status === 204 ? 'no body' : 'no page with a cursor'}, so it has no place for ${fault.kind}.`,
    );
  }
}

/** Whether a fault can show in the answer of a route; `'*'` passes over those where it cannot. */
export function suits(fault: SandboxFault, route: Route | undefined): boolean {
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
