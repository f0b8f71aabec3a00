import { isLoopback } from '../internal/http.ts';
import { isPlainObject, dropUndefined } from '../internal/objects.ts';
import { clockFrom, type Clock } from './time.ts';
import {
  credentialNames,
  findCredentialProblem,
  describePlace,
  type CredentialKind,
  type CredentialSource,
} from './credential.ts';
import { ConfigurationError } from '../errors/errors.ts';
import { formatMessage } from '../errors/message.ts';
import { describeArrival, trimTrailingSlashes } from '../internal/text.ts';
import type { DetailedIssue, Problem } from '../internal/issues.ts';
import type { Authorize } from './veto.ts';
import { type Hooks, withLogging } from './hooks.ts';
import {
  journalCheck,
  headers,
  lowerCased,
  callable,
  fields,
  isBoolean,
  hasFunctions,
  checkBy,
  defaultGracePeriod,
  defaultTimeout,
  defaultTotalTimeout,
  milliseconds,
  millisecondsOrInfinity,
  retries,
  optionalCheck,
  type OptionCheck,
  type OptionChecks,
} from './options.ts';
import { findFact, platformCheck, resolvePlatform, type PlatformFacts } from './platform.ts';
import type { Journal } from '../journals/journal.ts';
import { redactor } from '../errors/redact.ts';
import { findMissingGlobal, readVariable, runtime, warn } from '../internal/runtime.ts';
import type { HttpAgent } from '../transports/agents.ts';
import type { Fetch, GetWithBody } from '../transports/transport.ts';

/** The options of a {@link PaymentsClient}. */
export interface ClientOptions {
  /**
   * URL of the versioned API, which must end in `/v0`. Use https, or http on a loopback address.
   * @default the environment variable PAYMENTS_BASE_URL
   */
  baseUrl?: string | undefined;
  /**
   * Base URL of the `instructions` and `transactions` endpoints, which are not below `/v0`.
   * @default the environment variable PAYMENTS_ROOT_URL if PAYMENTS_BASE_URL is used, else `baseUrl` without its last segment
   */
  rootUrl?: string | undefined;
  /**
   * The API key (`sk_…`), or a function that fetches the key. The SDK sends the key to `baseUrl`
   * only. Pass `null` if the client has no key.
   * @default the environment variable PAYMENTS_API_KEY
   */
  apiKey?: CredentialSource | null | undefined;
  /**
   * The JWT, or a function that fetches the JWT. The SDK sends the JWT to `rootUrl` only. Pass
   * `null` for a client without a JWT.
   * @default the environment variable PAYMENTS_JWT
   */
  jwt?: CredentialSource | null | undefined;
  /** Limit for one attempt, headers and body included, in milliseconds. @default 30000 */
  timeout?: number | undefined; // How long a response takes is not documented: docs/gaps.md, row 66
  /** The longest time for a call with its waits and retries, in milliseconds. @default 120000 */
  totalTimeout?: number | undefined;
  /**
   * The maximum number of retries. Even 0 allows one after a 401 if your credential is a function.
   * @default 2
   */
  maxRetries?: number | undefined;
  /** Extra headers for every request, except `authorization`, which your credentials set. */
  headers?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Your own fetch, or a library's, for every request except a GET with a body. Pass `init` on and
   * do not resend writes. If it fails during a write, the outcome is `unknown`.
   * @default the global fetch; on Node.js `node:http`
   */
  fetch?: Fetch | undefined;
  /**
   * Your function that sends the two GET requests with a body, because `fetch` cannot send them.
   * @default on Node.js, Bun and Deno `node:http`, elsewhere none
   */
  getWithBody?: GetWithBody | undefined;
  /**
   * On Node.js, the Agent of `node:https` or `node:http` for every request, for client
   * certificates, your own CA or a proxy. Do not combine `agent` with `fetch`.
   * @default agents that keep connections alive
   */
  agent?: HttpAgent | undefined;
  /**
   * What the SDK does if the response to a read differs from the documented shape. `report` calls
   * `hooks.onDrift` and returns the response if it can be used; `strict`, for tests, throws
   * InvalidResponseError.
   * @default 'report'
   */
  validation?: 'strict' | 'report' | undefined;
  /**
   * Your function that decides before each try to claim or send a payment that is not paid yet, so
   * count by reference. Return true to permit; any other result is
   * a veto ({@link PaymentVetoedError}).
   * @default every payment is permitted
   */
  authorize?: Authorize | undefined;
  /** Your callbacks that observe every call, for logs, metrics and traces. */
  hooks?: Hooks | undefined;
  /**
   * The journal in which `transfers.createOnce` records payments. Take a journal from
   * `payments-platform-sdk/journals`, or write your own.
   */
  journal?: Journal | undefined;
  /**
   * For `createOnce`: how long after its deadline a request may still take effect, in milliseconds.
   * Choose more than your processes may be suspended. With `Infinity`, `createOnce` resends no
   * payment in doubt before an operator decides. @default 900000
   */
  gracePeriod?: number | undefined; // How long a request may still take effect is not documented: docs/gaps.md, row 61
  /**
   * What your platform does beyond the API reference; `payments-probe` prints the fields to paste.
   * `withOptions` replaces each field that is not undefined.
   * @default none of the fields
   */
  platform?: PlatformFacts | undefined;
  /**
   * Permits http, without TLS, to a host other than this machine, such as a sandbox in a container.
   * The network can then read the credentials. @default false
   */
  allowHttp?: boolean | undefined;
  /** The clock and the timers that the client uses. Replace them in tests. @default the system's */
  clock?: Clock | undefined;
}

