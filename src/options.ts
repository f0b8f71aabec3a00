import type { Clock } from './clock.ts';
import { credentialName, credentialProblem, type CredentialSource } from './credential.ts';
import { ConfigurationError, type Issue } from './errors.ts';
import type { Hooks } from './hooks.ts';
import { redactor } from './redactor.ts';
import { host } from './runtime.ts';
import type { Fetch, GetWithBody } from './wires/wire.ts';

/** How a {@link PaymentsClient} is set up. */
export interface ClientOptions {
  /**
   * The versioned root; ends in `/v0`. https, or http on a loopback address.
   * @default the environment variable PAYMENTS_BASE_URL
   */
  baseUrl?: string | undefined;
  /**
   * The root of the instruction and transaction endpoints.
   * @default the environment variable PAYMENTS_ROOT_URL, else `baseUrl` without its last segment
   */
  rootUrl?: string | undefined;
  /**
   * The API key (`sk_…`), or a function that fetches it. Sent to `baseUrl` only.
   * @default the environment variable PAYMENTS_API_KEY
   */
  apiKey?: CredentialSource | undefined;
  /**
   * The JWT, or a function that fetches it. Sent to `rootUrl` only; needed by `instructions` and
   * `transactions`.
   * @default the environment variable PAYMENTS_JWT
   */
  jwt?: CredentialSource | undefined;
  /** Milliseconds for one attempt: headers and body. @default 30000 */
  timeout?: number | undefined;
  /** Milliseconds for a whole call: waits, retries and bodies. @default 120000 */
  totalTimeout?: number | undefined;
  /** How often a call may be sent again at most; 0 means never, but for a 401 to a credential that is a function. @default 2 */
  maxRetries?: number | undefined;
  /** Headers for every request. `authorization` is not among them: the credentials set it. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Your own fetch, asked for everything but GET with a body. Its failures prove nothing, so a
   * write that fails in it is reported as `unknown`. In a browser nothing is written without one.
   * @default the global fetch; on Node.js the dispatcher behind it
   */
  fetch?: Fetch | undefined;
  /**
   * Sends the two GET requests that carry a body, which `fetch` cannot.
   * @default on Node.js the dispatcher behind fetch, on Bun and Deno node:http, elsewhere none
   */
  getWithBody?: GetWithBody | undefined;
  /**
   * What happens when a read is answered in another shape than the documented one: `strict` throws
   * InvalidResponseError, `report` hands the answer out and calls `hooks.onDrift`.
   * @default 'strict'
   */
  validation?: 'strict' | 'report' | undefined;
  /** Functions that watch every call. */
  hooks?: Hooks | undefined;
  /**
   * The name of a header that carries one key per POST, the same on every attempt, such as
   * `Idempotency-Key`. The document promises none: set it only when the platform has told you that
   * it honours the header, because creations are then sent again after unknown outcomes:
   * docs/gaps.md, row 51.
   */
  idempotencyHeader?: string | undefined;
  /** Time and timers, for tests. @default the system's */
  clock?: Clock | undefined;
}

/** What one call may change. */
export interface RequestOptions {
  /** Ends the call, its waits included. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt: headers and body. */
  timeout?: number | undefined;
  /** Milliseconds for the whole call: waits, retries and bodies. */
  totalTimeout?: number | undefined;
  /** How often the call may be sent again at most; 0 means never, but for a 401 to a credential that is a function. */
  maxRetries?: number | undefined;
  /** Headers for this call. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Query parameters that the document does not name. */
  query?: Readonly<Record<string, QueryValue>> | undefined;
  /** Body fields that the document does not name. */
  body?: Readonly<Record<string, unknown>> | undefined;
}

/** What a query parameter may be; undefined is left out. */
export type QueryValue = string | number | bigint | boolean | undefined;

