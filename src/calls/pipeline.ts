import { invalidArguments, type Path } from './arguments.ts';
import { dropUndefined } from '../internal/objects.ts';
import {
  describeAttempt,
  readResponse,
  responseCheck,
  toResponse,
  type Success,
} from './response.ts';
import {
  createHookCall,
  createRequestEvent,
  sendAttempt,
  stopFailure,
  type RunningCall,
} from './attempt.ts';
import { identity, type Call, type CallRequest, type PreparedRequest } from './call.ts';
import { askAuthorize } from './veto.ts';
import { chooseTransport } from './choose-transport.ts';
import { Deadline, parseHttpDate, Stopped } from './time.ts';
import { failWithoutCredential, renewToken, tokenFor } from './credential.ts';
import {
  captureCallSite,
  rejectFromCallSite,
  showAwaiting,
  withCallSite,
  type CallSite,
} from '../errors/call-site.ts';
import { PaymentsError, withReference, type CallIdentity } from '../errors/errors.ts';
import type { Issue } from '../internal/issues.ts';
import { createCallError } from '../errors/call-error.ts';
import { isRejection, unexpectedFailure } from '../errors/failure.ts';
import type { Kind } from '../errors/outcome.ts';
import { redactor, type Redact } from '../errors/redact.ts';
import { RateLimiterWaitTooLong } from './rate-limiter.ts';
import { callHook } from './hooks.ts';
import { prepare } from './prepare.ts';
import type { RequestOptions } from './options.ts';
import { planRetry } from './retry.ts';
import type { PipelineSetup } from './setup.ts';
import { traceCall, type Trace } from './tracing.ts';
import { openRegistry } from '../internal/doubt-registry.ts';
import { isReference } from '../internal/formats.ts';
import { showsAwaiting } from '../internal/runtime.ts';
import type { Schema } from '../schemas/primitives.ts';
import type { Scan } from '../transports/transport.ts';

/** The result of a call with the raw response. */
export type WithResponse<T> = {
  /** The result of the call. */
  readonly data: T;
  /** The raw HTTP response. You can still read its body. */
  readonly response: Response;
};

/** A promise of a call's result that also gives access to the raw response. */
export interface ApiCall<T> extends Promise<T> {
  /** Returns the result together with the raw response: status, headers, body. */
  withResponse(): Promise<WithResponse<T>>;
}

/** Settings of a call that most calls leave out. */
export interface Circumstances {
  /** The method call that this request belongs to, such as a `createOnce`; absent if none. */
  readonly within?: Trace | undefined;
  /** A second signal that aborts the call, beside the caller's `options.signal`. */
  readonly cancel?: AbortSignal | undefined;
  /** Where the caller called the method. */
  readonly site?: CallSite;
  /** The function that the public method calls, to find the caller's stack frame. Default: `call`. */
  readonly below?: (...values: never[]) => unknown;
  /** Whether the client option `authorize` must permit the call before anything is sent. */
  readonly needsAuthorization?: boolean;
  /**
   * Called with the body of a 200 response before the SDK parses the body, so that a list can
   * request the next page early. Returns whether a request was sent.
   */
  readonly prefetch?: ((text: string) => boolean) | undefined;
  readonly scan?: Scan | undefined;
  /** How many milliseconds are left of `totalTimeout`, if the call is one of several of a method. */
  readonly timeLeft?: number | undefined;
  /** No attempt starts after this time of the wall clock, in milliseconds since 1970. */
  readonly notAfter?: number | undefined;
}

/** The number of the latest call. Events of hooks carry the number of their call. */
let lastNumber = 0;

export class RequestPipeline {
  readonly #setup: PipelineSetup;

  constructor(setup: PipelineSetup) {
    this.#setup = setup;
  }

