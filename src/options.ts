import { urlProblem, withoutSlash } from './calls/base-url.ts';
import { clockFrom, type Clock } from './calls/clock.ts';
import {
  credentialNames,
  credentialProblem,
  type CredentialKind,
  type CredentialSource,
} from './calls/credential.ts';
import { ConfigurationError, type Issue } from './errors/errors.ts';
import type { Hooks } from './calls/hooks.ts';
import {
  checkHeaders,
  checkMilliseconds,
  checkRetries,
  headerName,
  isTaken,
  suggestion,
} from './calls/option-checks.ts';
import { isObject, isRecord } from './calls/records.ts';
import { redactor } from './errors/redact.ts';
import { host } from './wires/runtime.ts';
import type { Fetch, GetWithBody } from './wires/wire.ts';

/** How a {@link PaymentsClient} is set up. */
export interface ClientOptions {
  /**
   * URL of the versioned API; must end in `/v0`. https, or http on a loopback address.
   * @default the environment variable PAYMENTS_BASE_URL
   */
  baseUrl?: string | undefined;
  /**
   * The root of the instruction and transaction endpoints.
   * @default the environment variable PAYMENTS_ROOT_URL, else `baseUrl` without its last segment
   */
  rootUrl?: string | undefined;
  /**
   * The API key (`sk_…`), or a function that fetches it. Sent to `baseUrl` only. `null`: none, not even
   * from the environment or the client that is copied.
   * @default the environment variable PAYMENTS_API_KEY
   */
  apiKey?: CredentialSource | null | undefined;
  /**
   * The JWT, or a function that fetches it. Sent to `rootUrl` only; needed by `instructions` and
   * `transactions`. `null`: none, not even from the environment or the client that is copied.
   * @default the environment variable PAYMENTS_JWT
   */
  jwt?: CredentialSource | null | undefined;
  /** Limit for one attempt, headers and body, in milliseconds. @default 30000 */
  timeout?: number | undefined;
  /** Limit for a whole call, including waits and retries, in milliseconds. @default 120000 */
  totalTimeout?: number | undefined;
  /**
   * Maximum number of retries. Even with 0, a call is repeated once after a 401 if the credential
   * is a function. @default 2
   */
  maxRetries?: number | undefined;
  /** Headers for every request. `authorization` is not among them: the credentials set it. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Your own fetch, used for everything except GET with a body. Its failures prove nothing, so a
   * write that fails in it is `unknown`. It must not repeat writes and must pass its second
   * argument on: `(request, init) => fetch(request, init)`. In a browser, writes require it.
   * @default the global fetch; on Node.js the dispatcher behind it
   */
  fetch?: Fetch | undefined;
  /**
   * Sends the two GET requests that carry a body, which `fetch` cannot.
   * @default on Node.js the dispatcher behind fetch, on Bun and Deno node:http, elsewhere none
   */
  getWithBody?: GetWithBody | undefined;
  /**
   * What to do when the response to a read does not have the documented shape: `strict` throws
   * InvalidResponseError, `report` returns it and calls `hooks.onDrift`.
   * @default 'strict'
   */
  validation?: 'strict' | 'report' | undefined;
  /** Callbacks that observe every call. */
  hooks?: Hooks | undefined;
  /**
   * The name of a header that carries one key per POST, the same on every attempt, such as
   * `Idempotency-Key`. The document promises none: set it only when the platform has told you that
   * it honours the header, because creations are then sent again after unknown outcomes:
   * docs/gaps.md, row 51. `null` takes it off a copy made by `withOptions`.
   */
  idempotencyHeader?: string | null | undefined;
  /** Time and timers, for tests. @default the system's */
  clock?: Clock | undefined;
}

/** From a record, because the compiler then asks for every option; a list could lack one unnoticed. */
const optionNames = Object.keys({
  baseUrl: true,
  rootUrl: true,
  apiKey: true,
  jwt: true,
  timeout: true,
  totalTimeout: true,
  maxRetries: true,
  headers: true,
  fetch: true,
  getWithBody: true,
  validation: true,
  hooks: true,
  idempotencyHeader: true,
  clock: true,
} satisfies Record<keyof ClientOptions, true>);
const hookNames = ['onRequest', 'onResponse', 'onRetry', 'onDrift'] as const;

/** The options that have an environment variable, with it. */
const variables = {
  baseUrl: 'PAYMENTS_BASE_URL',
  rootUrl: 'PAYMENTS_ROOT_URL',
  apiKey: credentialNames.apiKey.variable,
  jwt: credentialNames.jwt.variable,
} as const;

/**
 * Throws ConfigurationError for options whose fields a copy would not have: a payment must not go out
 * with another tenant's key, which the environment or the client before has.
 */
export function checkOptions(options: unknown): void {
  // A copy would lack a method of a class, such as apiKey(), as well.
  const isPlain = isRecord(options) && !optionNames.some((name) => isInherited(options, name));
  if (!isPlain)
    throw refusal(
      'The options of PaymentsClient must be a plain object, such as { baseUrl, apiKey }.',
    );
}

const isInherited = (options: object, name: string): boolean =>
  name in options && !Object.hasOwn(options, name);

/** Fills in the environment; called once, so that a client does not change behind one's back. */
export function withEnvironment(options: ClientOptions): ClientOptions {
  checkOptions(options);
  const filled: ClientOptions = { ...options };
  for (const [name, variable] of Object.entries(variables) as [keyof typeof variables, string][]) {
    const value = host.process?.env?.[variable];
    // A file that is mounted or read into a variable often ends with a line break.
    if (filled[name] === undefined && value?.trim()) filled[name] = value.trim();
  }
  return filled;
}