/** Options after the environment was read and everything was checked. */
export interface Settled {
  readonly baseUrl: string;
  readonly rootUrl: string;
  readonly apiKey: CredentialSource | undefined;
  readonly jwt: CredentialSource | undefined;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch | undefined;
  readonly getWithBody: GetWithBody | undefined;
  readonly validation: 'strict' | 'report';
  readonly hooks: Hooks;
  readonly idempotencyHeader: string | undefined;
  readonly clock: Clock | undefined;
}

const optionNames = [
  'baseUrl',
  'rootUrl',
  'apiKey',
  'jwt',
  'timeout',
  'totalTimeout',
  'maxRetries',
  'headers',
  'fetch',
  'getWithBody',
  'validation',
  'hooks',
  'idempotencyHeader',
  'clock',
] as const satisfies readonly (keyof ClientOptions)[];
const hookNames = ['onRequest', 'onResponse', 'onRetry', 'onDrift'] as const;

/** The options that have an environment variable, with it. */
const variables = {
  baseUrl: 'PAYMENTS_BASE_URL',
  rootUrl: 'PAYMENTS_ROOT_URL',
  apiKey: 'PAYMENTS_API_KEY',
  jwt: 'PAYMENTS_JWT',
} as const;

/** Throws ConfigurationError for options that are no object: spreading one would hide it. */
export function checkOptions(options: unknown): void {
  if (!isRecord(options)) throw refusal('The options of PaymentsClient must be an object.');
}

/** Fills in the environment; called once, so that a client does not change behind one's back. */
export function withEnvironment(options: ClientOptions): ClientOptions {
  checkOptions(options);
  const filled: ClientOptions = { ...options };
  for (const name of ['baseUrl', 'rootUrl', 'apiKey', 'jwt'] as const) {
    const value = host.process?.env?.[variables[name]];
    if (filled[name] === undefined && value !== undefined && value !== '') filled[name] = value;
  }
  return filled;
}

/** Checks every option. Throws ConfigurationError, which names the option and never its value. */
export function settle(options: ClientOptions): Settled {
  refuseUnknown(options, optionNames, 'option');
  const baseUrl = checkUrl('baseUrl', options.baseUrl);
  if (!baseUrl.endsWith('/v0')) {
    throw refusal(
      `The option baseUrl (${variables.baseUrl}) must end in /v0, the version of the API; add it.`,
    );
  }
  const rootUrl =
    options.rootUrl === undefined
      ? baseUrl.slice(0, baseUrl.lastIndexOf('/'))
      : checkUrl('rootUrl', options.rootUrl);
  if (options.apiKey === undefined && options.jwt === undefined) {
    throw refusal(
      `No API key was given. Pass the option apiKey, or set the environment variable ${variables.apiKey}.`,
    );
  }
  checkCredential('apiKey', options.apiKey);
  checkCredential('jwt', options.jwt);
  for (const name of ['fetch', 'getWithBody'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function') {
      throw refusal(`The option ${name} must be a function.`);
    }
  }
  const { validation = 'strict', hooks = {}, idempotencyHeader, clock } = options;
  if (validation !== 'strict' && validation !== 'report') {
    throw refusal(`The option validation must be 'strict' or 'report'.`);
  }
  if (typeof hooks !== 'object' || hooks === null) {
    throw refusal('The option hooks must be an object of functions.');
  }
  refuseUnknown(hooks, hookNames, 'hook');
  for (const name of hookNames) {
    if (hooks[name] !== undefined && typeof hooks[name] !== 'function') {
      throw refusal(`The hook ${name} must be a function.`);
    }
  }
  if (
    idempotencyHeader !== undefined &&
    (typeof idempotencyHeader !== 'string' || !headerName.test(idempotencyHeader))
  ) {
    throw refusal('The option idempotencyHeader must be a header name, such as Idempotency-Key.');
  }
  // Such a header would be overwritten on the way, and a creation sent again without its key.
  if (idempotencyHeader !== undefined && isTaken(idempotencyHeader.toLowerCase())) {
    throw refusal(
      `The option idempotencyHeader cannot be ${idempotencyHeader}: that header has another meaning. Name the one that the platform reads keys from, such as Idempotency-Key.`,
    );
  }
  if (
    clock !== undefined &&
    !(['now', 'setTimeout', 'clearTimeout'] as const).every(
      (name) => typeof clock?.[name] === 'function',
    )
  ) {
    throw refusal('The option clock must have the functions now, setTimeout and clearTimeout.');
  }
  const issues: Issue[] = [];
  const settled = {
    baseUrl,
    rootUrl,
    apiKey: options.apiKey,
    jwt: options.jwt,
    timeout: checkMilliseconds(options.timeout, 'timeout', issues) ?? 30_000,
    totalTimeout: checkMilliseconds(options.totalTimeout, 'totalTimeout', issues) ?? 120_000,
    maxRetries: retries(options.maxRetries, 'maxRetries', issues) ?? 2,
    headers: headerRecord(options.headers, 'headers', issues),
    fetch: options.fetch,
    getWithBody: options.getWithBody,
    validation,
    hooks,
    idempotencyHeader,
    clock,
  };
  const [issue] = issues;
  if (issue !== undefined) {
    throw refusal(`The option ${issue.path} cannot be used: ${issue.message}.`);
  }
  return settled;
}

