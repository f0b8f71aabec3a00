import { readResponse, toResponse, type Ending, type Success } from './read-response.ts';
import { sendOnce, stopped } from './attempt.ts';
import { hookCallOf, type CallState } from './call-state.ts';
import type { Call, CallRequest } from './call.ts';
import { chooseTransport } from './choose-transport.ts';
import type { Clock } from './clock.ts';
import {
  credentialFor,
  renewToken,
  tokenFor,
  type Credential,
  type CredentialKind,
} from './credential.ts';
import { Deadline, Stopped } from './deadline.ts';
import { captureCallSite, rejectFromCallSite } from '../errors/call-site.ts';
import { PaymentsError } from '../errors/errors.ts';
import { errorOf } from '../errors/error-of.ts';
import { requestIdOf } from '../errors/failed-response.ts';
import { heldBackFailure, unexpectedFailure } from '../errors/failure.ts';
import { redactHeader, redactor, type Redact } from '../errors/redact.ts';
import { RateLimiterWaitTooLong, type RateLimiter } from './rate-limiter.ts';
import { callHook, type Hooks } from './hooks.ts';
import { prepare, type Prepared } from './prepare.ts';
import type { RequestOptions } from './request-options.ts';
import { planRetry, type RetryBudget } from './retry.ts';
import { showsAwaiting } from '../internal/runtime.ts';
import type { Fetch, GetWithBody } from '../transports/transport.ts';

/** What a call resolves to, and the raw answer beside it. */
export interface WithResponse<T> {
  /** What the call resolves to by itself. */
  readonly data: T;
  /** The answer as a Response whose body can still be read. */
  readonly response: Response;
}

/** A promise of a call's result that also gives access to the raw response. */
export interface ApiCall<T> extends Promise<T> {
  /** The result together with the raw response: status, headers, body. */
  withResponse(): Promise<WithResponse<T>>;
}

/** One API of the platform: where it is, which credential it takes, how calls to it are made. */
export interface PipelineSetup {
  readonly baseUrl: string;
  readonly credentialKind: CredentialKind;
  /** Undefined when the client was given none: calls are then refused before anything is sent. */
  readonly credential: Credential | undefined;
  /** Every credential of the client: an answer may echo the other one. */
  readonly credentials: readonly Credential[];
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch | undefined;
  readonly getWithBody: GetWithBody | undefined;
  readonly validation: 'strict' | 'report';
  readonly hooks: Hooks;
  readonly idempotencyHeader: string | undefined;
  readonly isErrorBody: (body: unknown) => boolean;
  readonly clock: Required<Clock>;
  readonly budget: RetryBudget;
  readonly rateLimiter: RateLimiter;
}

/** How many calls there have been: what hooks tell them apart by. */
let calls = 0;

/** Takes a call from its arguments to its result: checks, credential, attempts, answer. */
export class RequestPipeline {
  readonly #setup: PipelineSetup;

  constructor(setup: PipelineSetup) {
    this.#setup = setup;
  }

