import { dropUndefined } from './internal/objects.ts';
import type { Clock } from './calls/time.ts';
import { Credential, type CredentialKind, type CredentialSource } from './calls/credential.ts';
import { ReportedValues } from './calls/undocumented-values.ts';
import { RateLimiter } from './calls/rate-limiter.ts';
import {
  addEnvironment,
  readEnvironment,
  requireDefined,
  requirePlain,
  resolveOptions,
  type ClientOptions,
} from './calls/client-options.ts';
import { type RequestOptions } from './calls/options.ts';
import { mergePlatform } from './calls/platform.ts';
import { Accounts } from './resources/accounts.ts';
import { Counterparties } from './resources/counterparties.ts';
import { Entities } from './resources/entities.ts';
import { Ibans } from './resources/ibans.ts';
import { Instructions } from './resources/instructions.ts';
import { createRequestCall, type AnyRequest } from './calls/raw-call.ts';
import { PlatformSettings } from './resources/settings.ts';
import { Transactions } from './resources/transactions.ts';
import { Transfers } from './resources/transfers.ts';
import { RetryBudget } from './calls/retry.ts';
import { RequestPipeline, type ApiCall } from './calls/pipeline.ts';
import { throwFromCallSite } from './errors/call-site.ts';
import { printShortly } from './errors/print.ts';
import { warnOfOldNode } from './internal/runtime.ts';

/** What requests to one API (`/v0` or the root) share: credential and rate limiter. */
interface ApiState {
  readonly credential: Credential | undefined;
  readonly rateLimiter: RateLimiter;
}

/** The state that a client made by `withOptions` shares with the client that it copies. */
interface SharedState {
  readonly budget: RetryBudget;
  readonly versioned: ApiState | undefined;
  readonly root: ApiState | undefined;
  readonly environment: ClientOptions;
}

/** Has the namespaces on its prototype, because Jest's automock looks for them only there. */
const Mockable = /* @__PURE__ */ (() =>
  // The cast is necessary, because TypeScript does not accept a plain function as a base class.
  Object.assign(function () {}, {
    prototype: {
      entities: Entities.prototype,
      accounts: Accounts.prototype,
      transfers: Transfers.prototype,
      counterparties: Counterparties.prototype,
      ibans: Ibans.prototype,
      settings: PlatformSettings.prototype,
      instructions: Instructions.prototype,
      transactions: Transactions.prototype,
    },
  }) as unknown as new () => object)();

/**
 * A client of the Payments Platform.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 *
 * const payments = new PaymentsClient(new Sandbox().clientOptions);
 * const entity = await payments.entities.create({ email: 'ada@example.com' });
 * console.log(entity.id, entity.kycStatus);
 * ```
 */
export class PaymentsClient extends Mockable {
  /** Methods for Entities, the individuals and businesses that own Accounts. */
  readonly entities: Entities;
  /** Methods for Accounts, which hold balances for Entities. */
  readonly accounts: Accounts;
  /** Methods for Transfers, the movements of funds. */
  readonly transfers: Transfers;
  /** Methods for Counterparties, the external wallets and bank accounts. */
  readonly counterparties: Counterparties;
  /** Methods for IBANs, the bank identifiers that accept deposits. */
  readonly ibans: Ibans;
  /** Methods for the configuration of the Platform. */
  readonly settings: PlatformSettings;
  /** Methods for Instructions, the on-chain automation. They need the option `jwt`. */
  readonly instructions: Instructions;
  /** Methods for the on-chain transactions of Instructions. They need the option `jwt`. */
  readonly transactions: Transactions;

  readonly #options: ClientOptions;
  readonly #urls: { readonly baseUrl: string; readonly rootUrl: string };
  readonly #shared: SharedState;
  readonly #versioned: RequestPipeline;
  readonly #root: RequestPipeline;

