import { forgetPlatform } from '../internal/doubt-registry.ts';
import { isPlainObject } from '../internal/objects.ts';
import { findMissingGlobal, maxTimerMs, warn } from '../internal/runtime.ts';
import {
  errorReply,
  successReply,
  toResponse,
  type Caller,
  type Reply,
  type SandboxReply,
} from './api/responses.ts';
import { readBody, type Call } from './api/calls.ts';
import { authorise, resolveCredentials, parseAuthorization } from './api/credentials.ts';
import { createNoRouteReply, findRoutes, createWrongBaseReply, type Route } from './api/routes.ts';
import {
  applyFault,
  defaultDelayMs,
  FaultQueue,
  getPageFault,
  type SandboxFaults,
} from './faults/faults.ts';
import {
  checkHostName,
  checkOptionNames,
  checkWholeNumber,
  type SandboxOptions,
} from './options.ts';
import { Log, type SandboxLogEntry } from './log.ts';
import { parseState, type SandboxState } from './state.ts';
import { SandboxAccounts } from './platform/accounts.ts';
import type { SandboxChange } from './platform/changes.ts';
import { SandboxCounterparties } from './platform/counterparties.ts';
import { SandboxEntities } from './platform/entities.ts';
import { SandboxIbans } from './platform/ibans.ts';
import type { IdName } from './platform/ids.ts';
import { SandboxInstructions } from './platform/instructions.ts';
import { enableAutoAdvance } from './platform/auto-advance.ts';
import { Platform } from './platform/platform.ts';
import { SandboxError } from './platform/sandbox-error.ts';
import { SandboxSettings } from './platform/settings.ts';
import { maxClockAdvanceMs, exportPlatformState, restoreState } from './platform/state.ts';
import { listOrders } from './platform/table.ts';
import { SandboxTransactions } from './platform/transactions.ts';
import { SandboxTransfers } from './platform/transfers.ts';
import { Webhooks } from './webhooks/webhooks.ts';

/**
 * An observer that keeps the state of a sandbox beyond its process, such as in a file.
 * @internal
 */
export interface StateObserver {
  /** Called when the state of the sandbox may have changed. */
  onChange(): void;
  /** Called before a number is assigned to an id, so that a file can reserve it; see ids.ts. */
  reserve(name: IdName, number: number): void;
}

const ignoredKeyWarning =
  'payments-platform-sdk: the sandbox ignores the header Idempotency-Key, which the API reference does not document. Two requests with one key make two payments: use createOnce.';

/** A request to a sandbox, for {@link Sandbox.handle}. */
interface SandboxRequest {
  /** The HTTP method of the request. */
  method: string;
  /** An absolute URL. The sandbox ignores the host and any prefix of the path. */
  url: string;
  /** The headers of the request. The sandbox reads `authorization`, and warns of `idempotency-key`. */
  headers: Headers;
  /** Whether a prefix before the API's path leads to a 404, as on a server. @default false */
  atRoot?: boolean | undefined;
  /** The text of the request body; undefined or empty if there is none. */
  body?: string | undefined;
  /** If this signal aborts, the wait of a `delay` fault or of the option `latency` ends. */
  signal?: AbortSignal | undefined;
}

/** Options for a `PaymentsClient` that calls a sandbox without a network. */
export interface SandboxClientOptions {
  /** URL of the versioned API, which ends in `/v0`. In process, its host exists in no network. */
  readonly baseUrl: string;
  /** The URL of the instruction and transaction endpoints. */
  readonly rootUrl: string;
  /** The API key, for the endpoints under `/v0`. */
  readonly apiKey: string;
  /** The JWT, for the instruction and transaction endpoints. */
  readonly jwt: string;
  /** The {@link Sandbox.fetch} of the sandbox, by which the client sends its requests. */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  /** The {@link Sandbox.getWithBody} of the sandbox, for each GET that has a body. */
  readonly getWithBody: (input: Request | URL | string, body: string) => Promise<Response>;
  /** With `strict`, a response of undocumented shape throws, so tests notice the difference. */
  readonly validation: 'strict';
}

/**
 * A Platform in memory. A new sandbox is empty, keeps the data of all calls, and behaves the same
 * in every run: ids count up (`ent_000001`), and all time comes from `clock`.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 *
 * const sandbox = new Sandbox();
 * const payments = new PaymentsClient(sandbox.clientOptions);
 * await payments.entities.create({ email: 'ada@example.com' });
 * console.log(sandbox.entities.list(), sandbox.log);
 * ```
 */
