import { isObject, isPlainObject } from './internal/guards.ts';
import { dropUndefined } from './internal/clone.ts';
import { findUrlProblem, withoutSlash } from './calls/base-url.ts';
import { clockFrom, type Clock } from './calls/clock.ts';
import {
  credentialNames,
  findCredentialProblem,
  describePlace,
  type CredentialKind,
  type CredentialSource,
} from './calls/credential.ts';
import { ConfigurationError } from './errors/errors.ts';
import { formatMessage } from './errors/message.ts';
import { describeArrival } from './internal/describe-value.ts';
import type { DetailedIssue, Problem } from './internal/issues.ts';
import type { Hooks } from './calls/hooks.ts';
import { withLogging } from './calls/log.ts';
import { headerName, headers, lowerCased, reservedHeaders } from './calls/request-options.ts';
import {
  callable,
  fields,
  hasFunctions,
  checkBy,
  milliseconds,
  retries,
  optionalCheck,
  type OptionCheck,
  type OptionChecks,
} from './calls/option-checks.ts';
import type { Journal } from './journals/journal.ts';
import { journalCheck } from './resources/transfers/create-once.ts';
import { redactor } from './errors/redact.ts';
import { host, warn } from './internal/runtime.ts';
import type { Fetch, GetWithBody } from './transports/transport.ts';

/** How a {@link PaymentsClient} is set up. */
export interface ClientOptions {
  /**
   * URL of the versioned API; must end in `/v0`. https, or http on a loopback address.
   * @default the environment variable PAYMENTS_BASE_URL
   */
  baseUrl?: string | undefined;
  /**
   * The root of the instruction and transaction endpoints.
   * @default the environment variable PAYMENTS_ROOT_URL if PAYMENTS_BASE_URL is used, else `baseUrl` without its last segment
   */
  rootUrl?: string | undefined;
  /**
   * The API key (`sk_…`), or a function that fetches it; sent to `baseUrl` only. `null`: none.
   * @default the environment variable PAYMENTS_API_KEY
   */
  apiKey?: CredentialSource | null | undefined;
  /**
   * The JWT, or a function that fetches it; sent to `rootUrl` only, for `instructions` and
   * `transactions`. `null`: none. @default the environment variable PAYMENTS_JWT
   */
  jwt?: CredentialSource | null | undefined;
  /** Limit for one attempt, headers and body, in milliseconds. @default 30000 */
  timeout?: number | undefined;
  /** Limit for a whole call, including waits and retries, in milliseconds. @default 120000 */
  totalTimeout?: number | undefined;
  /**
   * Maximum number of retries; 0 still allows one after a 401 if the credential is a function.
   * @default 2
   */
  maxRetries?: number | undefined;
  /** Headers for every request. `authorization` is not among them: the credentials set it. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Your own fetch, for everything except GET with a body. A write that fails in it is `unknown`.
   * It must not repeat writes, and pass `init` on. @default the global fetch; on Node.js the
   * dispatcher behind it
   */
  fetch?: Fetch | undefined;
  /**
   * Sends the two GET requests that carry a body, which `fetch` cannot.
   * @default on Node.js the dispatcher behind fetch, on Bun and Deno node:http, elsewhere none
   */
  getWithBody?: GetWithBody | undefined;
  /**
   * What a read of an undocumented shape does: `strict` throws InvalidResponseError, `report`
   * returns it and calls `hooks.onDrift`. @default 'strict'
   */
  validation?: 'strict' | 'report' | undefined;
  /** Callbacks that observe every call. */
  hooks?: Hooks | undefined;
  /**
   * A header for one key per POST, the same on every attempt, such as `Idempotency-Key`. Only if
   * the platform honours it: creations are then sent again after unknown outcomes.
   */
  idempotencyHeader?: string | null | undefined; // docs/gaps.md, row 51
  /**
   * Whether the JSON of a refusal is the platform's own. A write refused in another form is
   * `unknown`: a proxy may have answered. @default an object whose `error` and `code` are strings
   */
  isErrorBody?: ((body: unknown) => boolean) | undefined;
  /**
   * Where `transfers.createOnce` writes down what it does: one of `payments-platform-sdk/journals`,
   * or your own.
   */
  journal?: Journal | undefined;
  /**
   * For `transfers.createOnce`: how long a request that has left may still take effect, in
   * milliseconds; longer than your processes may stand still. @default 300000
   */
  gracePeriod?: number | undefined; // docs/gaps.md, row 61
  /**
   * Permits http to a host that is not loopback, for a sandbox in a container: whoever is on the way
   * reads the credentials. @default false
   */
  allowHttp?: boolean | undefined;
  /** Time and timers, for tests. @default the system's */
  clock?: Clock | undefined;
}