/** What one call changes, checked. */
export interface SettledCall {
  readonly signals: readonly AbortSignal[];
  readonly timeout: number | undefined;
  readonly totalTimeout: number | undefined;
  readonly maxRetries: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, QueryValue>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const callOptionNames = [
  'signal',
  'timeout',
  'totalTimeout',
  'maxRetries',
  'headers',
  'query',
  'body',
] as const satisfies readonly (keyof RequestOptions)[];

/** Adds to `issues` each option of a call that there is not; `more` are those that this call has besides. */
export function unknownOptions(given: object, more: readonly string[], issues: Issue[]): void {
  const names = [...more, ...callOptionNames];
  for (const key of Object.keys(given)) {
    if (!names.includes(key)) {
      const message = `unknown option${suggestion(key, names)}`;
      issues.push({ path: `options.${key}`, message });
    }
  }
}

const unchanged: SettledCall = {
  signals: [],
  timeout: undefined,
  totalTimeout: undefined,
  maxRetries: undefined,
  headers: {},
  query: {},
  body: undefined,
};

/** Checks the options of one call; what is wrong goes into `issues`. */
export function settleCall(options: RequestOptions | undefined, issues: Issue[]): SettledCall {
  if (options === undefined) return unchanged;
  const given: RequestOptions = isRecord(options) ? options : {};
  if (!isRecord(options)) {
    issues.push({ path: 'options', message: 'expected an object' });
  }
  unknownOptions(given, [], issues);
  const { signal, query = {}, body } = given;
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    issues.push({ path: 'options.signal', message: 'expected an AbortSignal' });
  }
  for (const [name, part] of [
    ['query', query],
    ['body', body],
  ] as const) {
    // A list, a Map or URLSearchParams has entries of its own, and none that would be sent.
    if (part !== undefined && (!isRecord(part) || Symbol.iterator in part)) {
      issues.push({ path: `options.${name}`, message: 'expected a plain object' });
    }
  }
  return {
    signals: signal === undefined || issues.length > 0 ? [] : [signal],
    timeout: checkMilliseconds(given.timeout, 'options.timeout', issues),
    totalTimeout: checkMilliseconds(given.totalTimeout, 'options.totalTimeout', issues),
    maxRetries: retries(given.maxRetries, 'options.maxRetries', issues),
    headers: headerRecord(given.headers, 'options.headers', issues),
    query: isRecord(query) ? query : {},
    body,
  };
}

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null;

const refusal = (message: string): ConfigurationError =>
  new ConfigurationError(redactor([])(message), { outcome: 'not_sent' });

