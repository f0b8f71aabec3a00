import { requestIdOf } from './answer-failure.ts';
import { unreadableArguments } from './arguments.ts';
import { sendOnce, type Answer, type AttemptResult } from './attempt.ts';
import { credentialFor, renewToken, tokenFor } from './call-credential.ts';
import { errorWhileWaiting, unexpectedError } from './call-errors.ts';
import { attemptOf, errorContextOf, hookCallOf, type CallState } from './call-state.ts';
import { identity, type Call } from './call.ts';
import { chooseWire } from './choose-wire.ts';
import type { Credential, CredentialKind } from './credential.ts';
import { Deadline } from './deadline.ts';
import { PaymentsError } from '../errors/errors.ts';
import { noAnswerFailure, type Failure } from './failure.ts';
import type { Gate, Release } from './gate.ts';
import { notify } from './hooks.ts';
import { interpretAnswer, toResponse } from './answer.ts';
import type { ResolvedOptions } from '../options.ts';
import { prepare, type Prepared } from './prepare.ts';
import { redactHeader, redactor, type Redact } from '../errors/redact.ts';
import type { RequestOptions } from './request-options.ts';
import { delayBefore, longestWait, mayResend, RetryBudget } from './retry.ts';

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
export interface TransportSetup extends Omit<ResolvedOptions, 'rootUrl' | 'apiKey' | 'jwt'> {
  readonly credentialKind: CredentialKind;
  /** Undefined when the client was given none: calls are then refused before anything is sent. */
  readonly credential: Credential | undefined;
  /** Every credential of the client: an answer may echo the other one. */
  readonly credentials: readonly Credential[];
  readonly budget: RetryBudget;
  readonly gate: Gate;
}

interface Success<T> {
  readonly ok: true;
  readonly data: T;
  readonly answer: Answer;
}

/** A result, or the failure of the attempt that should have brought it. */
type Ending<T> =
  | Success<T>
  | { readonly ok: false; readonly failure: Failure; readonly answer: Answer | undefined };

/** Whether to send a call again; `note` is why not, where the error itself does not say enough. */
type RetryDecision =
  | { readonly retry: true; readonly delayMs: number; readonly cost: number }
  | { readonly retry: false; readonly note?: string };

/** How many calls there have been: what hooks tell them apart by. */
let calls = 0;

/** Takes a call from its arguments to its result: checks, credential, attempts, answer. */
export class Transport {
  readonly #setup: TransportSetup;

  constructor(setup: TransportSetup) {
    this.#setup = setup;
  }

  /** Takes the client's credentials out of a text. */
  readonly redact: Redact = (text) => redactor(this.#secrets())(text);
  /** The same for the caller's own data, in which only the credentials themselves are touched. */
  readonly redactOwn: Redact = (text) => redactor(this.#secrets(), [])(text);

  #secrets(): string[] {
    return this.#setup.credentials.flatMap(({ secrets }) => secrets);
  }

  /** Starts a call. Whatever is wrong rejects the promise; nothing throws at once. */
  call<T, A = T>(
    call: Call<T, A>,
    options: RequestOptions | undefined,
    cancel?: AbortSignal,
  ): ApiCall<T> {
    const settled = this.#run(call, options, cancel);
    const data = settled.then((result) => result.data);
    return Object.assign(data, {
      withResponse: () => {
        // The caller holds only this promise; a rejection of the bare one would be unhandled.
        data.catch(() => undefined);
        return settled.then((result) => ({
          data: result.data,
          response: toResponse(result.answer),
        }));
      },
    });
  }

  async #run<T, A>(
    call: Call<T, A>,
    options: RequestOptions | undefined,
    cancel: AbortSignal | undefined,
  ): Promise<Success<T>> {
    const prepared = this.#prepare(call, options);
    const credential = credentialFor(call, this.#setup);
    const wire = chooseWire(call, prepared, this.#setup);
    const { options: own } = prepared;
    const totalTimeout = own.totalTimeout ?? this.#setup.totalTimeout;
    const total = new Deadline(this.#setup.clock, totalTimeout, 'total', {
      signals: [own.signal, cancel],
    });
    const tokens: string[] = [];
    const state: CallState<Call<T, A>> = {
      call,
      number: (calls += 1),
      prepared,
      credential,
      wire,
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
      throw error instanceof PaymentsError ? error : unexpectedError(error, state);
    } finally {
      total.close();
    }
  }

  #prepare<T, A>(call: Call<T, A>, options: RequestOptions | undefined): Prepared {
    try {
      return prepare(call, options, this.#setup, this.redact);
    } catch (error) {
      if (error instanceof PaymentsError) throw error;
      throw unreadableArguments(identity(call), error, this.redact);
    }
  }

  /** Attempts and waits, until there is a result or a reason to stop. */
  async #untilDone<T, A>(state: CallState<Call<T, A>>): Promise<Success<T>> {
    const { credential, total } = state;
    const { budget, clock, gate, hooks } = this.#setup;
    let retries = 0;
    let replayed = false;
    let lastCost: number | undefined;

    for (;;) {
      let token: string;
      let release: Release;
      try {
        total.check();
        token = credential.fixed ?? (await tokenFor(state, clock));
        // An open gate must not cost a turn of the event loop.
        release = gate.tryAcquire(total) ?? (await gate.acquire(total));
      } catch (error) {
        throw errorWhileWaiting(error, state);
      }
      const ending = await this.#attempt(state, token, release, retries + 1);
      if (ending.ok) {
        budget.refund(lastCost);
        return ending;
      }

      const { failure } = ending;
      const refusedToken = failure.status === 401 && failure.outcome === 'rejected';
      if (refusedToken && credential.fixed === undefined && !replayed) {
        // Refused before it was processed: once more with a fresh token is safe for every kind.
        replayed = true;
        const refusal = await renewToken(state, token, clock);
        if (refusal === undefined) continue;
        throw failure.toError(errorContextOf(state, refusal));
      }
      const decision = this.#decideRetry(state, failure, retries);
      if (!decision.retry) throw failure.toError(errorContextOf(state, decision.note));
      const { delayMs } = decision;
      retries += 1;
      lastCost = decision.cost;
      notify(hooks.onRetry, () => ({
        ...hookCallOf(state),
        delayMs: Math.round(delayMs),
        reason: failure.reason,
      }));
      try {
        await total.sleep(delayMs);
      } catch (error) {
        throw errorWhileWaiting(error, state);
      }
    }
  }

