import { invalidArguments } from './arguments.ts';
import { dropUndefined } from '../internal/objects.ts';
import { readResponse, toResponse, type AttemptOutcome, type Success } from './response.ts';
import { sendAttempt, stopFailure, createHookCall, type CallState } from './attempt.ts';
import { identity, type Call, type CallRequest, type PreparedRequest } from './call.ts';
import { askAuthorize, type Authorize } from './authorize.ts';
import type { CreatedIds } from './created-ids.ts';
import { chooseTransport } from './choose-transport.ts';
import { type Clock, Deadline, Stopped } from './time.ts';
import {
  credentialFor,
  renewToken,
  tokenFor,
  type Credential,
  type CredentialKind,
} from './credential.ts';
import { captureCallSite, rejectFromCallSite } from '../errors/call-site.ts';
import { PaymentsError, withReference, type CallIdentity } from '../errors/errors.ts';
import type { Issue } from '../internal/issues.ts';
import { createCallError } from '../errors/call-error.ts';
import { requestIdOf } from '../errors/failed-response.ts';
import { isRejection, unexpectedFailure } from '../errors/failure.ts';
import { redactHeader, redactor, type Redact } from '../errors/redact.ts';
import { RateLimiterWaitTooLong, type RateLimiter } from './rate-limiter.ts';
import { callHook, type Hooks } from './hooks.ts';
import { prepare } from './prepare.ts';
import type { RequestOptions } from './options.ts';
import { planRetry, type RetryBudget } from './retry.ts';
import { watchCall, type WatchedCall } from './tracing.ts';
import { isReference } from '../internal/formats.ts';
import { showsAwaiting } from '../internal/runtime.ts';
import type { HttpAgent } from '../transports/agents.ts';
import type { Fetch, GetWithBody } from '../transports/transport.ts';

/** The result of a call with the raw response. */
export interface WithResponse<T> {
  /** The result of the call. */
  readonly data: T;
  /** The response; its body can still be read. */
  readonly response: Response;
}

/** A promise of a call's result that also gives access to the raw response. */
export interface ApiCall<T> extends Promise<T> {
  /** The result together with the raw response: status, headers, body. */
  withResponse(): Promise<WithResponse<T>>;
}

/** The settings for calls to one API of the platform. */
export interface PipelineSetup {
  readonly baseUrl: string;
  readonly credentialKind: CredentialKind;
  /** Undefined when the client has none: calls then fail before anything is sent. */
  readonly credential: Credential | undefined;
  /** All credentials of the client: a response may echo the other one. */
  readonly credentials: readonly Credential[];
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch | undefined;
  readonly getWithBody: GetWithBody | undefined;
  readonly agent: HttpAgent | undefined;
  readonly validation: 'strict' | 'report';
  readonly authorize: Authorize | undefined;
  readonly hooks: Hooks;
  readonly idempotencyHeader: string | undefined;
  readonly isErrorBody: (body: unknown) => boolean;
  readonly clock: Required<Clock>;
  readonly budget: RetryBudget;
  readonly rateLimiter: RateLimiter;
  readonly createdIds: CreatedIds;
}

/** The number of the last call, which links its events in hooks. */
let lastNumber = 0;

/** Runs calls: checks arguments, gets the credential, makes attempts, reads the response. */
export class RequestPipeline {
  readonly #setup: PipelineSetup;

  constructor(setup: PipelineSetup) {
    this.#setup = setup;
  }

