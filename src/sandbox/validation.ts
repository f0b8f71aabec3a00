import type * as z from 'zod/mini';
import { join } from '../schemas/issue-path.ts';
import { parseJson } from '../wires/json.ts';
import type { Schema } from '../schemas/primitives.ts';
import { SandboxError, wordsOf } from './problem.ts';

/** How a value that does not fit is reported. */
interface Report {
  /** What was checked, as the subject of a sentence. */
  what: string;
  code: string;
  status: number;
}

/** Reports a body, or the argument of a method of the sandbox. */
export const asInput = (what: string): Report => ({
  what,
  code: 'validation_failed',
  status: 422,
});
/** Reports query parameters. */
export const asQuery: Report = {
  what: 'The query parameters are',
  code: 'invalid_query',
  status: 400,
};

/**
 * The value as its schema wants it.
 * @throws SandboxError that names every field that does not fit, in its message and its details.
 */
export function checked<T>(schema: Schema<T>, value: unknown, report: Report): T {
  const result = schema.safeParse(value);
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

/** A body that arrived: its JSON value, or why it has none. */
export type Body = { value: unknown } | { problem: SandboxError };

/** The body behind a text; undefined when nothing arrived. */
export function readBody(text: string | undefined): Body | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return { value: parseJson(text) };
  } catch (cause) {
    const problem = { code: 'invalid_json', status: 400, cause };
    return { problem: new SandboxError(`The body is not JSON: ${wordsOf(cause)}`, problem) };
  }
}

/**
 * Query parameters as an object; a `limit` in digits becomes a number.
 * @throws SandboxError for a parameter that is given twice.
 */
export function readQuery(params: URLSearchParams): Record<string, string | number> {
  const entries = [...params];
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (seen.has(name))
      throw validationError({ [name]: 'expected once, got more than one' }, asQuery);
    seen.add(name);
  }
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      name === 'limit' && /^\d{1,9}$/.test(value) ? Number(value) : value,
    ]),
  );
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