  /** Takes the client's credentials out of a text. */
  readonly redact: Redact = (text) => redactor(this.#secrets())(text);
  /** The same for the caller's own data, in which only the credentials themselves are touched. */
  readonly redactOwn: Redact = (text) => redactor(this.#secrets(), [])(text);

  #secrets(): string[] {
    return this.#setup.credentials.flatMap(({ secrets }) => secrets);
  }

  /** Throws what is wrong with a call before it is sent, and sends nothing. */
  check(call: CallRequest, options: RequestOptions | undefined): Prepared {
    const prepared = prepare(call, options, this.#setup, this.redact);
    credentialFor(call, this.#setup);
    return prepared;
  }

  /** Starts a call. Whatever is wrong rejects the promise; nothing throws at once. */
  call<T, A = T>(
    call: Call<T, A>,
    options: RequestOptions | undefined,
    cancel?: AbortSignal,
    site = call.kind === 'safe' && showsAwaiting() ? undefined : captureCallSite(),
  ): ApiCall<T> {
    const run = this.#run(call, options, cancel);
    const settled = site === undefined ? run : rejectFromCallSite(site, run);
    const data = settled.then((result) => result.data);
    return Object.assign(data, {
      withResponse: () => {
        // The caller holds only this promise; a rejection of the bare one would be unhandled.
        data.catch(() => undefined);
        const whole = settled.then((result) => ({
          data: result.data,
          response: toResponse(result.response),
        }));
        return rejectFromCallSite(site ?? captureCallSite(), whole);
      },
    });
  }

  async #run<T, A>(
    call: Call<T, A>,
    options: RequestOptions | undefined,
    cancel: AbortSignal | undefined,
  ): Promise<Success<T>> {
    const prepared = call.prepared ?? prepare(call, options, this.#setup, this.redact);
    const credential = credentialFor(call, this.#setup);
    const transport = chooseTransport(call, prepared, this.#setup);
    const { options: own } = prepared;
    const totalTimeout = own.totalTimeout ?? this.#setup.totalTimeout;
    const total = new Deadline(this.#setup.clock, totalTimeout, 'total', {
      signals: [own.signal, cancel],
      notAfter: call.notAfter,
    });
    const tokens: string[] = [];
    const state: CallState<Call<T, A>> = {
      call,
      number: (calls += 1),
      prepared,
      credential,
      transport,
      timeout: own.timeout ?? this.#setup.timeout,
      totalTimeout,
      maxRetries: own.maxRetries ?? this.#setup.maxRetries,
      total,
      attempts: [],
      tokens,
      redact: (text) => redactor([...tokens, ...this.#secrets()])(text),
      startedAt: undefined,
    };
    try {
      return await this.#untilDone(state);
    } catch (error) {
      throw errorOfAny(error, state);
    } finally {
      total.close();
    }
  }

  /** Attempts and waits, until there is a result or a reason to stop. */
  async #untilDone<T, A>(state: CallState<Call<T, A>>): Promise<Success<T>> {
    const { call, credential, maxRetries, prepared, total } = state;
    const { budget, clock, rateLimiter, hooks } = this.#setup;
    // With a key that the platform honours, a repeat cannot take effect twice.
    const hasOwnKey = prepared.idempotencyKey !== undefined && call.idempotencyKey === undefined;
    const kind = hasOwnKey ? 'safe' : call.kind;
    let retries = 0;
    let replayed = false;
    let lastCost: number | undefined;

    for (;;) {
      total.check();
      const token = credential.fixed ?? (await tokenFor(state, clock));
      // An open gate must not cost a turn of the event loop.
      if (!rateLimiter.tryEnter()) {
        await rateLimiter.enter(total, state.timeout, (ms) => {
          const reason = 'the platform answered 429';
          callHook(hooks.onWait, () => ({ ...hookCallOf(state), delayMs: Math.round(ms), reason }));
        });
      }
      const ending = await this.#attempt(state, token);
      if (ending.ok) {
        budget.refund(lastCost);
        return ending;
      }

      const { failure } = ending;
      const refusedToken = failure.status === 401 && failure.outcome === 'rejected';
      if (refusedToken && credential.fixed === undefined && !replayed) {
        // Refused before it was processed: once more with a fresh token is safe for every kind.
        replayed = true;
        const rejection = await renewToken(state, token, clock);
        if (rejection === undefined) continue;
        throw errorOf(failure, state, rejection);
      }
      const limits = { maxRetries, remaining: total.remaining, budget };
      const plan = planRetry(kind, failure, retries, limits);
      if (!plan.again) throw errorOf(failure, state, plan.note);
      retries += 1;
      lastCost = plan.cost;
      callHook(hooks.onRetry, () => ({
        ...hookCallOf(state),
        delayMs: Math.round(plan.delayMs),
        reason: failure.reason,
      }));
      await total.sleep(plan.delayMs);
    }
  }

  /** One request and its answer, and what the hooks, the gate and the log of attempts hear of it. */
  async #attempt<T, A>(state: CallState<Call<T, A>>, token: string): Promise<Ending<T>> {
    const { clock, rateLimiter, hooks } = this.#setup;
    const { call, prepared, redact, transport } = state;
    const event = hookCallOf(state);
    state.tokens.push(token);
    state.startedAt ??= new Date(clock.now());
    callHook(hooks.onRequest, () => ({
      ...event,
      url: redact(prepared.url),
      headers: Object.fromEntries(
        Object.entries(prepared.headers).map(([name, value]) => [
          redact(name),
          redactHeader(name, value, redact),
        ]),
      ),
    }));
    const begun = clock.elapsed();
    const result = await sendOnce(state, token, clock);
    if (result.ok && result.response.status === 200 && transport.flush !== undefined) {
      // Otherwise the platform would stand idle while this answer is read.
      if (call.askAhead?.(result.response.text) === true) await transport.flush();
    }
    const ending = result.ok ? readResponse(state, result, this.#setup) : result;
    const durationMs = Math.round(clock.elapsed() - begun);
    if (ending.ok) {
      const { status, headers } = ending.response;
      callHook(hooks.onResponse, () => ({
        ...event,
        status,
        requestId: requestIdOf(headers, redact),
        durationMs,
        outcome: 'ok' as const,
        reason: undefined,
      }));
      return ending;
    }
    const { failure } = ending;
    if (failure.type === 'rejected' && failure.status === 429) rateLimiter.close(begun, failure);
    const { outcome, status, requestId, reason } = failure;
    callHook(hooks.onResponse, () => ({
      ...event,
      status,
      requestId,
      durationMs,
      outcome,
      reason,
    }));
    state.attempts.push({
      outcome,
      ...(status === undefined ? {} : { status }),
      ...(requestId === undefined ? {} : { requestId }),
      durationMs,
      reason,
    });
    return ending;
  }
}

/** The error of a call, whatever has ended it between its attempts or before the first. */
function errorOfAny(error: unknown, state: CallState): PaymentsError {
  if (error instanceof PaymentsError) return error;
  if (error instanceof Stopped) return errorOf(stopped(error.why, state), state);
  return error instanceof RateLimiterWaitTooLong
    ? errorOf(heldBackFailure(error.rejection, error.ms), state)
    : errorOf(unexpectedFailure(error, state.startedAt !== undefined), state);
}
