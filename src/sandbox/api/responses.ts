import { stringifyJson } from '../../internal/json.ts';
import { toErrorBody, type SandboxError } from '../platform/sandbox-error.ts';
import { takeResponseTurn } from '../platform/turn.ts';

/**
 * A status, headers and a body, before they are sent.
 * @inline
 */
export interface Reply {
  /** The HTTP status. */
  status: number;
  /** Headers by name. */
  headers: Record<string, string>;
  /** The text of the body; null when there is none. */
  body: string | null;
}

/** The response that an entry point sends to the caller. */
export type SandboxReply =
  | ({
      /**
       * `complete` is the whole reply. Otherwise the caller gets the headers and half of the body,
       * and the connection ends (`truncated`) or stalls.
       */
      kind: 'complete' | 'truncated' | 'stalled';
    } & Reply)
  | {
      /** The connection breaks. */
      kind: 'reset';
    }
  | {
      /** The sandbox sends no response until the caller aborts. */
      kind: 'hang';
    };

const json = { 'content-type': 'application/json' };

/** The reply of a success. 204 has no body, and so no content type. */
export const successReply = (status: number, value: unknown): Reply =>
  status === 204
    ? { status, headers: {}, body: null }
    : { status, headers: json, body: stringifyJson(value) };

/** The reply of a failure, with the documented error body. */
export const errorReply = (problem: SandboxError): Reply => ({
  status: problem.status,
  headers: json,
  body: stringifyJson(toErrorBody(problem)),
});

type StatusReply = Extract<SandboxReply, { status: number }>;

/**
 * The caller that waits for a response. A signal never aborts after its Request was garbage
 * collected, so a wait for the signal keeps a reference to all of these.
 */
export interface Caller {
  readonly request: Request;
  readonly signal: AbortSignal;
  /** The argument that the request was made from: perhaps a Request with a signal of its own. */
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
  return respond(response, caller);
}

function respond({ kind, status, headers, body }: StatusReply, caller: Caller): Response {
  if (body === null) return new Response(null, { status, headers });
  const bytes = new TextEncoder().encode(body);
  return new Response(createContent(kind, bytes, caller), {
    status,
    headers: { ...headers, 'content-length': String(bytes.length) },
  });
}

function createContent(
  kind: StatusReply['kind'],
  bytes: Uint8Array<ArrayBuffer>,
  caller: Caller,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> {
  if (kind === 'complete') return bytes;
  const half = bytes.subarray(0, bytes.length >> 1);
  return kind === 'truncated' ? truncateStream(half) : stallStream(half, caller);
}

/** Callers that get no complete response. The set keeps them, but not the process, alive. */
const waitingCallers = new Set<Caller>();

/** Calls `onAbort` when the caller gives up; the returned function ends the wait. */
function watchAbort(caller: Caller, onAbort: (reason: unknown) => void): () => void {
  const { signal } = caller;
  const end = () => {
    waitingCallers.delete(caller);
    signal.removeEventListener('abort', abort);
  };
  const abort = () => {
    end();
    onAbort(signal.reason);
  };
  waitingCallers.add(caller);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  return end;
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

/** A stream of bytes that ends with the error of a closed connection. */
function truncateStream(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let wasRead = false;
  return new ReadableStream(
    {
      pull(controller) {
        // An error would discard the bytes in the queue, so the error comes after they were read.
        if (wasRead) controller.error(new TypeError('terminated'));
        else controller.enqueue(bytes);
        wasRead = true;
      },
    },
    { highWaterMark: 0 },
  );
}

/** A stream of bytes that never ends unless the signal aborts. */
function stallStream(
  bytes: Uint8Array<ArrayBuffer>,
  caller: Caller,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let end: () => void;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      end = watchAbort(caller, (reason) => {
        controller.error(reason);
      });
    },
    cancel() {
      end();
    },
  });
}