const checkUrl = (end: string, allowHttp: unknown): OptionCheck =>
  checkBy((value) =>
    value === undefined ? undefined : findUrlProblem(value, end, allowHttp === true),
  );

const checkCredential = (kind: CredentialKind): OptionCheck =>
  checkBy((source) =>
    source === undefined || source === null || typeof source === 'function'
      ? undefined
      : findCredentialProblem(kind, source),
  );

/** The key that marks a sandbox's fetch. It is global, because the sandbox does not import the client. */
const sandboxMark = Symbol.for('payments-platform-sdk:sandbox');

function describeFetchProblem(fetch: unknown, { baseUrl }: ClientOptions) {
  if (fetch === undefined) return undefined;
  if (typeof fetch !== 'function') return { expected: 'a function' };
  // With a sandbox's fetch and a platform's URL, a test would believe that it pays in production,
  // or the production journal would record payments that were not made.
  const isElsewhere =
    sandboxMark in fetch && URL.canParse(String(baseUrl)) && !isTestUrl(String(baseUrl));
  return isElsewhere
    ? 'it is the fetch of a sandbox, and baseUrl is that of a platform; pass all of sandbox.clientOptions, or another fetch'
    : undefined;
}

/** Describes why this client could not use the option `agent`; undefined if it could. */
function describeAgentProblem(agent: unknown, { fetch, baseUrl, rootUrl }: ClientOptions) {
  if (agent === undefined) return undefined;
  // Agents of undici, the library behind Node's fetch, do not work with node:http.
  if (!hasFunctions(agent, ['createConnection', 'destroy'])) {
    return { expected: 'an Agent of node:https or node:http' };
  }
  if (fetch !== undefined) return 'the option fetch would not use it; leave one of the two out';
  if (runtime() !== 'node') return 'it works on Node.js only';
  // An agent for a proxy has no own field `protocol`, because such an agent serves http and https.
  const protocol: unknown = Object.getOwnPropertyDescriptor(agent, 'protocol')?.value;
  if (typeof protocol !== 'string') return undefined;
  const fits = [baseUrl, rootUrl].every((url) => (url ?? protocol).startsWith(protocol));
  return fits ? undefined : `it is one for ${protocol}, and the platform has another protocol`;
}

const isClock = (clock: unknown): boolean =>
  hasFunctions(clock, ['now', 'setTimeout', 'clearTimeout']);

const hookChecks: OptionChecks<Hooks> = {
  onRequest: callable,
  onResponse: callable,
  onRetry: callable,
  onWait: callable,
  onDrift: callable,
  onCall: callable,
  onOnce: callable,
};