  /** One attempt, and what the hooks, the gate and the log of attempts hear of it. */
  async #attempt<T, A>(
    state: CallState<Call<T, A>>,
    token: string,
    release: Release,
    retry: number,
  ): Promise<Ending<T>> {
    const { clock, hooks } = this.#setup;
    const event = hookCallOf(state);
    const { redact } = state;
    state.tokens.push(token);
    let begun = 0;
    let ending: Ending<T> | undefined;
    // Others may be waiting behind this call, so the gate hears of it whatever becomes of it.
    try {
      state.startedAt ??= new Date(clock.now());
      notify(hooks.onRequest, () => ({
        ...event,
        url: redact(state.prepared.url),
        headers: Object.fromEntries(
          Object.entries(state.prepared.headers).map(([name, value]) => [
            redact(name),
            redactHeader(name, value, redact),
          ]),
        ),
      }));
      begun = clock.elapsed();
      ending = await this.#exchange(state, token);
    } finally {
      const failed = ending?.ok === false ? ending.failure : undefined;
      const answered = ending?.ok === true || failed?.status !== undefined;
      release(answered, failed?.status === 429 ? holdBack(failed, retry) : undefined);
    }
    const durationMs = Math.round(clock.elapsed() - begun);
    const failure = ending.ok ? undefined : ending.failure;
    notify(hooks.onResponse, () => ({
      ...event,
      status: ending.answer?.status ?? failure?.status,
      requestId: ending.answer && requestIdOf(ending.answer.headers, redact),
      durationMs,
      outcome: failure === undefined ? ('ok' as const) : failure.outcome,
      reason: failure?.reason,
    }));
    if (failure !== undefined) state.attempts.push(attemptOf(failure, durationMs));
    return ending;
  }

  /** One request, and what its answer amounts to. */
  async #exchange<T, A>(state: CallState<Call<T, A>>, token: string): Promise<Ending<T>> {
    const { call, prepared, wire, timeout, redact } = state;
    const { clock, hooks, validation } = this.#setup;
    const deadline = new Deadline(clock, timeout, 'attempt', { outer: state.total });
    let result: AttemptResult;
    try {
      result = await sendOnce(
        {
          method: call.method,
          url: prepared.url,
          headers: { ...prepared.headers, authorization: `Bearer ${token}` },
          body: prepared.body,
          wire,
          ignoresBody: call.answer === 'nothing',
        },
        deadline,
      );
    } finally {
      deadline.close();
    }
    if (result.type !== 'answer') {
      const failure = noAnswerFailure(result, wire, call.kind, redact, state);
      return { ok: false, failure, answer: undefined };
    }
    const { answer } = result;
    if (answer.status === 200 && wire.flush !== undefined) {
      // Otherwise the platform would stand idle while this answer is read.
      if (call.askAhead?.(answer.text) === true) await wire.flush();
    }
    return {
      ...interpretAnswer(call, answer, {
        validation,
        hooks,
        redact,
        now: clock.now(),
        timeout,
        callNumber: state.number,
        repeated: result.trace.repeated === true,
      }),
      answer,
    };
  }

  /** Decides whether to retry, and when; takes the cost from the budget. */
  #decideRetry(
    { call, prepared, maxRetries, total }: CallState,
    failed: Failure,
    retries: number,
  ): RetryDecision {
    // With a key that the platform honours, a repeat cannot take effect twice.
    const kind = prepared.idempotencyKey === undefined ? call.kind : 'safe';
    if (!mayResend(kind, failed) || retries >= maxRetries) return { retry: false };
    if (failed.retryAfterMs !== undefined && failed.retryAfterMs > longestWait) {
      return notRetried(
        `the platform asked for a wait of ${Math.round(failed.retryAfterMs)} ms, and the SDK waits ${longestWait} ms at most.`,
      );
    }
    const delayMs = delayBefore(retries + 1, failed.status, failed.retryAfterMs);
    if (delayMs >= total.remaining) {
      return notRetried('the wait would exceed totalTimeout.');
    }
    const cost = RetryBudget.cost(failed);
    if (!this.#setup.budget.take(cost)) {
      return notRetried('this client has used up its retry budget.');
    }
    return { retry: true, delayMs, cost };
  }
}

const notRetried = (why: string): RetryDecision => ({
  retry: false,
  note: `It was not retried: ${why}`,
});

/** How long a 429 holds the client back. */
const holdBack = (failed: Failure, retry: number): number =>
  failed.retryAfterMs ?? delayBefore(retry, 429, undefined);