  /**
   * Creates a client from its options, and from environment variables for options that you leave
   * out. Reads both once.
   * @throws {@link ConfigurationError} which names the option and the variable, and shows no text of a value
   */
  constructor(options: ClientOptions = {}) {
    super();
    warnOfOldNode();
    printShortly();
    // If `withOptions` creates this client, the new client shares state with the client it copies.
    const inherited = inheritedState.get(options);
    throwFromCallSite(() => {
      requirePlain(options);
    });
    const environment = inherited?.environment ?? readEnvironment();
    // Copy the facts too, because the caller may change their object before `withOptions` reads it.
    this.#options = { ...options, platform: mergePlatform({}, options.platform) };
    const { rootUrl, apiKey, jwt, ...common } = throwFromCallSite(() =>
      resolveOptions(addEnvironment(environment, options)),
    );
    const { baseUrl, clock } = common;
    this.#urls = { baseUrl, rootUrl };
    const {
      budget = new RetryBudget(),
      versioned = createApiState('apiKey', apiKey, clock),
      root = createApiState('jwt', jwt, clock),
    } = inherited ?? {};
    this.#shared = { budget, versioned, root, environment };
    const credentials = [versioned.credential, root.credential].filter(
      (credential) => credential !== undefined,
    );
    const setup = { ...common, budget, credentials, reportedValues: new ReportedValues() };
    // Each pipeline has one base URL and one credential. The first sends to /v0 with the API key,
    // the second to the root URL with the JWT.
    this.#versioned = new RequestPipeline({ ...setup, credentialKind: 'apiKey', ...versioned });
    this.#root = new RequestPipeline({
      ...setup,
      baseUrl: rootUrl,
      credentialKind: 'jwt',
      ...root,
    });
    this.entities = new Entities(this.#versioned);
    this.accounts = new Accounts(this.#versioned);
    this.transfers = new Transfers(this.#versioned, common);
    this.counterparties = new Counterparties(this.#versioned);
    this.ibans = new Ibans(this.#versioned);
    this.settings = new PlatformSettings(this.#versioned);
    this.instructions = new Instructions(this.#root);
    this.transactions = new Transactions(this.#root);
    const resources: readonly unknown[] = Object.values(this);
    for (const owner of [this, ...resources]) bindMethods(owner as object);
    // `console.log` calls this function to print the client. The function is no method of the
    // class, because bundlers keep an unused class that has a method with a computed name.
    Object.defineProperty(this, Symbol.for('nodejs.util.inspect.custom'), {
      value: () => `PaymentsClient { baseUrl: '${baseUrl}', rootUrl: '${rootUrl}' }`,
    });
  }

  /**
   * A plain `PaymentsClient` with some options replaced; `null` removes a credential. The copy shares
   * the retry budget and, with the same credential source, the token.
   * @throws {@link ConfigurationError} also if `apiKey`, `jwt` or `journal` is undefined
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * console.log(payments.withOptions({ apiKey: 'sk_of_a_tenant' }).toJSON().baseUrl);
   * ```
   */
  withOptions(options: ClientOptions): PaymentsClient {
    throwFromCallSite(() => {
      requirePlain(options);
      requireDefined(options);
    });
    const platform = mergePlatform(this.#options.platform, options.platform);
    const merged: ClientOptions = { ...this.#options, ...dropUndefined(options), platform };
    // Each API's state (token, rate limiter) belongs to one credential, one address and one clock.
    const isUnchanged = (...names: (keyof ClientOptions)[]): boolean =>
      names.every((name) => merged[name] === this.#options[name]);
    const { budget, versioned, root, environment } = this.#shared;
    inheritedState.set(merged, {
      budget,
      environment,
      versioned: isUnchanged('apiKey', 'baseUrl', 'clock') ? versioned : undefined,
      root: isUnchanged('jwt', 'baseUrl', 'rootUrl', 'clock') ? root : undefined,
    });
    return throwFromCallSite(() => createClient(merged));
  }

  /**
   * Calls an endpoint that the SDK does not cover, with the SDK's credentials, deadlines, retries
   * and errors. `path` is relative to the base URL (`versioned`) or the root URL (`root`).
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const settings = await payments.request({
   *   method: 'PATCH',
   *   path: '/platform/settings',
   *   api: 'versioned',
   *   body: { defaultChain: 'base' },
   * });
   * console.log(settings);
   * ```
   */
  request<T = unknown>(request: AnyRequest<T>, options?: RequestOptions): ApiCall<T> {
    const pipeline = request?.api === 'root' ? this.#root : this.#versioned;
    return pipeline.call(createRequestCall(request, pipeline.redact), options);
  }

  /** What `JSON.stringify` shows of this client: its two URLs and no secret. */
  toJSON(): { baseUrl: string; rootUrl: string } {
    return { ...this.#urls };
  }
}

/**
 * `withOptions` calls this function, because the build renames a class that uses its own name. Not
 * `this.constructor`, because a subclass may take a tenant where this class takes options.
 */
const createClient = (options: ClientOptions): PaymentsClient => new PaymentsClient(options);

/** Binds all methods of an object, so that `const { create } = payments.transfers` works. */
function bindMethods(target: object): void {
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(target))) {
    const method: unknown = Reflect.get(target, name);
    if (name === 'constructor' || typeof method !== 'function') continue;
    const value: unknown = method.bind(target);
    Object.defineProperty(target, name, { value, writable: true, configurable: true });
  }
}

const createApiState = (
  kind: CredentialKind,
  source: CredentialSource | undefined,
  clock: Required<Clock>,
): ApiState => ({
  credential: source === undefined ? undefined : new Credential(kind, source, clock),
  rateLimiter: new RateLimiter(clock),
});

/** State for clients made by `withOptions`, in a WeakMap so that printed options do not show it. */
const inheritedState = new WeakMap<ClientOptions, SharedState>();
