import type * as z from 'zod/mini';
import { join } from '../../internal/issues.ts';
import { withoutMessage } from '../../internal/objects.ts';
import type { Schema } from '../../schemas/primitives.ts';
import { SandboxError } from './sandbox-error.ts';

/** How the error for an invalid value begins, and its code and status. */
export interface Report {
  /** Start of the error's message: the checked value and a verb, such as "The body is". */
  what: string;
  code: string;
  status: number;
}

/** Reports an invalid body or argument with status 422. `what` starts the message. */
export const inputReport = (what: string): Report => ({
  what,
  code: 'validation_failed',
  status: 422,
});

/**
 * Checks a value by its schema, and returns the value as the schema converts it.
 * @throws SandboxError that names every invalid field, in its message and its details.
 */
export function parseInput<T>(schema: Schema<T>, value: unknown, report: Report): T {
  const result = schema.safeParse(value, withoutMessage);
  if (result.success) return result.data;
  // An imported state may have millions of invalid fields, and each message takes memory.
  throw validationError(collectFields(result.error.issues.slice(0, maxProblems), value), report);
}

/** The maximum of invalid fields that one error reports. */
export const maxProblems = 100;

/** Creates the error that reports invalid fields, from a message for the path of each field. */
export function validationError(fields: Record<string, string>, report: Report): SandboxError {
  const reported = Object.entries(fields).slice(0, maxProblems);
  const messages = reported.map(([field, message]) =>
    field === '' ? message : `${field}: ${message}`,
  );
  if (reported.length === maxProblems) messages.push('there may be more');
  return new SandboxError(`${report.what} not valid. ${messages.join('; ')}.`, {
    code: report.code,
    status: report.status,
    details: { fields: Object.fromEntries(reported) },
  });
}

/** Returns a message for the path of each invalid field, such as `metadata.owner`. */
function collectFields(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
): Record<string, string> {
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