/** Checks every option. Throws ConfigurationError, which names the option and never its value. */
export function resolveOptions(options: ClientOptions) {
  refuseUnknown(options, optionNames, 'option');
  const baseUrl = checkUrl('baseUrl', options.baseUrl);
  const rootUrl =
    options.rootUrl === undefined
      ? baseUrl.slice(0, baseUrl.lastIndexOf('/'))
      : checkUrl('rootUrl', options.rootUrl);
  const apiKey = options.apiKey ?? undefined;
  const jwt = options.jwt ?? undefined;
  const idempotencyHeader = options.idempotencyHeader ?? undefined;
  if (apiKey === undefined && jwt === undefined) {
    throw refusal(
      `No credential was given. Pass the option apiKey (environment variable ${variables.apiKey}) or, for instructions and transactions only, jwt (${variables.jwt}).`,
    );
  }
  checkCredential('apiKey', apiKey);
  checkCredential('jwt', jwt);
  const { validation = 'strict', hooks = {}, clock } = options;
  checkFunctions('option', options, ['fetch', 'getWithBody']);
  if (validation !== 'strict' && validation !== 'report') {
    throw refusal(`The option validation must be 'strict' or 'report'.`);
  }
  checkHooks(hooks);
  checkIdempotencyHeader(idempotencyHeader);
  checkClock(clock);
  const issues: Issue[] = [];
  const resolved = {
    baseUrl,
    rootUrl,
    apiKey,
    jwt,
    timeout: checkMilliseconds(options.timeout, 'timeout', issues) ?? 30_000,
    totalTimeout: checkMilliseconds(options.totalTimeout, 'totalTimeout', issues) ?? 120_000,
    maxRetries: checkRetries(options.maxRetries, 'maxRetries', issues) ?? 2,
    headers: checkHeaders(options.headers, 'headers', issues),
    fetch: options.fetch,
    getWithBody: options.getWithBody,
    validation,
    hooks,
    idempotencyHeader,
    clock: clockFrom(clock),
  };
  if (
    idempotencyHeader !== undefined &&
    Object.hasOwn(resolved.headers, idempotencyHeader.toLowerCase())
  ) {
    throw refusal(
      `The option headers holds ${idempotencyHeader}, which is one key for each creation; pass it in options.headers of the call.`,
    );
  }
  const [issue] = issues;
  if (issue !== undefined) {
    throw refusal(`The option ${issue.path} cannot be used: ${issue.message}.`);
  }
  return resolved;
}

const refusal = (message: string): ConfigurationError =>
  new ConfigurationError(redactor([])(message), { outcome: 'not_sent' });

function checkUrl(name: 'baseUrl' | 'rootUrl', value: string | undefined): string {
  if (value === undefined) {
    throw refusal(
      `No base URL was given. Pass the option ${name}, or set the environment variable ${variables[name]}.`,
    );
  }
  const problem = urlProblem(value, name === 'baseUrl' ? '/v0' : '');
  if (problem !== undefined) {
    throw refusal(`The option ${name} (${variables[name]}) ${problem}`);
  }
  return withoutSlash(value);
}

function checkCredential(kind: CredentialKind, source: unknown): void {
  if (source === undefined || typeof source === 'function') return;
  const problem = credentialProblem(kind, source);
  if (problem === undefined) return;
  const { option, variable, what } = credentialNames[kind];
  throw refusal(
    `The ${what} cannot be used: ${problem}. Check the option ${option} or the environment variable ${variable}.`,
  );
}

function checkFunctions<T extends object>(
  noun: string,
  given: T,
  names: readonly (keyof T & string)[],
): void {
  for (const name of names) {
    if (given[name] !== undefined && typeof given[name] !== 'function') {
      throw refusal(`The ${noun} ${name} must be a function.`);
    }
  }
}

function checkHooks(hooks: Hooks): void {
  if (!isObject(hooks)) throw refusal('The option hooks must be an object of functions.');
  refuseUnknown(hooks, hookNames, 'hook');
  checkFunctions('hook', hooks, hookNames);
}

function checkIdempotencyHeader(name: unknown): void {
  if (name === undefined) return;
  if (typeof name !== 'string' || !headerName.test(name)) {
    throw refusal('The option idempotencyHeader must be a header name, such as Idempotency-Key.');
  }
  // Such a header would be overwritten on the way, and a creation sent again without its key.
  if (isTaken(name.toLowerCase())) {
    throw refusal(
      `The option idempotencyHeader cannot be ${name}: that header has another meaning. Name the one that the platform reads keys from, such as Idempotency-Key.`,
    );
  }
}

function checkClock(clock: Clock | undefined): void {
  if (clock === undefined) return;
  const needed = ['now', 'setTimeout', 'clearTimeout'] as const;
  if (!needed.every((name) => typeof clock?.[name] === 'function')) {
    throw refusal('The option clock must have the functions now, setTimeout and clearTimeout.');
  }
}

function refuseUnknown(given: object, names: readonly string[], noun: string): void {
  for (const key of Object.keys(given)) {
    if (!names.includes(key)) {
      throw refusal(`There is no ${noun} called ${key}${suggestion(key, names)}`);
    }
  }
}