export class Sandbox {
  /** Methods for Entities (individuals and businesses) and their verification. */
  readonly entities: SandboxEntities;
  /** Methods for Accounts and the money in them. */
  readonly accounts: SandboxAccounts;
  /** Methods for Transfers and their steps to a final status. */
  readonly transfers: SandboxTransfers;
  /** Methods for Counterparties, which only the sandbox can create. */
  readonly counterparties: SandboxCounterparties;
  /** Methods for IBANs, which only the sandbox can create, and for deposits to them. */
  readonly ibans: SandboxIbans;
  /** Methods for the Settings, which only the sandbox can read. */
  readonly settings: SandboxSettings;
  /** Methods for Instructions and their execution on chain. */
  readonly instructions: SandboxInstructions;
  /** Methods for the transactions that Instructions made. */
  readonly transactions: SandboxTransactions;
  /** Faults that the sandbox simulates, such as a broken connection. */
  readonly faults: SandboxFaults;
  /** The API key that the endpoints under `/v0` accept. */
  readonly apiKey: string;
  /** The JWT that the instruction and transaction endpoints accept. */
  readonly jwt: string;
  /** The {@link SandboxClientOptions} for `new PaymentsClient(…)`, which then needs no network. */
  readonly clientOptions: SandboxClientOptions;

  readonly #platform: Platform;
  readonly #faults = new FaultQueue();
  readonly #log: Log;
  readonly #latency: number;
  #start: SandboxState | undefined;
  readonly #webhooks: Webhooks;

  /**
   * Creates an empty sandbox. The {@link SandboxOptions} are all optional.
   * @throws TypeError when an option does not exist or is out of range.
   */
  constructor(options: SandboxOptions = {}) {
    checkOptionNames(options);
    const runtimeProblem = findMissingGlobal();
    if (runtimeProblem !== undefined) throw new TypeError(runtimeProblem);
    const { clock, pageSize = 50, listOrder = 'oldest_first', webhook } = options;
    const { autoAdvance, latency = 0 } = options;
    checkWholeNumber('pageSize', pageSize, 1, 100);
    if (!listOrders.includes(listOrder)) {
      throw new TypeError(`The listOrder of a sandbox must be one of ${listOrders.join(', ')}.`);
    }
    if (autoAdvance !== undefined) checkWholeNumber('autoAdvance', autoAdvance, 1, maxTimerMs);
    checkWholeNumber('latency', latency, 0, maxTimerMs);
    const { apiKey, jwt } = resolveCredentials(options);
    this.apiKey = apiKey;
    this.jwt = jwt;
    const platform = new Platform(clock, pageSize, listOrder, autoAdvance);
    enableAutoAdvance(platform);
    this.#platform = platform;
    this.#log = new Log(() => platform.ids.next('log'));
    this.#webhooks = new Webhooks(
      { platform, faults: this.#faults, log: this.#log, secrets: [apiKey, jwt] },
      webhook,
      options.webhookHosts?.map(checkHostName),
    );
    platform.changes.onChange((makeChange) => {
      this.#webhooks.add(makeChange);
    });
    this.#latency = latency;
    this.entities = new SandboxEntities(platform);
    this.accounts = new SandboxAccounts(platform);
    this.transfers = new SandboxTransfers(platform);
    this.counterparties = new SandboxCounterparties(platform);
    this.ibans = new SandboxIbans(platform);
    this.settings = new SandboxSettings(platform);
    this.instructions = new SandboxInstructions(platform);
    this.transactions = new SandboxTransactions(platform);
    this.faults = this.#faults;
    // The client finds this mark and rejects a sandbox's fetch if the URL is a real platform's.
    Object.defineProperty(this.fetch, Symbol.for('payments-platform-sdk:sandbox'), { value: true });
    const baseUrl = 'https://sandbox.invalid/v0';
    forgetPlatform(baseUrl);
    this.clientOptions = {
      baseUrl,
      rootUrl: 'https://sandbox.invalid',
      apiKey,
      jwt,
      fetch: this.fetch,
      getWithBody: this.getWithBody,
      validation: 'strict',
    };
  }

  /** The latest 10,000 entries ({@link SandboxLogEntry}), oldest first. */
  get log(): readonly SandboxLogEntry[] {
    return this.#log.entries;
  }

  /**
   * Calls the listener with each entry of the log, when its request or webhook delivery has ended.
   * Returns a function that removes the listener.
   */
  onLog(listener: (entry: SandboxLogEntry) => void): () => void {
    return this.#log.onEntry(listener);
  }

