import ky from 'ky';
import { Stopped, type Deadline, type StopReason } from './deadline.ts';
import { sealedBody } from '../wires/fetch.ts';
import type { Body, BodyFault, Trace, Wire, WireAnswer } from '../wires/wire.ts';

const mebibyte = 2 ** 20;
/** How much of an answer is read, counted after decompression. */
const answerLimit = { success: 16 * mebibyte, error: mebibyte };

/** One request, and the way that it takes. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly wire: Wire;
  /** Whether nobody will look at the body of a success. */
  readonly ignoresBody: boolean;
}

/** What arrived: the status and headers, and as much of the body as could be read. */
export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly text: string;
  readonly fault: BodyFault | undefined;
}

/** How one attempt ended. */
export type AttemptResult =
  | { readonly type: 'answer'; readonly answer: Answer; readonly trace: Trace }
  /** Time ran out or the caller left; `status` when the headers had arrived by then. */
  | {
      readonly type: 'stopped';
      readonly why: StopReason;
      readonly status: number | undefined;
      readonly trace: Trace;
    }
  | {
      readonly type: 'failed';
      readonly error: unknown;
      readonly trace: Trace;
      /** False when the request did not even come to the wire: it will not the next time. */
      readonly dispatched: boolean;
    };

/** Sends one request through ky and reads its answer, all of it within the deadline. */
export async function sendOnce(outgoing: Outgoing, deadline: Deadline): Promise<AttemptResult> {
  // Until the wire is asked, nothing can have been sent.
  const trace: Trace = { started: false };
  let dispatched = false;
  let wireError: unknown;
  const overWire = async (built: Request): Promise<WireAnswer> => {
    // Nothing goes out that was called off while the request was being made.
    deadline.check();
    dispatched = true;
    trace.started = undefined;
    try {
      const { method, url, headers, body } = outgoing;
      return await outgoing.wire.send({ method, url, headers, body, stop: deadline }, built, trace);
    } catch (error) {
      wireError = error;
      throw error;
    }
  };
  let status: number | undefined;
  try {
    const answered: WireAnswer = await deadline.race(
      ky(outgoing.url, {
        ...(outgoing.wire.wantsRequest ? requestInit(outgoing, deadline) : undefined),
        // One attempt, no opinion: transport.ts decides on retries, deadlines and statuses.
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
        // What ky asks of an answer, a WireAnswer has.
        fetch: overWire as unknown as typeof fetch,
      }),
    );
    status = answered.status;
    return { type: 'answer', answer: await read(answered, outgoing, deadline), trace };
  } catch (error) {
    if (error instanceof Stopped) return { type: 'stopped', why: error.why, status, trace };
    // Not ky's own error, where the wire had one: it holds the Request, and with it the credential.
    return { type: 'failed', error: wireError ?? error, trace, dispatched };
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** What goes into a Request, for wires that send one. */
const requestInit = (outgoing: Outgoing, deadline: Deadline): RequestInit => ({
  method: outgoing.method,
  // The document names no redirect: docs/gaps.md, row 58.
  redirect: 'manual',
  headers: outgoing.headers,
  signal: deadline.signal,
  // A Request of method GET cannot have a body: the wire gets it beside the Request.
  ...(outgoing.body === undefined || outgoing.method === 'GET'
    ? {}
    : { body: sealedBody(outgoing.body) }),
});

/**
 * An answer whose headers may be made only when somebody looks. A class, because an object literal
 * with a getter gets a hidden class of its own from V8, each time, which keeps everything around the
 * call alive until the next full collection.
 */
class ReceivedAnswer implements Answer {
  readonly status: number;
  readonly statusText: string;
  readonly text: string;
  readonly fault: BodyFault | undefined;
  readonly #answered: WireAnswer;

  constructor(answered: WireAnswer, text: string, fault: BodyFault | undefined) {
    this.status = answered.status;
    this.statusText = answered.statusText;
    this.text = text;
    this.fault = fault;
    this.#answered = answered;
  }

  get headers(): Headers {
    return this.#answered.headers;
  }
}

async function read(answered: WireAnswer, outgoing: Outgoing, deadline: Deadline): Promise<Answer> {
  if (outgoing.ignoresBody && answered.ok) {
    // This frees the connection; that it may fail changes nothing.
    answered.discard?.();
    answered.body?.cancel().catch(() => undefined);
    return new ReceivedAnswer(answered, '', undefined);
  }
  // Any 2xx is a success: docs/gaps.md, row 28.
  const limit = answered.ok ? answerLimit.success : answerLimit.error;
  const { bytes, fault } = answered.whole?.(limit) ?? (await collect(answered, limit, deadline));
  try {
    return new ReceivedAnswer(answered, strictUtf8.decode(bytes), fault);
  } catch {
    return new ReceivedAnswer(answered, new TextDecoder().decode(bytes), fault ?? 'not_text');
  }
}

/** Reads a body: as much of it as arrives, and what kept the rest away. */
async function collect(answered: WireAnswer, limit: number, deadline: Deadline): Promise<Body> {
  const chunks: Uint8Array[] = [];
  try {
    if (answered.collect !== undefined) return await deadline.race(answered.collect(limit));
    const reader = answered.body?.getReader();
    const fault = reader && (await drain(reader, chunks, limit, deadline));
    return { bytes: concat(chunks), fault };
  } catch (error) {
    // The status is known. Only an attempt's own timeout is a matter of this body.
    if (!(error instanceof Stopped) || error.why.by !== 'attempt') throw error;
    return { bytes: answered.soFar?.() ?? concat(chunks), fault: 'stalled' };
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
      // A chunk that is not bytes has no length, so the limit would never be reached.
      if (!ArrayBuffer.isView(value)) return 'cut';
      // A stream that gives nothing, but at once, would keep every timer of the process from firing.
      if (value.byteLength === 0) await deadline.race(nextTurn());
      // No timer fires while chunks come at once, however small.
      deadline.check();
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

/** Resolves in the next turn of the event loop. Not by the caller's clock: this is not a wait. */
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 0);
  });

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
