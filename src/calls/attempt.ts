import ky from 'ky';
import type { CallState } from './call-state.ts';
import type { CallRequest } from './call.ts';
import type { Clock } from './clock.ts';
import { Deadline, Stopped, type StopReason } from './deadline.ts';
import type { Outcome } from '../errors/errors.ts';
import {
  abortedFailure,
  disconnectedFailure,
  timeoutFailure,
  type Failure,
} from '../errors/failure.ts';
import { connectionOutcome, statusOutcome } from '../errors/outcome.ts';
import { sealedBody } from '../transports/fetch.ts';
import { proxyFor } from '../transports/proxy.ts';
import type { Body, BodyFault, Trace, TransportResponse } from '../transports/transport.ts';

const mebibyte = 2 ** 20;
/** How much of an answer is read, counted after decompression. */
const bodyLimit = { success: 16 * mebibyte, error: mebibyte };

/** What arrived: the status and headers, and as much of the body as could be read. */
export interface ReceivedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly text: string;
  readonly fault: BodyFault | undefined;
}

/** How one attempt ended. */
export type AttemptResult =
  | {
      readonly ok: true;
      readonly response: ReceivedResponse;
      /** Whether the request was sent more than once: its answer is then only that to the last. */
      readonly repeated: boolean;
    }
  | { readonly ok: false; readonly failure: Failure };

/** Sends one request through ky and reads its answer, all of it within the time of an attempt. */
export async function sendOnce(
  state: CallState<CallRequest & { readonly response: unknown }>,
  token: string,
  clock: Required<Clock>,
): Promise<AttemptResult> {
  const { call, prepared, transport } = state;
  const { method } = call;
  const { url, body } = prepared;
  const headers = { ...prepared.headers, authorization: `Bearer ${token}` };
  const stop = new Deadline(clock, state.timeout, 'attempt', { outer: state.total });
  // Until the wire is asked, nothing can have been sent.
  const trace: Trace = { started: false };
  let dispatched = false;
  let transportError: unknown;
  const sendByTransport = async (built: Request): Promise<TransportResponse> => {
    // Nothing goes out that was called off while the request was being made.
    stop.check();
    dispatched = true;
    trace.started = undefined;
    try {
      return await transport.send({ method, url, headers, body, stop }, built, trace);
    } catch (error) {
      transportError = error;
      throw error;
    }
  };
  let status: number | undefined;
  try {
    const received: TransportResponse = await stop.race(
      ky(url, {
        ...(transport.wantsRequest && {
          method,
          // The document names no redirect: docs/gaps.md, row 58.
          redirect: 'manual',
          headers,
          signal: stop.signal,
          // A Request of method GET cannot have a body: the wire gets it beside the Request.
          ...(body === undefined || method === 'GET' ? undefined : { body: sealedBody(body) }),
        }),
        // One attempt, no opinion: transport.ts decides on retries, deadlines and statuses.
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
        // What ky asks of an answer, a TransportResponse has.
        fetch: sendByTransport as unknown as typeof fetch,
      }),
    );
    status = received.status;
    const response = await read(received, call.response === 'nothing', stop);
    return { ok: true, response, repeated: trace.repeated === true };
  } catch (error) {
    if (error instanceof Stopped) {
      const unsent = trace.started === false;
      const before = unsent ? 'not_sent' : 'unknown';
      const outcome =
        status === undefined
          ? before
          : statusOutcome(status, call.kind, { repeated: trace.repeated, isPlatforms: false });
      const phase = unsent ? 'connect' : 'headers';
      return { ok: false, failure: stopped(error.why, state, phase, outcome, status) };
    }
    // Not ky's own error, where the wire had one: it holds the Request, and with it the credential.
    const cause = transportError ?? error;
    const verdict = connectionOutcome(cause, transport, trace);
    return {
      ok: false,
      failure: disconnectedFailure(cause, verdict, dispatched, state.redact, proxyFor(url)),
    };
  } finally {
    stop.close();
  }
}

/** What it is to be stopped; in a wait between two attempts, nothing is sent. */
export function stopped(
  why: StopReason,
  { timeout, totalTimeout }: Pick<CallState, 'timeout' | 'totalTimeout'>,
  phase: 'connect' | 'headers' = 'connect',
  outcome: Outcome = 'not_sent',
  status?: number,
): Failure {
  if (why.by === 'caller') return abortedFailure(why.reason, outcome, status);
  return why.by === 'total'
    ? timeoutFailure('total', totalTimeout, { outcome, status })
    : timeoutFailure(phase, timeout, { outcome, status });
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * An answer whose headers may be made only when somebody looks. A class, because an object literal
 * with a getter gets a hidden class of its own from V8, each time, which keeps everything around the
 * call alive until the next full collection.
 */
class LazyResponse implements ReceivedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly text: string;
  readonly fault: BodyFault | undefined;
  readonly #received: TransportResponse;

  constructor(received: TransportResponse, text: string, fault: BodyFault | undefined) {
    this.status = received.status;
    this.statusText = received.statusText;
    this.text = text;
    this.fault = fault;
    this.#received = received;
  }

  get headers(): Headers {
    return this.#received.headers;
  }
}

async function read(
  received: TransportResponse,
  ignoresBody: boolean,
  deadline: Deadline,
): Promise<ReceivedResponse> {
  if (ignoresBody && received.ok) {
    // This frees the connection; that it may fail changes nothing.
    received.discard?.();
    received.body?.cancel().catch(() => undefined);
    return new LazyResponse(received, '', undefined);
  }
  // Any 2xx is a success: docs/gaps.md, row 28.
  const limit = received.ok ? bodyLimit.success : bodyLimit.error;
  const { bytes, fault } = received.whole?.(limit) ?? (await collect(received, limit, deadline));
  try {
    return new LazyResponse(received, strictUtf8.decode(bytes), fault);
  } catch {
    return new LazyResponse(received, new TextDecoder().decode(bytes), fault ?? 'not_text');
  }
}

/** Reads a body: as much of it as arrives, and what kept the rest away. */
async function collect(
  received: TransportResponse,
  limit: number,
  deadline: Deadline,
): Promise<Body> {
  const chunks: Uint8Array[] = [];
  try {
    if (received.collect !== undefined) return await deadline.race(received.collect(limit));
    const reader = received.body?.getReader();
    const fault = reader && (await drain(reader, chunks, limit, deadline));
    return { bytes: concat(chunks), fault };
  } catch (error) {
    // The status is known. Only an attempt's own timeout is a matter of this body.
    if (!(error instanceof Stopped) || error.why.by !== 'attempt') throw error;
    return { bytes: received.soFar?.() ?? concat(chunks), fault: 'stalled' };
  }
}

/**
 * Reads a stream by hand, so that the deadline holds even when the runtime has forgotten the signal,
 * and so that an endless body costs no more memory than the limit.
 */
async function drain(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  chunks: Uint8Array[],
  limit: number,
  deadline: Deadline,
): Promise<BodyFault | undefined> {
  let room = limit;
  let finished = false;
  try {
    for (;;) {
      const { done, value } = await deadline.race(reader.read());
      if (done) {
        finished = true;
        return undefined;
      }
      // No timer fires while chunks come at once, however small.
      deadline.checkReading();
      chunks.push(value.byteLength > room ? value.subarray(0, room) : value);
      room -= value.byteLength;
      if (room < 0) return 'too_large';
    }
  } catch (error) {
    if (error instanceof Stopped) throw error;
    return 'cut';
  } finally {
    if (!finished) reader.cancel().catch(() => undefined);
  }
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