const url = (end: string, allowHttp: unknown): OptionCheck =>
  checkBy((given) =>
    given === undefined ? undefined : findUrlProblem(given, end, allowHttp === true),
  );

const credential = (kind: CredentialKind): OptionCheck =>
  checkBy((source) =>
    source === undefined || source === null || typeof source === 'function'
      ? undefined
      : findCredentialProblem(kind, source),
  );

function keyHeaderProblem(name: unknown): Problem | string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name !== 'string' || !headerName.test(name)) {
    return { expected: 'a header name, such as Idempotency-Key' };
  }
  // Such a header would be overwritten on the way, and a creation sent again without its key.
  const taken = [...reservedHeaders, 'accept', 'accept-encoding', 'cookie', 'user-agent'];
  return taken.includes(name.toLowerCase())
    ? `${name} has another meaning; name the header that the platform reads keys from, such as Idempotency-Key`
    : undefined;
}

const isClock = (clock: unknown): boolean =>
  hasFunctions(clock, ['now', 'setTimeout', 'clearTimeout']);

const hookRules: OptionChecks<Hooks> = {
  onRequest: callable,
  onResponse: callable,
  onRetry: callable,
  onWait: callable,
  onDrift: callable,
};

const optionsRules = ({ allowHttp }: ClientOptions): OptionChecks<ClientOptions> => ({
  baseUrl: url('/v0', allowHttp),
  rootUrl: url('', allowHttp),
  allowHttp: optionalCheck('true or false', (value) => typeof value === 'boolean'),
  apiKey: credential('apiKey'),
  jwt: credential('jwt'),
  timeout: milliseconds,
  totalTimeout: milliseconds,
  maxRetries: retries,
  headers,
  fetch: callable,
  getWithBody: callable,
  validation: optionalCheck(
    "'strict' or 'report'",
    (value) => value === 'strict' || value === 'report',
  ),
  hooks: (value, at, issues) => {
    if (value !== undefined) fields(hookRules)(value, at, issues);
  },
  idempotencyHeader: checkBy(keyHeaderProblem),
  isErrorBody: callable,
  journal: journalCheck(),
  gracePeriod: milliseconds,
  clock: optionalCheck('an object with the functions now, setTimeout and clearTimeout', isClock),
});

/** The options that have an environment variable, with it. */
const variables: Readonly<Record<string, string>> = {
  baseUrl: 'PAYMENTS_BASE_URL',
  rootUrl: 'PAYMENTS_ROOT_URL',
  apiKey: credentialNames.apiKey.variable,
  jwt: credentialNames.jwt.variable,
} satisfies Partial<Record<keyof ClientOptions, string>>;

/**
 * Throws ConfigurationError for options whose fields a copy would not have: a payment must not go out
 * with another tenant's key, which the environment or the client before has.
 */
export function requirePlain(options: unknown): void {
  if (isPlainObject(options)) return;
  throw rejection([
    `Invalid options: ${describeArrival(options)}; expected a plain object, such as { baseUrl, apiKey }.`,
  ]);
}