  /** Removes the client's credentials, and strings that look like one, from a string. */
  readonly redact: Redact = (text) => redactor(this.#getSecrets())(text);
  /** Removes only the client's credentials, for data of the caller. */
  readonly redactOwn: Redact = (text) => redactor(this.#getSecrets(), [])(text);

  #getSecrets(): string[] {
    return this.#setup.credentials.flatMap(({ secrets }) => secrets);
  }

  /** Prepares a call without sending it. Undefined if an argument is invalid: then `issues` has what is wrong. */
  check(
    call: CallRequest,
    options: RequestOptions | undefined,
    issues: Issue[],
  ): PreparedRequest | undefined {
    const prepared = prepare(call, options, this.#setup, issues);
    if (prepared !== undefined) credentialFor(call, this.#setup);
    return prepared;
  }

  /** Starts a call. All errors reject the promise; none is thrown synchronously. */
  call<T, A = T>(
    call: Call<T, A>,
    options: RequestOptions | undefined,
    cancel?: AbortSignal,
    site = call.kind === 'safe' && showsAwaiting() ? undefined : captureCallSite(),
  ): ApiCall<T> {
    const { within } = call;
    const run =
      within === undefined
        ? this.watch(identity(call), undefined, (watched) =>
            this.#run(call, options, cancel, watched),
          )
        : this.#run(call, options, cancel, within);
    const success = site === undefined ? run : rejectFromCallSite(site, run);
    const data = success.then((result) => result.data);
    return Object.assign(data, {
      withResponse: () => {
        // The caller has only the new promise, so a rejection of `data` would be unhandled.
        data.catch(() => undefined);
        const withResponse = success.then((result) => ({
          data: result.data,
          response: toResponse(result.response),
        }));
        return rejectFromCallSite(site ?? captureCallSite(), withResponse);
      },
    });
  }

  /** The reference of a payment as errors and events show it; undefined if it is invalid. */
  showReference(reference: unknown): string | undefined {
    return isReference(reference) ? this.redactOwn(reference) : undefined;
  }

  /** Runs a method of the client as one call, with all requests that it sends. */
  watch<T>(
    call: CallIdentity,
    reference: unknown,
    run: (watched: WatchedCall) => Promise<T>,
  ): Promise<T> {
    const shownReference = this.showReference(reference);
    return watchCall(
      this.#setup,
      call,
      shownReference,
      // The stack of a read would lose its caller.
      shownReference === undefined
        ? run
        : (watched) =>
            run(watched).catch((error: unknown) => {
              throw withReference(error, shownReference);
            }),
    );
  }

  async #run<T, A>(
    call: Call<T, A>,
    options: RequestOptions | undefined,
    cancel: AbortSignal | undefined,
    watched: WatchedCall,
  ): Promise<Success<T>> {
    const issues: Issue[] = [];
    const prepared = call.prepared ?? prepare(call, options, this.#setup, issues);
    if (prepared === undefined) throw invalidArguments(identity(call), issues, this.redact);
    const state = this.#createState(call, prepared, cancel, watched);
    const { authorize } = this.#setup;
    try {
      if (call.needsAuthorization === true && authorize !== undefined) {
        await askAuthorize(state, authorize);
      }
      return await this.#runAttempts(state);
    } catch (error) {
      throw toPaymentsError(error, state);
    } finally {
      state.total.close();
    }
  }

  /** Asks the option authorize about a payment that is sent later. */
  async authorize<T>(
    call: Call<T>,
    prepared: PreparedRequest,
    watched: WatchedCall,
  ): Promise<void> {
    const { authorize } = this.#setup;
    if (authorize === undefined) return;
    const state = this.#createState(call, prepared, undefined, watched);
    try {
      await askAuthorize(state, authorize);
    } catch (error) {
      throw toPaymentsError(error, state);
    } finally {
      state.total.close();
    }
  }

  /** Starts the time of a call with checked arguments. */
  #createState<T, A>(
    call: Call<T, A>,
    prepared: PreparedRequest,
    cancel: AbortSignal | undefined,
    watched: WatchedCall,
  ): CallState<Call<T, A>> {
    const credential = credentialFor(call, this.#setup);
    const transport = chooseTransport(call, prepared, this.#setup);
    const { options: callOptions } = prepared;
    const totalTimeout = callOptions.totalTimeout ?? this.#setup.totalTimeout;
    const tokens: string[] = [];
    return {
      call,
      watched,
      number: (lastNumber += 1),
      prepared,
      credential,
      transport,
      timeout: callOptions.timeout ?? this.#setup.timeout,
      totalTimeout,
      maxRetries: callOptions.maxRetries ?? this.#setup.maxRetries,
      total: new Deadline(this.#setup.clock, totalTimeout, 'total', {
        signals: [callOptions.signal, cancel],
        notAfter: call.notAfter,
      }),
      attempts: [],
      tokens,
      redact: (text) => redactor([...tokens, ...this.#getSecrets()])(text),
      startedAt: undefined,
    };
  }

  /** Makes attempts until there is a result or a reason to stop. */
  async #runAttempts<T, A>(state: CallState<Call<T, A>>): Promise<Success<T>> {
    const { call, credential, maxRetries, prepared, total } = state;
    const { budget, clock, rateLimiter, hooks } = this.#setup;
    // With a key that the platform honours, a repeat cannot take effect twice.
    const isKeyed = prepared.idempotencyKey !== undefined && call.idempotencyKey === undefined;
    const kind = isKeyed ? 'safe' : call.kind;
    let retries = 0;
    let hasRenewedToken = false;
    let lastCost: number | undefined;

    for (;;) {
      total.check();
      const token = credential.fixed ?? (await tokenFor(state, clock));
      // Checked first, because `await` costs a turn of the event loop.
      if (!rateLimiter.tryEnter()) {
        await rateLimiter.enter(total, state.timeout, (ms) => {
          const reason = 'the platform responded with 429';
          callHook(hooks, 'onWait', () => ({
            ...createHookCall(state),
            delayMs: Math.round(ms),
            reason,
          }));
        });
      }
      const attempt = await this.#attempt(state, token);
      if (attempt.ok) {
        budget.refund(lastCost);
        return attempt;
      }

      const { failure } = attempt;
      const isTokenRejected = failure.status === 401 && failure.outcome === 'rejected';
      if (isTokenRejected && credential.fixed === undefined && !hasRenewedToken) {
        // The platform's own 401 precedes processing, so one more attempt with a new token is safe for every kind.
        hasRenewedToken = true;
        const rejection = await renewToken(state, token, clock);
        if (rejection === undefined) continue;
        throw createCallError(failure, state, rejection);
      }
      const limits = { maxRetries, remaining: total.remaining, budget };
      const plan = planRetry(kind, failure, retries, limits);
      if (!plan.again) throw createCallError(failure, state, plan.note);
      retries += 1;
      lastCost = plan.cost;
      callHook(hooks, 'onRetry', () => ({
        ...createHookCall(state),
        delayMs: Math.round(plan.delayMs),
        reason: failure.reason,
      }));
      await total.sleep(plan.delayMs);
    }
  }

  /** Makes one attempt, and reports it to the hooks, the rate limiter and the list of attempts. */
  async #attempt<T, A>(state: CallState<Call<T, A>>, token: string): Promise<AttemptOutcome<T>> {
    const { clock, rateLimiter, hooks } = this.#setup;
    const { call, prepared, redact, transport, watched } = state;
    const event = createHookCall(state);
    watched.attempts += 1;
    state.tokens.push(token);
    state.startedAt ??= new Date(clock.now());
    callHook(hooks, 'onRequest', () => ({
      ...event,
      url: redact(prepared.url),
      headers: Object.fromEntries(
        Object.entries(prepared.headers).map(([name, value]) => [
          redact(name),
          redactHeader(name, value, redact),
        ]),
      ),
    }));
    const startedAt = clock.elapsed();
    const result = await sendAttempt(state, token, clock);
    if (result.ok && result.response.status === 200 && transport.flush !== undefined) {
      // The platform works on the next page while this response is parsed.
      if (call.prefetch?.(result.response.text) === true) await transport.flush();
    }
    const attempt = result.ok ? readResponse(state, result, this.#setup) : result;
    const durationMs = Math.round(clock.elapsed() - startedAt);
    if (attempt.ok) {
      const { response } = attempt;
      if (watched.isReported) {
        watched.requestId = requestIdOf(response.headers, redact) ?? watched.requestId;
      }
      callHook(hooks, 'onResponse', () => ({
        ...event,
        status: response.status,
        requestId: requestIdOf(response.headers, redact),
        durationMs,
        outcome: 'ok' as const,
        reason: undefined,
      }));
      return attempt;
    }
    const { failure } = attempt;
    if (isRejection(failure) && failure.status === 429) rateLimiter.close(startedAt, failure);
    const { outcome, status, requestId, reason } = failure;
    watched.requestId = requestId ?? watched.requestId;
    callHook(hooks, 'onResponse', () => ({
      ...event,
      status,
      requestId,
      durationMs,
      outcome,
      reason,
    }));
    state.attempts.push({
      outcome,
      ...dropUndefined({ status, requestId }),
      durationMs,
      reason,
    });
    return attempt;
  }
}

/** Converts an error from between the attempts or before the first. */
function toPaymentsError(error: unknown, state: CallState): PaymentsError {
  if (error instanceof PaymentsError) return error;
  if (error instanceof Stopped) return createCallError(stopFailure(error.why, state), state);
  if (error instanceof RateLimiterWaitTooLong) return createCallError(error.failure, state);
  return createCallError(unexpectedFailure(error, state.startedAt !== undefined), state);
}
