import * as z from 'zod/mini';
import { join } from '../../internal/issues.ts';
import { withoutMessage } from '../../internal/objects.ts';
import type { Schema } from '../../schemas/primitives.ts';
import { SandboxError } from './sandbox-error.ts';

/** The start of an error's message: the checked value and a verb. */
export const queryReport = 'The query parameters are';

/** Creates a schema for one of these texts. */
export const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, `expected one of ${values.join(', ')}`);

/**
 * Checks a value by its schema, and returns the value as the schema converts it. `report` starts
 * the message, such as "The body is".
 * @throws SandboxError that names the invalid fields, in its message and its details.
 */
export function parseInput<T>(schema: Schema<T>, value: unknown, report: string): T {
  const result = schema.safeParse(value, withoutMessage);
  if (result.success) return result.data;
  // An imported state may have millions of invalid fields, and each message takes memory.
  throw validationError(collectFields(result.error.issues.slice(0, maxProblems), value), report);
}

/** The maximum of invalid fields that one error reports. */
export const maxProblems = 100;

/**
 * Creates the error that reports invalid fields, from a message for the path of each field: with
 * status 400 for a query, otherwise 422.
 */
export function validationError(fields: Record<string, string>, report: string): SandboxError {
  const reported = Object.entries(fields).slice(0, maxProblems);
  const messages = reported.map(([field, message]) =>
    field === '' ? message : `${field}: ${message}`,
  );
  if (reported.length === maxProblems) messages.push('there may be more');
  const isQuery = report === queryReport;
  return new SandboxError(`${report} not valid. ${messages.join('; ')}.`, {
    code: isQuery ? 'invalid_query' : 'validation_failed',
    status: isQuery ? 400 : 422,
    details: { fields: Object.fromEntries(reported) },
  });
}

/** Returns a message for the path of each invalid field, such as `metadata.owner`. */
function collectFields(issues: readonly z.core.$ZodIssue[], value: unknown) {
  const fields: [string, string][] = [];
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      // zod reports all unknown fields of an object as one issue at the object's path.
      for (const key of issue.keys) {
        fields.push([join('', [...issue.path, key]), 'this field is not known']);
      }
    } else {
      fields.push([join('', issue.path), describeIssue(issue, getValueAt(value, issue.path))]);
    }
  }
  return Object.fromEntries(fields);
}

function describeIssue(issue: z.core.$ZodIssue, value: unknown): string {
  // Most schemas have messages of their own. For any other schema, zod says only "Invalid input".
  const message =
    issue.code === 'invalid_type' && issue.message.startsWith('Invalid')
      ? `expected ${issue.expected === 'object' ? 'an object' : `a ${issue.expected}`}`
      : issue.message;
  return value === undefined && issue.code !== 'custom'
    ? `this field is required; ${message}`
    : message;
}

const getValueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key): unknown => Reflect.get(Object(at) as object, key), value);
