import { fieldOf, isError } from '../internal/thrown.ts';

/** Copies name, message and code of an error's cause for JSON. Other fields may be private. */
export function causeInJson(cause: unknown): unknown {
  if (!isError(cause)) return typeof cause === 'object' ? undefined : cause;
  const fields = ['name', 'message', 'code'].map((name) => [name, fieldOf(cause, name)] as const);
  return Object.fromEntries(fields.filter(([, field]) => typeof field === 'string'));
}

/** A value that JSON can hold. */
export type JsonValue =
  string | number | boolean | null | { readonly [name: string]: JsonValue } | readonly JsonValue[];

/** Converts a field of an error for a log; undefined if JSON cannot hold the field. */
export function toPlainData(fact: unknown): JsonValue | undefined {
  try {
    const text = JSON.stringify(fact, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

/** The types of an error's fields. A serialised field of another type is not restored. */
const factTypes: Readonly<Record<string, string>> = {
  operation: 'string',
  method: 'string',
  path: 'string',
  startedAt: 'string',
  idempotencyKey: 'string',
  reference: 'string',
  retryable: 'boolean',
  retryAfterMs: 'number',
  retryAt: 'number',
  stack: 'string',
};

/** Returns the fields of a serialised error that do not replace a member such as `toJSON`. */
export function factsOf(value: unknown, prototype: object): Record<string, unknown> {
  const entries = Object.entries(Object(value) as Record<string, unknown>);
  return Object.fromEntries(
    entries.filter(
      ([key, fact]) => !(key in prototype) && (factTypes[key] ?? typeof fact) === typeof fact,
    ),
  );
}

/** Restores the cause of an error from what {@link causeInJson} returned. */
export function restoreCause(cause: unknown): unknown {
  const message = fieldOf(cause, 'message');
  if (isError(cause) || typeof message !== 'string') return cause;
  const { name, ...facts } = cause as { readonly name?: unknown };
  const named = typeof name === 'string' ? { name } : {};
  return Object.assign(new Error(message), factsOf(facts, Error.prototype), named);
}