  /**
   * Calls the listener with each complete {@link SandboxChange} of a record, except for a reset or
   * an import. Returns a function that removes the listener.
   * @example
   * ```ts
   * import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
   * const sandbox = seedDemo(new Sandbox());
   * sandbox.onChange(({ type, after }) => console.log(type, after));
   * sandbox.transfers.advance('txfr_000001');
   * ```
   */
  onChange(listener: (change: SandboxChange) => void): () => void {
    return this.#platform.changes.onChange((makeChange) => {
      listener(makeChange());
    });
  }

  /**
   * The latest 10,000 changes of records, oldest first.
   * @internal
   */
  listChanges(): SandboxChange[] {
    return this.#platform.changes.list();
  }

  /**
   * Calls the listener at every reset of the sandbox. Returns a function that removes the listener.
   * @internal
   */
  onReset(listener: () => void): () => void {
    this.#log.onClear.add(listener);
    return () => void this.#log.onClear.delete(listener);
  }

  /**
   * Advances the sandbox's clock. Status changes by `autoAdvance` and webhook deliveries that are
   * then due happen at once.
   * @param ms milliseconds, 0 or more.
   * @throws TypeError for anything else.
   */
  advanceClock(ms: number): void {
    checkWholeNumber('advanceClock', ms, 0, maxClockAdvanceMs);
    this.#platform.clock.offset += ms;
    this.#platform.schedule.handleClockChange();
  }

  /** The present time of the sandbox's clock, and how far the clock was advanced. */
  get time(): { now: string; offsetMs: number } {
    const { clock } = this.#platform;
    return { now: clock.toIsoNow(), offsetMs: clock.offset };
  }

  /**
   * Empties the sandbox: records, Settings, faults, the log, and the offset of the clock. The
   * numbers of ids continue, so that no id is used twice.
   */
  reset(): void {
    forgetPlatform(this.clientOptions.baseUrl);
    this.#faults.clear();
    this.#log.clear();
    this.#platform.changes.clear();
    this.#webhooks.clear();
    restoreState(this.#platform, parseState({ version: 1 }));
    this.#platform.notifyChange();
  }

  /**
   * Stores the state with which the sandbox starts, by default the present state. Only the first
   * call has an effect.
   * @internal
   */
  setStart(state: SandboxState = { ...this.exportState(), faults: this.#faults.list() }): void {
    this.#start ??= state;
  }

  /**
   * Empties the sandbox and restores the state with which it started: the same records with the
   * same ids.
   * @internal
   */
  restoreStart(): void {
    this.reset();
    if (this.#start !== undefined) this.importState(this.#start);
  }

  /** Returns the {@link SandboxState} as JSON can carry it, without the log and fault rules with a `percent`. */
  exportState(): SandboxState {
    const faults = this.#faults.list().filter(({ percent }) => percent === undefined);
    return { ...exportPlatformState(this.#platform), faults };
  }

  /**
   * Replaces the state of the sandbox; the log and fault rules with a `percent` stay. New ids
   * continue after the highest id in either state.
   * @throws SandboxError that names the problem and its place; the state is then unchanged.
   */
  importState(state: unknown): void {
    const { faults, ...rest } = parseState(state);
    const chanceRules = this.#faults.list().filter(({ percent }) => percent !== undefined);
    this.#faults.clear();
    for (const faultRule of [...chanceRules, ...faults]) this.#faults.add(faultRule);
    this.#webhooks.clear();
    restoreState(this.#platform, rest);
    this.#platform.notifyChange();
  }

  /**
   * Sets the observer that keeps the state of the sandbox after its process ends.
   * @internal
   */
  observeState(observer: StateObserver): void {
    this.#platform.notifyChange = () => {
      observer.onChange();
    };
    this.#platform.ids.reserve = (name, number) => {
      observer.reserve(name, number);
    };
  }

  /**
   * Makes the status changes and webhook deliveries that are due at the present time. A control
   * endpoint calls this method before it reads the state.
   * @internal
   */
  runDueSteps(): void {
    this.#platform.schedule.runDueSteps();
  }

  /**
   * Tells the observer that a control endpoint may have changed the state of the sandbox.
   * @internal
   */
  notifyChange(): void {
    this.#platform.notifyChange();
  }

  /**
   * Responds as `fetch` does, and needs no `this`. A call takes effect shortly before its response,
   * so an abort in between undoes nothing.
   * @throws TypeError `fetch failed` for a `reset` fault; the signal's reason when it aborts.
   */
  readonly fetch = async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
    // Bun.serve passes its server as the second argument, and a server is no `init`.
    const isRequest = typeof input === 'object' && 'headers' in input;
    const settings = isRequest && !isPlainObject(init) ? undefined : init;
    const request = new Request(input, settings);
    const signal = settings?.signal ?? request.signal;
    return this.#respond({ request, signal, origin: input }, await request.text());
  };

  /**
   * Responds to a GET with a body, because `fetch` cannot send this body. Needs no `this` either.
   * @throws what {@link Sandbox.fetch} throws.
   */
  readonly getWithBody = async (input: Request | URL | string, body: string): Promise<Response> => {
    const request = new Request(input);
    return this.#respond({ request, signal: request.signal, origin: input }, body);
  };

  /**
   * Performs a request to the sandbox and returns the response. The sandbox's `fetch`, server and
   * msw handlers all use this method.
   * @throws the signal's reason when it aborts during a wait.
   * @internal
   */
  async handle(request: SandboxRequest): Promise<SandboxReply> {
    const platform = this.#platform;
    platform.schedule.runDueSteps();
    const started = platform.clock.now();
    const url = new URL(request.url);
    // The candidates are the routes of this path, with any method.
    const { candidates, prefix, id } = findRoutes(url.pathname);
    // A server has no prefix before the paths of the API, but `fetch` accepts any.
    const isMisplaced = request.atRoot === true && prefix !== '';
    const route = isMisplaced
      ? undefined
      : candidates.find(({ method }) => method === request.method);
    const fault = this.#faults.take(route, url.searchParams.has('cursor'));
    const token = parseAuthorization(request.headers.get('authorization'));
    const body = readBody(request.body);
    if (request.headers.has('idempotency-key')) warn(ignoredKeyWarning);
    const requestId = `req_${String(platform.ids.next('requests')).padStart(6, '0')}`;
    const completeEntry = this.#log.add(
      {
        time: started.toISOString(),
        method: request.method,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        body: request.body,
        operation: route?.operation,
        requestId,
        fault: fault?.kind,
      },
      [this.apiKey, this.jwt],
      token,
    );
    let created: string | undefined;
    const onCreated = (recordId: string) => (created = recordId);
    // A fault decides whether this function is called, and so whether the call takes effect.
    const perform = () => {
      if (isMisplaced) return createWrongBaseReply(url.pathname, prefix);
      return route === undefined
        ? createNoRouteReply(request.method, url.pathname, candidates)
        : this.#perform(route, token, onCreated, {
            platform,
            operation: route.operation,
            id,
            params: url.searchParams,
            body,
            pageFault: getPageFault(fault),
          });
    };
    // For the log: these stay as they are if a fault prevents the response.
    let status: number | undefined;
    let responseBody: string | null = null;
    try {
      const response: SandboxReply =
        fault === undefined ? { kind: 'complete', ...perform() } : applyFault(fault, perform);
      // Report a change, because a fault may use up its rule, and any method but GET may change the records.
      if (fault !== undefined || (route !== undefined && route.method !== 'GET')) {
        platform.notifyChange();
      }
      const wait = this.#latency + (fault?.kind === 'delay' ? (fault.ms ?? defaultDelayMs) : 0);
      if (wait > 0) await platform.clock.wait(wait, request.signal);
      if (!('status' in response)) return response;
      ({ status, body: responseBody } = response);
      const date = platform.clock.now().toUTCString();
      return { ...response, headers: { date, 'x-request-id': requestId, ...response.headers } };
    } finally {
      const ms = platform.clock.now().getTime() - started.getTime();
      completeEntry({ ms, status, response: responseBody ?? undefined, created });
    }
  }

  /**
   * Performs an operation, and returns its response or, if the sandbox rejects the call, the error
   * response. `onCreated` receives the id of the record that the operation creates.
   */
  #perform(
    route: Route,
    token: string | undefined,
    onCreated: (id: string) => void,
    call: Call,
  ): Reply {
    try {
      authorise(route.api, token, this);
      const value = route.run(call);
      // Every operation with status 201 returns the record that it created.
      if (route.status === 201) onCreated((value as { id: string }).id);
      return successReply(route.status, value);
    } catch (problem) {
      // Any error but a SandboxError is a defect of the sandbox or of its clock, and must not
      // become a response of the API.
      if (problem instanceof SandboxError) return errorReply(problem);
      throw problem;
    }
  }

  async #respond(caller: Caller, body: string): Promise<Response> {
    const { method, url, headers } = caller.request;
    const { signal } = caller;
    // A request whose signal aborted before it arrived never takes effect.
    signal.throwIfAborted();
    return toResponse(await this.handle({ method, url, headers, body, signal }), caller);
  }
}