  /** Removes the client's credentials, and what looks like a credential, from a string. */
  readonly redact: Redact = (text) => redactor(this.#getSecrets())(text);
  /** Removes only the client's own credentials, because the caller's data may look like one. */
  readonly redactOwn: Redact = (text) => redactor(this.#getSecrets(), [])(text);

  #getSecrets(): string[] {
    return this.#setup.credentials.flatMap(({ secrets }) => secrets);
  }

  /** The time of the platform at its latest successful response; undefined if there was none. */
  platformTime(): number | undefined {
    const time = parseHttpDate(openRegistry().dates.get(this.#setup.baseUrl) ?? null);
    return Number.isNaN(time) ? undefined : time;
  }

  /**
   * Drops the current token, so that the next call asks the credential function. Returns false if
   * there is no such function.
   */
  renewCredential(): boolean {
    const { credential } = this.#setup;
    credential?.forget();
    return credential !== undefined && credential.fixed === undefined;
  }

  /** Prepares a call without sending it. If an argument is invalid, returns undefined and `issues` says why. */
  check(call: CallRequest, options: RequestOptions | undefined, issues: Issue[]) {
    const prepared = prepare(call, options, this.#setup, issues);
    const { credential, credentialKind } = this.#setup;
    if (prepared !== undefined && credential === undefined) {
      failWithoutCredential(call, credentialKind);
    }
    return prepared;
  }

  read<T>(
    operation: string,
    path: Path,
    schema: Schema<T>,
    options: RequestOptions | undefined,
    circumstances?: Circumstances,
  ): ApiCall<T> {
    const response = responseCheck(schema);
    const call = { operation, kind: 'safe', method: 'GET', path, response } as const;
    // oxlint-disable-next-line typescript/unbound-method -- never called
    return this.call(call, options, { below: this.read, ...circumstances });
  }

  /**
   * Starts a call. Errors reject the promise and are never thrown synchronously, and `withResponse`
   * of the promise gives the data together with the HTTP response.
   */
  call<T, A = T>(
    call: Call<T, A>,
    options: RequestOptions | undefined,
    circumstances: Circumstances = {},
  ): ApiCall<T> {
    // oxlint-disable-next-line typescript/unbound-method -- never called
    const { within, below = this.call } = circumstances;
    const { site = call.kind === 'safe' && showsAwaiting() ? undefined : captureCallSite(below) } =
      circumstances;
    const checkAndRun = async (trace: Trace): Promise<Success<T>> => {
      try {
        const issues: Issue[] = [];
        const prepared = prepare(call, options, this.#setup, issues);
        if (prepared === undefined) throw invalidArguments(identity(call), issues, this.redact);
        return await this.#run(call, prepared, trace, circumstances);
      } catch (error) {
        if (site !== undefined) throw withCallSite(error, site);
        throw within === undefined ? showAwaiting(error, below, checkAndRun) : error;
      }
    };
    const success =
      within === undefined
        ? traceCall(this.#setup, identity(call), undefined, checkAndRun)
        : checkAndRun(within);
    const data = success.then((result) => result.data);
    return Object.assign(data, {
      withResponse: function withResponse() {
        // Handle a rejection of `data`, because the caller only gets the promise `withResponse`.
        data.catch(() => undefined);
        const both = success.then((result) => ({
          data: result.data,
          response: toResponse(result.response),
        }));
        return rejectFromCallSite(site ?? captureCallSite(withResponse, 0), both);
      },
    });
  }

  /** Sends a prepared call within the time that its method has left. */
  async send<T, A>(
    call: Call<T, A>,
    prepared: PreparedRequest,
    trace: Trace,
    time: Pick<Circumstances, 'timeLeft' | 'notAfter'>,
  ) {
    return (await this.#run(call, prepared, trace, time)).data;
  }

  /** Removes credentials from a reference, for errors and events; undefined if it is invalid. */
  showReference(reference: unknown): string | undefined {
    return isReference(reference) ? this.redactOwn(reference) : undefined;
  }

  /** Runs a method that may send several requests, so that hooks report one call. */
  trace<T>(call: CallIdentity, reference: unknown, run: (trace: Trace) => Promise<T>): Promise<T> {
    const shownReference = this.showReference(reference);
    return traceCall(
      this.#setup,
      call,
      shownReference,
      // Add a `catch` only if needed, because it drops the caller's line from an error's stack.
      shownReference === undefined
        ? run
        : (trace) =>
            run(trace).catch((error: unknown) => {
              throw withReference(error, shownReference);
            }),
    );
  }

  /** Sends a prepared call, after the option `authorize` has permitted it if necessary. */
  async #run<T, A>(
    call: Call<T, A>,
    prepared: PreparedRequest,
    trace: Trace,
    circumstances: Circumstances,
  ): Promise<Success<T>> {
    const running = this.#start(call, prepared, trace, circumstances);
    const { authorize } = this.#setup;
    try {
      if (circumstances.needsAuthorization === true && authorize !== undefined) {
        await askAuthorize(running, authorize);
      }
      return await this.#runAttempts(running);
    } catch (error) {
      const isUnknown = running.attempts.some(({ outcome }) => outcome === 'unknown');
      if (isUnknown) call.onUnknown?.(prepared.body ?? '');
      throw toPaymentsError(error, running);
    } finally {
      running.total.close();
    }
  }

  /** Asks the client option `authorize` about a payment that will be sent later. */
  async authorize<T>(
    call: Call<T>,
    prepared: PreparedRequest,
    trace: Trace,
    timeLeft: number,
  ): Promise<void> {
    const { authorize } = this.#setup;
    if (authorize === undefined) return;
    const running = this.#start(call, prepared, trace, { timeLeft });
    try {
      await askAuthorize(running, authorize);
    } catch (error) {
      throw toPaymentsError(error, running);
    } finally {
      running.total.close();
    }
  }

  /** Starts the deadline of a call, and collects what all its attempts share. */
  #start<T, A>(
    call: Call<T, A>,
    prepared: PreparedRequest,
    trace: Trace,
    { cancel, prefetch, scan, timeLeft, notAfter }: Circumstances,
  ): RunningCall<Call<T, A>> {
    const { options } = prepared;
    const totalTimeout = options.totalTimeout ?? this.#setup.totalTimeout;
    const tokens: string[] = [];
    return {
      call,
      trace,
      number: (lastNumber += 1),
      prepared,
      credential: this.#setup.credential ?? failWithoutCredential(call, this.#setup.credentialKind),
      transport: chooseTransport(call, prepared, this.#setup),
      timeout: options.timeout ?? this.#setup.timeout,
      totalTimeout,
      maxRetries: options.maxRetries ?? this.#setup.maxRetries,
      total: new Deadline(this.#setup.clock, timeLeft ?? totalTimeout, 'total', {
        signals: [options.signal, cancel],
        notAfter,
      }),
      prefetch,
      scan,
      attempts: [],
      tokens,
      redact: (text) => redactor([...tokens, ...this.#getSecrets()])(text),
      startedAt: undefined,
    };
  }

  /** Sends a call and retries it until an attempt succeeds or the SDK may not retry. */
  async #runAttempts<T, A>(running: RunningCall<Call<T, A>>): Promise<Success<T>> {
    const { credential, maxRetries, total } = running;
    const { budget, clock } = this.#setup;
    let retries = 0;
    let hasRenewedToken = false;
    /** What the latest retry took from the retry budget. A successful attempt gives it back. */
    let lastCost: number | undefined;
    for (;;) {
      total.check();
      const token = credential.fixed ?? (await tokenFor(running, clock));
      // Ask the rate limiter without `await` first, because `await` costs a turn of the event loop.
      if (!this.#setup.rateLimiter.tryEnter()) await this.#waitForRateLimit(running);
      running.call.beforeSending?.(running.prepared.body ?? '');
      const attempt = await this.#attempt(running, token);
      if (attempt.ok) {
        budget.refund(lastCost);
        return attempt;
      }

      const { failure } = attempt;
      const isTokenRejected = failure.status === 401 && failure.outcome === 'rejected';
      if (isTokenRejected && credential.fixed === undefined && !hasRenewedToken) {
        // The platform sends its own 401 before it processes a request, so one more attempt with a
        // new token is safe for every kind of call.
        hasRenewedToken = true;
        const noNewToken = await renewToken(running, token, clock);
        if (noNewToken === undefined) continue;
        throw createCallError(failure, running, noNewToken);
      }
      const limits = { maxRetries, remaining: total.remaining, budget };
      const plan = planRetry(retryKindOf(running), failure, retries, limits);
      if (!plan.again) throw createCallError(failure, running, plan.note);
      retries += 1;
      lastCost = plan.cost;
      this.#reportWait('onRetry', running, plan.delayMs, failure.reason);
      await total.sleep(plan.delayMs);
    }
  }

  #waitForRateLimit(running: RunningCall): Promise<void> {
    return this.#setup.rateLimiter.enter(running.total, running.timeout, (ms) => {
      this.#reportWait('onWait', running, ms, 'the platform responded with 429');
    });
  }

  #reportWait(hook: 'onRetry' | 'onWait', running: RunningCall, ms: number, reason: string): void {
    const delayMs = Math.round(ms);
    callHook(this.#setup.hooks, hook, () => ({ ...createHookCall(running), delayMs, reason }));
  }

  /**
   * Makes one attempt, and tells the hooks, the rate limiter and the list of attempts about it.
   * Returns a failure instead of throwing it.
   */
  async #attempt<T, A>(running: RunningCall<Call<T, A>>, token: string) {
    const { clock, rateLimiter, hooks } = this.#setup;
    const { redact, transport, trace } = running;
    trace.attempts += 1;
    running.tokens.push(token);
    running.startedAt ??= new Date(clock.now());
    callHook(hooks, 'onRequest', () => createRequestEvent(running));
    const startedAt = clock.elapsed();
    const result = await sendAttempt(running, token, clock);
    if (result.ok && result.response.status === 200 && transport.flush !== undefined) {
      // Request the next page of a list first, because the platform then works during the parsing.
      if (running.prefetch?.(result.response.text) === true) await transport.flush();
    }
    const attempt = result.ok ? readResponse(running, result, this.#setup) : result;
    const durationMs = Math.round(clock.elapsed() - startedAt);
    callHook(hooks, 'onResponse', () => ({
      ...createHookCall(running),
      ...describeAttempt(attempt, redact),
      durationMs,
    }));
    if (trace.isReported) {
      trace.requestId = describeAttempt(attempt, redact).requestId ?? trace.requestId;
    }
    if (attempt.ok) {
      const { date } = attempt.response;
      if (date) openRegistry().dates.set(this.#setup.baseUrl, date);
      return attempt;
    }
    const { failure } = attempt;
    if (isRejection(failure) && failure.status === 429) rateLimiter.close(startedAt, failure);
    const { outcome, status, requestId, reason } = failure;
    running.attempts.push({ outcome, ...dropUndefined({ status, requestId }), durationMs, reason });
    return attempt;
  }
}

/** A POST with an idempotency key is safe to repeat, except the POST of a `createOnce`. */
function retryKindOf({ call, prepared }: RunningCall): Kind {
  const isKeyed = prepared.idempotencyKey !== undefined && call.idempotencyKey === undefined;
  return isKeyed ? 'safe' : call.kind;
}

/** Converts an error that came before the first attempt, or between two, to a PaymentsError. */
function toPaymentsError(error: unknown, running: RunningCall): PaymentsError {
  if (error instanceof PaymentsError) return error;
  if (error instanceof Stopped) return createCallError(stopFailure(error.why, running), running);
  if (error instanceof RateLimiterWaitTooLong) return createCallError(error.failure, running);
  return createCallError(unexpectedFailure(error, running.startedAt !== undefined), running);
}
