import { stringifyJson } from '../../internal/json.ts';
import { toErrorBody, SandboxError } from '../platform/sandbox-error.ts';
import { takeResponseTurn } from '../platform/turn.ts';

/**
 * A response of the sandbox before it is sent: status, headers and body.
 * @inline
 */
export interface Reply {
  /** The HTTP status of the response. */
  status: number;
  /** The headers of the response by their names. */
  headers: Record<string, string>;
  /** The text of the response body; null when there is none. */
  body: string | null;
}

/** What a caller of the sandbox gets: a whole response, part of a response, or none. */
export type SandboxReply =
  | ({
      /**
       * `complete`: the whole response. Otherwise the caller gets the headers and half of the body,
       * and then the connection ends (`truncated`) or sends nothing more (`stalled`).
       */
      kind: 'complete' | 'truncated' | 'stalled';
    } & Reply)
  | {
      /** The connection breaks before any response. */
      kind: 'reset';
    }
  | {
      /** The sandbox sends no response, so the caller waits until it aborts. */
      kind: 'hang';
    };

const json = { 'content-type': 'application/json' };

/** Creates the response of a successful call. A 204 has no body, and so no content type. */
export const successReply = (status: number, value: unknown): Reply =>
  status === 204
    ? { status, headers: {}, body: null }
    : { status, headers: json, body: stringifyJson(value) };

/** Creates the response of a rejected call, with the documented error body. */
export const errorReply = (problem: SandboxError): Reply => ({
  status: problem.status,
  headers: json,
  body: stringifyJson(toErrorBody(problem)),
});

export const createErrorReply = (status: number, code: string, message: string): Reply =>
  errorReply(new SandboxError(message, { code, status }));

type StatusReply = Extract<SandboxReply, { status: number }>;
type Bytes = Uint8Array<ArrayBuffer>;

/**
 * A caller of the sandbox's `fetch` that waits for a response. A signal never aborts after its
 * Request was garbage collected, so this object keeps the Request and the signal in memory.
 */
export interface Caller {
  readonly request: Request;
  readonly signal: AbortSignal;
  /** The first argument of `fetch`. If it is a Request, its signal has to stay in memory too. */
  readonly origin: unknown;
}

/**
 * Waits for a turn of the event loop, then returns the response as `fetch` does. The call has taken
 * effect before that turn, so a test that aborts a call can see the payment that the call made.
 * @throws TypeError `fetch failed` for a reset, as Node.js does; the signal's reason when it aborts
 *   before the response.
 */
export async function toResponse(response: SandboxReply, caller: Caller): Promise<Response> {
  await takeResponseTurn();
  caller.signal.throwIfAborted();
  if (response.kind === 'hang') return hang(caller);
  if (response.kind === 'reset') throw createResetError();
  const { kind, status, headers, body } = response;
  if (body === null) return new Response(null, { status, headers });
  const bytes = new TextEncoder().encode(body);
  return new Response(createContent(kind, bytes, caller), {
    status,
    headers: { ...headers, 'content-length': String(bytes.length) },
  });
}

function createContent(kind: StatusReply['kind'], bytes: Bytes, caller: Caller) {
  if (kind === 'complete') return bytes;
  const half = bytes.subarray(0, bytes.length >> 1);
  return kind === 'truncated' ? truncateStream(half) : stallStream(half, caller);
}

/** Callers whose response never completes. Being in this set keeps their signals in memory. */
const waitingCallers = new Set<Caller>();

/**
 * Calls `onAbort` when the caller aborts its request, at once if it already has, and keeps the
 * caller and its signal in memory until then. The returned function stops listening.
 */
function watchAbort(caller: Caller, onAbort: (reason: unknown) => void): () => void {
  const { signal } = caller;
  const stopListening = () => {
    waitingCallers.delete(caller);
    signal.removeEventListener('abort', handleAbort);
  };
  const handleAbort = () => {
    stopListening();
    onAbort(signal.reason);
  };
  waitingCallers.add(caller);
  signal.addEventListener('abort', handleAbort);
  if (signal.aborted) handleAbort();
  return stopListening;
}

const hang = (caller: Caller) =>
  new Promise<never>((_resolve, reject) => {
    watchAbort(caller, reject);
  });

const createResetError = () =>
  new TypeError('fetch failed', {
    cause: Object.assign(new Error('read ECONNRESET'), {
      code: 'ECONNRESET',
      errno: -104,
      syscall: 'read',
    }),
  });

/** Creates a response body that breaks off after these bytes, as if the connection closed. */
function truncateStream(bytes: Bytes): ReadableStream<Bytes> {
  let wasRead = false;
  return new ReadableStream(
    {
      pull(controller) {
        // A stream that fails discards unread bytes, so let the caller read them before the error.
        if (wasRead) controller.error(new TypeError('terminated'));
        else controller.enqueue(bytes);
        wasRead = true;
      },
    },
    // Without a buffer, the stream calls `pull` only when the caller reads.
    { highWaterMark: 0 },
  );
}

/** Creates a response body that sends these bytes and then stalls until the signal aborts. */
function stallStream(bytes: Bytes, caller: Caller): ReadableStream<Bytes> {
  let stopListening: () => void;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      stopListening = watchAbort(caller, (reason) => {
        controller.error(reason);
      });
    },
    cancel() {
      stopListening();
    },
  });
}