const clientOptionChecks = (options: ClientOptions): OptionChecks<ClientOptions> => ({
  baseUrl: checkUrl('/v0', options.allowHttp),
  rootUrl: checkUrl('', options.allowHttp),
  allowHttp: isBoolean,
  apiKey: checkCredential('apiKey'),
  jwt: checkCredential('jwt'),
  timeout: milliseconds,
  totalTimeout: milliseconds,
  maxRetries: retries,
  headers,
  fetch: checkBy((fetch) => describeFetchProblem(fetch, options)),
  getWithBody: callable,
  agent: checkBy((agent) => describeAgentProblem(agent, options)),
  validation: optionalCheck(
    "'strict' or 'report'",
    (value) => value === 'strict' || value === 'report',
  ),
  authorize: callable,
  hooks: (value, at, issues) => {
    if (value !== undefined) fields(hookChecks)(value, at, issues);
  },
  journal: journalCheck(),
  gracePeriod: millisecondsOrInfinity,
  platform: platformCheck,
  clock: optionalCheck('an object with the functions now, setTimeout and clearTimeout', isClock),
});

/** The environment variables that set client options, by the name of the option. */
const variables: Readonly<Record<string, string>> = {
  baseUrl: 'PAYMENTS_BASE_URL',
  rootUrl: 'PAYMENTS_ROOT_URL',
  apiKey: credentialNames.apiKey.variable,
  jwt: credentialNames.jwt.variable,
} satisfies Partial<Record<keyof ClientOptions, string>>;

/**
 * Throws ConfigurationError if the client options are not a plain object, because a copy would lose
 * inherited fields. The key of the environment or of the cloned client, perhaps another tenant's,
 * would then replace a lost `apiKey`.
 */
export function requirePlain(options: unknown): void {
  if (isPlainObject(options)) return;
  throw configurationError([
    `Invalid options: ${describeArrival(options)}; expected a plain object, such as { baseUrl, apiKey }.`,
  ]);
}

/**
 * Throws ConfigurationError if `apiKey`, `jwt` or `journal` in `withOptions` is undefined, because
 * a tenant was probably not found. The clone would pay with the original client's credential.
 */
export function requireDefined(options: ClientOptions): void {
  const missing = (['apiKey', 'jwt', 'journal'] as const).filter(
    (name) => Object.hasOwn(options, name) && options[name] === undefined,
  );
  if (missing.length === 0) return;
  const problems = missing.map(
    (name) =>
      `Invalid option ${name} in withOptions: got undefined; the clone would use that of its client.`,
  );
  const hint = 'Leave the option out to keep it. Use null to remove a credential.';
  throw configurationError([...problems, hint]);
}

/** Reads the client options in environment variables once, so that later changes have no effect. */
export const readEnvironment = (): ClientOptions =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, variable]) => {
      // Trim the value, because a variable that was read from a file often ends with a line break.
      const value = readVariable(variable)?.trim();
      return value ? [[name, value] as const] : [];
    }),
  );

/**
 * Adds the options of the environment. PAYMENTS_ROOT_URL is ignored if the caller passes a
 * `baseUrl`, because the JWT could go to the wrong platform.
 */
export const addEnvironment = (environment: ClientOptions, options: ClientOptions) => ({
  ...environment,
  ...(options.baseUrl === undefined ? {} : { rootUrl: undefined }),
  ...dropUndefined(options),
});

/**
 * Checks the client options, and returns them with the defaults of those that are left out. The
 * error names each invalid option, but quotes no value except numbers.
 */
