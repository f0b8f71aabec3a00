import ky from 'ky';
import { Stopped, type Deadline, type StopReason } from './deadline.ts';
import { sealedBody } from './wires/fetch.ts';
import type { Wire } from './wires/wire.ts';

const mebibyte = 2 ** 20;
/** How much of an answer is read, counted after decompression. */
export const answerLimit = { success: 16 * mebibyte, error: mebibyte };

/** One request, ready to go. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly wire: Wire;
  /** Whether nobody will look at the body of a success. */
  readonly ignoresBody: boolean;
}

/** Why a body could not be read to its end. */
export type BodyFault = 'stalled' | 'cut' | 'too_large' | 'not_text';

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
  | { readonly type: 'answer'; readonly answer: Answer }
  /** Time ran out or the caller left; `answer` when the headers had arrived by then. */
  | {
      readonly type: 'stopped';
      readonly why: StopReason;
      readonly status: number | undefined;
      /** False when the request was never handed to the wire. */
      readonly dispatched: boolean;
    }
  /** No headers arrived. */
  | { readonly type: 'failed'; readonly error: unknown; readonly dispatched: boolean };

/** Sends one request through ky and reads its answer, all of it within the deadline. */
export async function attempt(outgoing: Outgoing, deadline: Deadline): Promise<AttemptResult> {
  let dispatched = false;
  let wireError: unknown;
  const overWire = async (request: Request): Promise<Response> => {
    // Nothing goes out that was called off while the request was being made.
    deadline.check();
    dispatched = true;
    try {
      return await outgoing.wire.send(request, outgoing.body);
    } catch (error) {
      wireError = error;
      throw error;
    }
  };
  let status: number | undefined;
  try {
    const response = await deadline.race(
      ky(outgoing.url, {
        method: outgoing.method,
        headers: outgoing.headers,
        // A Request of method GET cannot have a body: the wire gets it beside the Request.
        ...(outgoing.body === undefined || outgoing.method === 'GET'
          ? {}
          : { body: sealedBody(outgoing.body) }),
        // One attempt, no opinion: retries, deadlines and statuses are judged where the money is.
        retry: 0,
        timeout: false,
        throwHttpErrors: false,
        redirect: 'manual',
        signal: deadline.signal,
        fetch: overWire as typeof fetch,
      }),
    );
    status = response.status;
    return { type: 'answer', answer: await read(response, outgoing, deadline) };
  } catch (error) {
    if (error instanceof Stopped) return { type: 'stopped', why: error.why, status, dispatched };
    // ky's own errors hold the Request, and with it the credential; the wire's error is kept.
    return { type: 'failed', error: wireError ?? undefinedIfKy(error), dispatched };
  }
}

const undefinedIfKy = (error: unknown): unknown =>
  error instanceof Error && 'request' in error ? error.cause : error;

async function read(response: Response, outgoing: Outgoing, deadline: Deadline): Promise<Answer> {
  const { status, statusText, headers } = response;
  if (outgoing.ignoresBody && response.ok) {
    // Cancelling frees the connection; that it may fail changes nothing.
    response.body?.cancel().catch(() => undefined);
    return { status, statusText, headers, text: '', fault: undefined };
  }
  const limit = response.ok ? answerLimit.success : answerLimit.error;
  const { bytes, fault } = await collect(response, limit, deadline);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { status, statusText, headers, text, fault };
  } catch {
    const text = new TextDecoder().decode(bytes);
    return { status, statusText, headers, text, fault: fault ?? 'not_text' };
  }
}

/** What a reader would say of an answer without a body. */
const ended = { done: true, value: undefined } as const;

/**
 * Reads a body by hand, so that the deadline holds even when the runtime has forgotten the signal,
 * and so that an endless body costs no more memory than the limit.
 */
async function collect(
  response: Response,
  limit: number,
  deadline: Deadline,
): Promise<{ bytes: Uint8Array; fault: BodyFault | undefined }> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let fault: BodyFault | undefined;
  try {
    for (;;) {
      const { done, value } = reader === undefined ? ended : await deadline.race(reader.read());
      if (done) break;
      const room = limit - size;
      chunks.push(value.byteLength > room ? value.subarray(0, room) : value);
      size += value.byteLength;
      if (size > limit) {
        fault = 'too_large';
        break;
      }
    }
  } catch (error) {
    if (error instanceof Stopped) {
      // The status is known. Only an attempt's own time-out is a matter of this body.
      if (error.why.by !== 'attempt') {
        reader?.cancel().catch(() => undefined);
        throw error;
      }
      fault = 'stalled';
    } else {
      fault = 'cut';
    }
  }
  if (fault !== undefined) reader?.cancel().catch(() => undefined);
  return { bytes: concat(chunks), fault };
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