function checkUrl(name: 'baseUrl' | 'rootUrl', value: unknown): string {
  const named = `The option ${name} (${variables[name]})`;
  if (value === undefined) {
    throw refusal(
      `No base URL was given. Pass the option ${name}, or set the environment variable ${variables[name]}.`,
    );
  }
  if (typeof value !== 'string' || !URL.canParse(value)) {
    throw refusal(`${named} is not an absolute URL, such as https://api.example.com/v0.`);
  }
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    throw refusal(`${named} holds a user name or password; take them out.`);
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(value)) {
    throw refusal(`${named} holds a query or a fragment; take it out.`);
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    throw refusal(
      `${named} must use https. Plain http would show the credential to the network; it is allowed on loopback addresses only.`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d{1,3}){3}$/.test(hostname);

function checkCredential(kind: 'apiKey' | 'jwt', source: unknown): void {
  if (source === undefined || typeof source === 'function') return;
  const problem = credentialProblem(kind, source);
  if (problem === undefined) return;
  const { option, variable, what } = credentialName(kind);
  throw refusal(
    `The ${what} cannot be used: ${problem}. Check the option ${option} or the environment variable ${variable}.`,
  );
}

function refuseUnknown(given: object, names: readonly string[], noun: string): void {
  for (const key of Object.keys(given)) {
    if (!names.includes(key)) {
      throw refusal(`There is no ${noun} called ${key}${suggestion(key, names)}`);
    }
  }
}

function suggestion(key: string, names: readonly string[]): string {
  const close = names.find((name) => editDistance(key.toLowerCase(), name.toLowerCase()) <= 2);
  return close === undefined ? `; there are ${names.join(', ')}.` : `; did you mean ${close}?`;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1];
    for (const [column, other] of [...to].entries()) {
      next.push(
        Math.min(
          (next[column] ?? 0) + 1,
          (row[column + 1] ?? 0) + 1,
          (row[column] ?? 0) + (letter === other ? 0 : 1),
        ),
      );
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The milliseconds, or undefined and what is wrong with them in `issues`. */
export function checkMilliseconds(
  value: unknown,
  path: string,
  issues: Issue[],
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY) return value;
  issues.push({ path, message: 'expected a number of milliseconds above 0' });
  return undefined;
}

function retries(value: unknown, path: string, issues: Issue[]): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  issues.push({ path, message: 'expected a whole number, 0 or more' });
  return undefined;
}

/** An object cannot hold `__proto__` as a field, so a header of that name would be lost. */
const headerName = /^(?!__proto__$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i;
/** Set by the SDK, by the runtime, or dangerous to the framing of the request. */
const reservedHeaders = new Set([
  'authorization',
  'content-length',
  'transfer-encoding',
  'host',
  'connection',
  'expect',
  'keep-alive',
  'upgrade',
]);

const isTaken = (name: string): boolean =>
  reservedHeaders.has(name) ||
  ['accept', 'accept-encoding', 'content-type', 'cookie', 'user-agent'].includes(name);

function headerRecord(
  given: unknown,
  path: string,
  issues: Issue[],
): Readonly<Record<string, string>> {
  if (given === undefined) return {};
  if (!isRecord(given) || given instanceof Headers || Array.isArray(given)) {
    issues.push({ path, message: 'expected a plain object of names and strings' });
    return {};
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    const at = `${path}.${name}`;
    if (value === undefined) continue;
    if (!headerName.test(name)) {
      issues.push({ path: at, message: 'this is not a header name' });
    } else if (reservedHeaders.has(name.toLowerCase())) {
      issues.push({
        path: at,
        message:
          name.toLowerCase() === 'authorization'
            ? 'the credentials set this header; use the options apiKey and jwt'
            : 'this header cannot be set',
      });
    } else if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      issues.push({ path: at, message: 'expected a string that a header can carry' });
    } else {
      headers[name.toLowerCase()] = value;
    }
  }
  return headers;
}