/** What the environment says; read once, so that a client does not change behind one's back. */
export const readEnvironment = (): ClientOptions =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, variable]) => {
      // A file that is mounted or read into a variable often ends with a line break.
      const value = host.process?.env?.[variable]?.trim();
      return value ? [[name, value] as const] : [];
    }),
  );

/** Fills in the environment. Its root goes with its base only: no JWT for another platform may go there. */
export const inEnvironment = (environment: ClientOptions, own: ClientOptions): ClientOptions => ({
  ...environment,
  ...(own.baseUrl === undefined ? {} : { rootUrl: undefined }),
  ...dropUndefined(own),
});

/** Checks every option. Throws ConfigurationError, which names each that is wrong and never its value. */
export function resolveOptions(options: ClientOptions) {
  const issues: DetailedIssue[] = [];
  fields(optionsRules(options))(options, 'options', issues);
  const wrong = issues.map(({ path, message, hint }) => {
    const name = path.slice('options.'.length);
    const value: unknown = Reflect.get(options, name);
    const place = describePlace(name, variables[name], value);
    return formatMessage({ what: `Invalid ${place}: ${message}`, hint });
  });
  const { baseUrl = '', apiKey, jwt, idempotencyHeader } = options;
  if (options.baseUrl === undefined) {
    wrong.push(`No base URL: pass the option baseUrl, or set ${variables['baseUrl']}.`);
  }
  if ((apiKey ?? jwt ?? undefined) === undefined) {
    wrong.push(
      `No credential: pass the option apiKey (${variables['apiKey']}), or for instructions and transactions jwt (${variables['jwt']}).`,
    );
  }
  const common = lowerCased(options.headers);
  if (
    wrong.length === 0 &&
    idempotencyHeader &&
    Object.hasOwn(common, idempotencyHeader.toLowerCase())
  ) {
    wrong.push(
      `Invalid option headers: holds ${idempotencyHeader}; expected one key for each creation.\nPass it in options.headers of the call.`,
    );
  }
  if (wrong.length > 0) throw rejection(wrong);
  const clock = clockFrom(options.clock);
  for (const [name, few] of Object.entries(fewMilliseconds)) {
    const ms = options[name as keyof typeof fewMilliseconds] ?? Number.POSITIVE_INFINITY;
    if (ms <= few) {
      warn(
        `payments-platform-sdk: the option ${name} is ${ms} milliseconds; were seconds meant?\nFor ${ms} seconds write ${ms}_000.`,
      );
    }
  }
  const versioned = withoutSlash(baseUrl);
  return {
    baseUrl: versioned,
    rootUrl: withoutSlash(options.rootUrl ?? versioned.slice(0, versioned.lastIndexOf('/'))),
    apiKey: apiKey ?? undefined,
    jwt: jwt ?? undefined,
    timeout: options.timeout ?? 30_000,
    totalTimeout: options.totalTimeout ?? 120_000,
    maxRetries: options.maxRetries ?? 2,
    headers: common,
    fetch: options.fetch,
    getWithBody: options.getWithBody,
    validation: options.validation ?? 'strict',
    hooks: withLogging(options.hooks ?? {}, clock),
    idempotencyHeader: idempotencyHeader ?? undefined,
    isErrorBody: options.isErrorBody ?? isDocumentedErrorBody,
    journal: options.journal,
    gracePeriod: options.gracePeriod ?? 300_000,
    clock,
  };
}

/** So much is meant as seconds: no platform answers so soon, and a payment made twice costs more than a wait. */
const fewMilliseconds = { timeout: 120, totalTimeout: 120, gracePeriod: 900 };

/** As the document has it: a message and a code. */
const isDocumentedErrorBody = (body: unknown): boolean =>
  isObject(body) &&
  typeof Reflect.get(body, 'error') === 'string' &&
  typeof Reflect.get(body, 'code') === 'string';

const rejection = (wrong: readonly string[]): ConfigurationError =>
  new ConfigurationError(redactor([])(wrong.join('\n')), { outcome: 'not_sent' });
