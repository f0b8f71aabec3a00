import ky from 'ky';
import { identity, type CallRequest, type PreparedRequest } from './call.ts';
import type { Credential } from './credential.ts';
import { Deadline, type Clock, Stopped, type StopReason } from './time.ts';
import type { Attempt, Outcome } from '../errors/errors.ts';
import type { RequestEvent } from './hooks.ts';
import type { Trace } from './tracing.ts';
import { redactHeader, type Redact } from '../errors/redact.ts';
import type {
  Body,
  BodyFault,
  Scan,
  Transport,
  TransportResponse,
} from '../transports/transport.ts';
import {
  abortedFailure,
  disconnectedFailure,
  timeoutFailure,
  type Failure,
} from '../errors/failure.ts';
import { connectionOutcome, statusOutcome, type Evidence } from '../errors/outcome.ts';
import { findProxy } from '../transports/proxy.ts';

/** A call while it runs, with the data that all its attempts share. */
export interface RunningCall<C extends CallRequest = CallRequest> {
  readonly call: C;
  readonly trace: Trace;
  /** A number that every hook event of this call carries, so that a log can group the events. */
  readonly number: number;
  readonly prepared: PreparedRequest;
  readonly credential: Credential;
  readonly transport: Transport;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
  readonly total: Deadline;
  readonly prefetch: ((text: string) => boolean) | undefined;
  readonly scan: Scan | undefined;
  /** The attempts of this call that have failed so far. */
  readonly attempts: Attempt[];
  /** The tokens of all attempts, because a late response may quote a token that was replaced. */
  readonly tokens: string[];
  /**
   * Removes tokens and the client's credentials from a string. Collects these secrets at each use,
   * because most calls redact nothing and the token may change during the call.
   */
  readonly redact: Redact;
  /** When the first attempt of the call started, by the client's clock; undefined before that. */
  startedAt: Date | undefined;
}

/** Creates the fields that all hook events have, such as the number of the attempt. */
export const createHookCall = ({ call, number, attempts, trace: { reference } }: RunningCall) => ({
  ...identity(call),
  call: number,
  attempt: attempts.length + 1,
  ...(reference !== undefined && { reference }),
});

/** Creates the event for the hook onRequest, with credentials redacted. */
export function createRequestEvent(running: RunningCall): RequestEvent {
  const { prepared, redact } = running;
  const headers = Object.entries(prepared.headers).map(([name, value]) => [
    redact(name),
    redactHeader(name, value, redact),
  ]);
  return {
    ...createHookCall(running),
    url: redact(prepared.url),
    headers: Object.fromEntries(headers) as Record<string, string>,
  };
}

interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly date?: string;
  readonly isOnUsedConnection?: boolean;
  closeConnection?(): void;
}

/**
 * A response with as much of its body as the SDK could read. A class, because V8 would keep the
 * call in memory for longer if an object literal had this getter.
 */
export class ReceivedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly text: string;
  readonly fault: BodyFault | undefined;
  readonly isOnUsedConnection: boolean;
  readonly #head: ResponseHead;

  constructor(head: ResponseHead, text: string, fault: BodyFault | undefined) {
    this.status = head.status;
    this.statusText = head.statusText;
    this.text = text;
    this.fault = fault;
    this.isOnUsedConnection = head.isOnUsedConnection === true;
    this.#head = head;
  }

  /** Reads the headers on demand, because some transports create them only at the first access. */
  get headers(): Headers {
    return this.#head.headers;
  }

  /** The platform's time, from the header `date`. */
  get date(): string | null {
    return this.#head.date ?? this.headers.get('date');
  }

  /** Closes the connection on which the response arrived, if the transport can. */
  closeConnection(): void {
    this.#head.closeConnection?.();
  }
}

/** The SDK reads at most this many bytes of a response body, counted after decompression. */
const bodyLimit = { success: 16 * 2 ** 20, error: 2 ** 20 };

export type AttemptResult =
  | {
      readonly ok: true;
      readonly response: ReceivedResponse;
    }
  | { readonly ok: false; readonly failure: Failure };