export function resolveOptions(options: ClientOptions) {
  const issues: DetailedIssue[] = [];
  fields(clientOptionChecks(options), findFact)(options, 'options', issues);
  const problems = issues.map(({ path, message, hint }) => {
    const name = path.slice('options.'.length);
    const value: unknown = Reflect.get(options, name);
    const place = describePlace(name, variables[name], value);
    return formatMessage({ what: `Invalid ${place}: ${message}`, hint });
  });
  const missing = findMissingGlobal();
  if (missing !== undefined) problems.push(missing);
  const { baseUrl = '', apiKey, jwt } = options;
  if (options.baseUrl === undefined) {
    problems.push(`No base URL: pass the option baseUrl, or set ${variables['baseUrl']}.`);
  }
  if ((apiKey ?? jwt ?? undefined) === undefined) {
    problems.push(
      `No credential: pass the option apiKey (${variables['apiKey']}), or for instructions and transactions jwt (${variables['jwt']}).`,
    );
  }
  if (problems.length > 0) throw configurationError(problems);
  const commonHeaders = lowerCased(options.headers);
  const platform = resolvePlatform(options.platform);
  const { idempotencyHeader } = platform;
  if (
    idempotencyHeader !== undefined &&
    Object.hasOwn(commonHeaders, idempotencyHeader.toLowerCase())
  ) {
    throw configurationError([
      `Invalid option headers: contains ${idempotencyHeader}; expected one key for each creation.\nPass it in options.headers of the call.`,
    ]);
  }
  const clock = clockFrom(options.clock);
  for (const [name, threshold] of Object.entries(secondsThresholds)) {
    const ms = options[name as keyof typeof secondsThresholds] ?? Number.POSITIVE_INFINITY;
    if (ms <= threshold) {
      warn(
        `payments-platform-sdk: the option ${name} is ${ms} milliseconds; were seconds meant?\nFor ${ms} seconds write ${ms}_000.`,
      );
    }
  }
  if (isUnreachable(baseUrl) && readVariable('NODE_ENV') === 'production') {
    warn(
      'payments-platform-sdk: NODE_ENV is production, and this client pays in a sandbox. Pass the baseUrl and the apiKey of the platform.',
    );
  }
  if (textComparison.test(String(options.authorize))) {
    warn(
      "payments-platform-sdk: authorize compares an amount as text, by which '100000.00' is less than '9999.99'.\nCompare it by compareAmounts(amount, '9999.99') <= 0.",
    );
  }
  const versionedUrl = withoutSlash(baseUrl);
  return {
    baseUrl: versionedUrl,
    rootUrl: withoutSlash(options.rootUrl ?? versionedUrl.slice(0, versionedUrl.lastIndexOf('/'))),
    apiKey: apiKey ?? undefined,
    jwt: jwt ?? undefined,
    timeout: options.timeout ?? defaultTimeout,
    totalTimeout: options.totalTimeout ?? defaultTotalTimeout,
    maxRetries: options.maxRetries ?? 2,
    headers: commonHeaders,
    fetch: options.fetch,
    getWithBody: options.getWithBody,
    agent: options.agent,
    validation: options.validation ?? 'report',
    authorize: options.authorize,
    hooks: withLogging(options.hooks ?? {}, clock),
    journal: options.journal,
    gracePeriod: options.gracePeriod ?? defaultGracePeriod,
    platform,
    clock,
  };
}

/** If an option is at most this many milliseconds, the caller probably meant seconds. */
const secondsThresholds = { timeout: 120, totalTimeout: 120, gracePeriod: 900 };

/**
 * Matches a comparison such as `amount <= '9999.99'` in the source text of `authorize`. A match
 * only causes a warning.
 */
const textComparison =
  /(?<!\+ ?[\w.]*)\bamount\s*[<>]=?\s*['"`][\d$]|[\d}]['"`]\s*[<>]=?\s*[\w.]*\bamount\b/;

const configurationError = (problems: readonly string[]): ConfigurationError =>
  new ConfigurationError(redactor([])([...problems, 'See docs/reference.md.'].join('\n')), {
    outcome: 'not_sent',
  });

/**
 * Describes what is wrong with a base URL, without quoting the URL; undefined if nothing is. The
 * path of the URL must end in `end`.
 */
function findUrlProblem(value: unknown, end: string, allowHttp: boolean): Problem | undefined {
  const expected = `a URL such as https://api.example.com${end}`;
  if (typeof value !== 'string') return { expected };
  if (!/^https?:\/\//i.test(value)) {
    return { got: 'a string without "https://"', expected };
  }
  if (!URL.canParse(value)) return { got: 'a string that is not a URL', expected };
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    return { got: 'a URL with a user name or password', expected: 'none' };
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(value)) {
    return { got: 'a URL with a query or a fragment', expected: 'none' };
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    return {
      got: 'http, which shows the credential to the network',
      expected: 'https',
      hint: 'For a sandbox in a container, allowHttp: true permits it',
    };
  }
  // Check the end of the path, not of the URL, because `https://v0` has a host that is called v0.
  if (!new URL(withoutSlash(value)).pathname.endsWith(end)) {
    return { got: `no final ${end}`, expected };
  }
  return undefined;
}

/** Removes slashes from the end of a URL, so that a path can be appended. */
function withoutSlash(text: string): string {
  const { origin, pathname } = new URL(text);
  return trimTrailingSlashes(`${origin}${pathname}`);
}

/** Whether a URL may belong to a sandbox, because its host is this machine or cannot exist. */
const isTestUrl = (url: string): boolean => isLoopback(new URL(url).hostname) || isUnreachable(url);

/** Whether the host of a URL cannot exist, so that only the sandbox in this process can respond. */
export const isUnreachable = (url: string): boolean => new URL(url).hostname.endsWith('.invalid');
