import type * as z from 'zod/mini';
import { join } from '../../internal/issues.ts';
import { withoutMessage } from '../../internal/zod-message.ts';
import type { Schema } from '../../schemas/primitives.ts';
import { SandboxError } from './problem.ts';

/** How a value that does not fit is reported. */
export interface Report {
  /** What was checked, as the subject of a sentence. */
  what: string;
  code: string;
  status: number;
}

/** Reports a body, or the argument of a method of the sandbox. */
export const asInput = (what: string): Report => ({ what, code: 'validation_failed', status: 422 });

/**
 * The value as its schema wants it.
 * @throws SandboxError that names every field that does not fit, in its message and its details.
 */
export function checked<T>(schema: Schema<T>, value: unknown, report: Report): T {
  const result = schema.safeParse(value, withoutMessage);
  if (result.success) return result.data;
  throw validationError(fieldsOf(result.error.issues, value), report);
}

/** The error for fields that do not fit: their paths, each with a sentence. */
export function validationError(fields: Record<string, string>, report: Report): SandboxError {
  const sentences = Object.entries(fields).map(([field, rule]) =>
    field === '' ? rule : `${field}: ${rule}`,
  );
  return new SandboxError(`${report.what} not valid. ${sentences.join('; ')}.`, {
    code: report.code,
    status: report.status,
    details: { fields },
  });
}

function fieldsOf(issues: readonly z.core.$ZodIssue[], value: unknown): Record<string, string> {
  const fields: [string, string][] = [];
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        fields.push([join('', [...issue.path, key]), 'this field is not known']);
      }
    } else {
      fields.push([join('', issue.path), sentence(issue, valueAt(value, issue.path))]);
    }
  }
  return Object.fromEntries(fields);
}

function sentence(issue: z.core.$ZodIssue, value: unknown): string {
  // The schemas word their own rules; what they leave to zod would read "Invalid input".
  const rule =
    issue.code === 'invalid_type' && issue.message.startsWith('Invalid')
      ? `expected ${issue.expected === 'object' ? 'an object' : `a ${issue.expected}`}`
      : issue.message;
  return value === undefined && issue.code !== 'custom' ? `this field is required; ${rule}` : rule;
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key): unknown => Reflect.get(Object(at) as object, key), value);