/** Sends one request through the library ky and reads the response, all within `timeout`. */
export async function sendAttempt(
  running: RunningCall<CallRequest & { readonly response: unknown }>,
  token: string,
  clock: Required<Clock>,
): Promise<AttemptResult> {
  const { call, prepared, transport, scan } = running;
  const { method } = call;
  const { url, body } = prepared;
  const headers = { ...prepared.headers, authorization: `Bearer ${token}` };
  const stop = new Deadline(clock, running.timeout, 'attempt', { outer: running.total });
  // Nothing has been sent before the transport is called, so `started` is false.
  const evidence: Evidence = { started: false };
  /** Whether the transport was called. */
  let dispatched = false;
  let transportError: unknown;
  const sendByTransport = async (): Promise<TransportResponse> => {
    stop.check();
    dispatched = true;
    // From here on, only the transport may know whether the request was sent.
    evidence.started = undefined;
    try {
      return await transport.send({ method, url, headers, body, stop, scan }, evidence);
    } catch (error) {
      transportError = error;
      throw error;
    }
  };
  /** The status of the response, once its head has arrived. */
  let status: number | undefined;
  try {
    const received: TransportResponse = await stop.race(
      ky(url, {
        // ky must not retry, time out or throw, because pipeline.ts does all of this.
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
        // The cast is safe: a TransportResponse has every field of a Response that ky reads.
        fetch: sendByTransport as unknown as typeof fetch,
      }),
    );
    status = received.status;
    const response = await readBody(received, call.response === 'nothing', stop);
    return { ok: true, response };
  } catch (error) {
    if (error instanceof Stopped) {
      return { ok: false, failure: describeStop(error, running, evidence, status) };
    }
    // Report the transport's error, because ky wraps that error.
    const cause = transportError ?? error;
    const verdict = connectionOutcome(cause, transport, evidence);
    return {
      ok: false,
      failure: disconnectedFailure(cause, verdict, dispatched, running.redact, findProxy(url)),
    };
  } finally {
    stop.close();
  }
}

/** Describes an attempt that a timeout or an abort stopped, and whether it was sent. */
function describeStop(
  { why }: Stopped,
  running: RunningCall,
  evidence: Evidence,
  status: number | undefined,
): Failure {
  if (status !== undefined) {
    const outcome = statusOutcome(status, running.call.kind, { hasErrorBody: false });
    return stopFailure(why, running, 'headers', outcome, status);
  }
  if (evidence.started === false) return stopFailure(why, running);
  return stopFailure(why, running, 'headers', 'unknown');
}

/** Describes a call that a timeout or an abort stopped. By default, the failure says that nothing was sent. */
export function stopFailure(
  why: StopReason,
  { timeout, totalTimeout }: Pick<RunningCall, 'timeout' | 'totalTimeout'>,
  phase: 'connect' | 'headers' = 'connect',
  outcome: Outcome = 'not_sent',
  status?: number,
): Failure {
  if (why.by === 'caller') return abortedFailure(why.reason, outcome, status);
  if (why.by === 'total') return timeoutFailure('total', totalTimeout, { outcome, status });
  return timeoutFailure(phase, timeout, { outcome, status });
}

let strictUtf8: InstanceType<typeof TextDecoder> | undefined;

/**
 * Reads the body of a response as text. If the body is incomplete, too large or not UTF-8, the
 * field `fault` of the returned response says so.
 */
async function readBody(received: TransportResponse, ignoresBody: boolean, deadline: Deadline) {
  if (ignoresBody && received.ok) {
    // Discard the body to free the connection. An error while discarding has no effect.
    received.discardBody?.();
    received.body?.cancel().catch(() => undefined);
    return new ReceivedResponse(received, '', undefined);
  }
  // A status from 200 to 299 means success: docs/gaps.md, row 28.
  const limit = received.ok ? bodyLimit.success : bodyLimit.error;
  const { bytes, fault } =
    received.completeBody?.(limit) ?? (await collect(received, limit, deadline));
  try {
    strictUtf8 ??= new TextDecoder('utf-8', { fatal: true });
    return new ReceivedResponse(received, strictUtf8.decode(bytes), fault);
  } catch {
    return new ReceivedResponse(received, new TextDecoder().decode(bytes), fault ?? 'not_text');
  }
}

/** Reads the part of a response body that arrives before the deadline and fits `limit`. */
async function collect(
  received: TransportResponse,
  limit: number,
  deadline: Deadline,
): Promise<Body> {
  const chunks: Uint8Array[] = [];
  try {
    if (received.readBody !== undefined) return await deadline.race(received.readBody(limit));
    const reader = received.body?.getReader();
    const fault = reader && (await drain(reader, chunks, limit, deadline));
    return { bytes: concat(chunks), fault };
  } catch (error) {
    // If the attempt times out here, return the part that has arrived, because the status is already known.
    if (!(error instanceof Stopped) || error.why.by !== 'attempt') throw error;
    return { bytes: received.partialBody?.() ?? concat(chunks), fault: 'stalled' };
  }
}

/**
 * Adds a response body to `chunks`, and returns why the body is unusable, or undefined if it is
 * complete. Reads chunk by chunk, so that the deadline holds even if the runtime ignores the
 * abort signal, and no more bytes are kept than the limit.
 */
async function drain(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  chunks: Uint8Array[],
  limit: number,
  deadline: Deadline,
): Promise<BodyFault | undefined> {
  let remaining = limit;
  let finished = false;
  try {
    for (;;) {
      const { done, value } = await deadline.race(reader.read());
      if (done) {
        finished = true;
        return undefined;
      }
      // While chunks arrive without a pause, no timer fires, so check the deadline here.
      deadline.checkReading();
      chunks.push(value.subarray(0, remaining));
      remaining -= value.byteLength;
      if (remaining < 0) return 'too_large';
    }
  } catch (error) {
    if (error instanceof Stopped) throw error;
    return 'cut';
  } finally {
    if (!finished) reader.cancel().catch(() => undefined);
  }
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
