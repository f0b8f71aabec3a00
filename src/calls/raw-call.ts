import type { Problem } from '../internal/issues.ts';
import { isPlainObject } from '../internal/objects.ts';
import { argument, type Validator } from './arguments.ts';
import type { Call } from './call.ts';
import type { Kind } from '../errors/outcome.ts';
import type { Redact } from '../errors/redact.ts';
import { type QueryValue, fields, checkBy, optionalCheck, type OptionChecks } from './options.ts';
import type { SchemaResult } from '../schemas/schema.ts';

/**
 * A schema that checks a response, from zod, valibot, arktype or another library that follows
 * Standard Schema. The schema must be synchronous.
 */
export interface ResponseSchema<T> {
  /** The Standard Schema interface, which your schema library provides. */
  readonly '~standard': {
    /** The version of Standard Schema. */
    readonly version: 1;
    /** The name of the schema library. */
    readonly vendor: string;
    /** Checks a value and returns the parsed value, or what is wrong. */
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>;
    /** The types of the schema, for the compiler only. */
    readonly types?:
      | {
          /** The type of the values that the schema accepts. */
          readonly input: unknown;
          /** The type of the values that the schema returns. */
          readonly output: T;
        }
      | undefined;
  };
}

/** A request to an endpoint for which the SDK has no method. */
export interface AnyRequest<T = unknown> {
  /** The SDK retries GET like a read, PUT, PATCH, DELETE like an update, POST like a creation. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the base URL, percent-encoded, without a query: `/transfers/txfr_1`. */
  path: string;
  /** Which API: `versioned` at `baseUrl` with the API key, or `root` at `rootUrl` with the JWT. */
  api: 'versioned' | 'root';
  /** The query parameters of the request. */
  query?: Readonly<Record<string, QueryValue>> | undefined;
  /** The body of the request, which the SDK sends as JSON. A GET may have a body, too. */
  body?: unknown;
  /**
   * Checks and types the response, whose type is `unknown` without a schema. If the response does
   * not match, a read throws InvalidResponseError, and a write returns the response and calls
   * `hooks.onDrift`.
   */
  schema?: ResponseSchema<T> | undefined;
}

const kinds: Readonly<Record<string, Kind>> = {
  GET: 'safe',
  PUT: 'idempotent',
  PATCH: 'idempotent',
  DELETE: 'idempotent',
  POST: 'once',
};

const isMethod = (value: unknown): value is AnyRequest['method'] =>
  typeof value === 'string' && Object.hasOwn(kinds, value);

/** Converts the caller's request to a call. The call checks the request when it runs. */
export function createRequestCall<T>(request: AnyRequest<T>, redact: Redact): Call<T> {
  const { method, path, query, body, schema } = request ?? {};
  return {
    operation: 'request',
    kind: kinds[method] ?? 'once',
    // An invalid method becomes GET here, but `requestChecks` rejects it before anything is sent.
    method: isMethod(method) ? method : 'GET',
    path: {
      // Errors and hooks show the path as the caller passed it.
      template: typeof path === 'string' ? redact(path).slice(0, 200) : '',
      resolve(issues) {
        fields(requestChecks())(request, '', issues);
        return path;
      },
    },
    ...(query === undefined
      ? {}
      : { query: argument(acceptAnything as Validator<object>, query, 'query') }),
    ...(body === undefined ? {} : { body: argument(acceptAnything, body, 'body') }),
    response:
      schema === undefined
        ? { ...(acceptAnything as Validator<T>), acceptsNoBody: true }
        : fromStandardSchema(schema),
  };
}

/** Matches a slash, and encoded characters that a server may decode to a slash. */
const separator = /\/|%2f|%5c/i;

/** Says what is wrong with a path. A path stays below the base URL: no host, no query, no `..`. */
function describePathProblem(path: unknown): Problem | undefined {
  if (typeof path !== 'string' || !path.startsWith('/') || path.startsWith('//')) {
    return { expected: 'a relative path that starts with one slash, such as "/transfers"' };
  }
  if (!/^[\x21-\x7e]+$/.test(path) || /[?#\\]/.test(path)) {
    return {
      expected: 'an encoded path without spaces, "?", "#" or "\\"; pass query parameters in query',
    };
  }
  return path.split(separator).some((segment) => /^(\.|%2e){1,2}(;|$)/i.test(segment))
    ? { expected: 'a path without "." and ".." segments' }
    : undefined;
}

const requestChecks = (): OptionChecks<AnyRequest> => ({
  method: checkBy((value) =>
    isMethod(value) ? undefined : { expected: `one of ${Object.keys(kinds).join(', ')}` },
  ),
  path: checkBy(describePathProblem),
  api: checkBy((value) =>
    value === 'versioned' || value === 'root'
      ? undefined
      : { expected: `'versioned' (API key) or 'root' (JWT)` },
  ),
  query: optionalCheck('a plain object', isPlainObject),
  body: () => undefined,
  schema: optionalCheck(
    'a Standard Schema, such as a zod schema',
    (value) => typeof Reflect.get(Object(value), '~standard') === 'object',
  ),
});

const acceptAnything: Validator<unknown> = {
  safeParse: (value) => ({ success: true, data: value }),
};

function fromStandardSchema<T>(schema: ResponseSchema<T>): Validator<T> {
  return {
    safeParse(value) {
      try {
        return toCheckResult(schema['~standard'].validate(value));
      } catch {
        // If the caller's schema throws, report an issue, because the error would hide the outcome.
        return failedResult([{ message: 'the schema threw an error', path: [] }]);
      }
    },
  };
}

/**
 * Converts the result of a Standard Schema to a result of zod's `safeParse`. An asynchronous result
 * becomes a failure, because the SDK does not await it.
 */
function toCheckResult<T>(
  result: SchemaResult<T> | PromiseLike<SchemaResult<T>>,
): ReturnType<Validator<T>['safeParse']> {
  if ('then' in result) {
    // Without a handler, a rejection of the promise would be unhandled and could end the process.
    result.then(undefined, () => undefined);
    return failedResult([
      { message: 'the schema is asynchronous; pass a synchronous one', path: [] },
    ]);
  }
  if (result.issues === undefined) return { success: true, data: result.value };
  return failedResult(
    result.issues.map(({ message, path }) => ({
      message,
      path: (path ?? []).map((step) => (typeof step === 'object' ? step.key : step)),
    })),
  );
}

const failedResult = (
  issues: readonly { message: string; path: readonly PropertyKey[] }[],
): { success: false; error: { issues: typeof issues } } => ({ success: false, error: { issues } });
