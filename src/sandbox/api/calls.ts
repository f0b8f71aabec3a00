import type * as z from 'zod/mini';
import type { PageQuery, Schema } from '../../schemas/primitives.ts';
import { parseJson } from '../../internal/json.ts';
import type { Platform } from '../platform/platform.ts';
import { SandboxError, getMessage } from '../platform/sandbox-error.ts';
import type { Table } from '../platform/table.ts';
import { parseInput, queryReport, validationError } from '../platform/validation.ts';
import type { SandboxOperation } from './operations.ts';
import { createPage, type PageFault } from './pages.ts';

/** The JSON value of a request body, or the error to respond with if the body is not JSON. */
export type Body = { value: unknown } | { problem: SandboxError };

export function readBody(text: string | undefined): Body | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return { value: parseJson(text) };
  } catch (cause) {
    const problem = { code: 'invalid_json', status: 400, cause };
    return { problem: new SandboxError(`The body is not JSON: ${getMessage(cause)}`, problem) };
  }
}

/** An API request whose credential is valid. Its query and body are not checked yet. */
export interface Call {
  platform: Platform;
  operation: SandboxOperation;
  /** The id in the request's path, such as `acc_000001`; '' if the path has none. */
  id: string;
  params: URLSearchParams;
  body: Body | undefined;
  /** The fault that changes the page in the response; undefined if no such fault applies. */
  pageFault: PageFault | undefined;
}

/** Performs an operation of the API and returns the JSON value of its response. */
type Run = (call: Call) => unknown;

/** The function that performs an operation, and the schema of the request's body or query. */
export interface Behaviour {
  readonly run: Run;
  readonly body?: z.core.$ZodType;
  readonly query?: z.core.$ZodType;
}

/** Defines an operation with a JSON body: the schema checks the body, then `run` is called. */
export const withBody = <T>(
  schema: Schema<T>,
  run: (platform: Platform, input: T, id: string) => unknown,
): Behaviour => ({
  body: schema,
  run(call) {
    requireNoQuery(call);
    if (call.body === undefined) throw createBodyRequiredError(call.operation);
    if ('problem' in call.body) throw call.body.problem;
    const report = `The body of ${call.operation} is`;
    return run(call.platform, parseInput(schema, call.body.value, report), call.id);
  },
});

/** Defines an operation that takes only the id in its path, such as accounts.get. */
export const withId = (run: (platform: Platform, id: string) => unknown): Behaviour => ({
  run(call) {
    requireNoQuery(call);
    return run(call.platform, call.id);
  },
});

/**
 * Defines a list under `/v0`, such as accounts.list, which returns its items in pages. `tableOf`
 * selects the listed table, `view` returns what the API shows of a row, and `keep` says whether a
 * row matches the filters in the query. Default: every row.
 */
export const withPage = <Query extends PageQuery, Row extends { readonly id: string }>(
  schema: Schema<Query>,
  tableOf: (platform: Platform) => Pick<Table<Row>, 'after'>,
  view: (row: Row) => unknown,
  keep: (row: Row, query: Query) => boolean = () => true,
): Behaviour => ({
  query: schema,
  run(call) {
    const query = parseInput(schema, readQuery(call.params), queryReport);
    const { cursor: _cursor, limit: _limit, ...filters } = query;
    // A cursor is valid only for the same operation with the same filters.
    return createPage(tableOf(call.platform), view, {
      scope: `${call.operation} ${JSON.stringify(filters)}`,
      query,
      pageSize: call.platform.pageSize,
      order: call.platform.listOrder,
      keep: (row) => keep(row, query),
      fault: call.pageFault,
    });
  },
});

/**
 * Returns the query parameters of a request as an object. A `limit` of digits becomes a number.
 * @throws SandboxError if a parameter appears twice.
 */
function readQuery(params: URLSearchParams): Record<string, string | number> {
  const entries = [...params];
  const names = new Set<string>();
  for (const [name] of entries) {
    if (names.has(name))
      throw validationError({ [name]: 'expected once, got more than one' }, queryReport);
    names.add(name);
  }
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      name === 'limit' && /^\d{1,9}$/.test(value) ? Number(value) : value,
    ]),
  );
}

function requireNoQuery({ params }: Call): void {
  const [name] = params.keys();
  if (name !== undefined) {
    throw validationError({ [name]: 'this operation takes no query parameters' }, queryReport);
  }
}

function createBodyRequiredError(operation: SandboxOperation): SandboxError {
  const isGet = operation === 'instructions.list' || operation === 'transactions.list';
  return new SandboxError(
    isGet
      ? `${operation} is a GET with a JSON body, and no body arrived: fetch cannot carry one, and neither can msw. Use sandbox.getWithBody (it is part of sandbox.clientOptions), or the server of payments-platform-sdk/sandbox/server.`
      : `${operation} needs a JSON body, and no body arrived.`,
    { code: 'body_required', status: 400 },
  );
}
