import { stringifyJson } from '../../internal/json.ts';
import { toErrorBody, type SandboxError } from '../platform/sandbox-error.ts';

/**
 * A status, headers and a body text, not yet on any wire.
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

/** What a door has to show to the caller. */
export type SandboxReply =
  | ({
      /**
       * The whole reply; its headers and half of its body and then an end; the same and then
       * silence.
       */
      kind: 'complete' | 'truncated' | 'stalled';
    } & Reply)
  | {
      /** The connection breaks. */
      kind: 'reset';
    }
  | {
      /** Nothing happens until the caller gives up. */
      kind: 'hang';
    };

const json = { 'content-type': 'application/json' };

/** A success. 204 has no body, and so no content type. */
export const successReply = (status: number, value: unknown): Reply =>
  status === 204
    ? { status, headers: {}, body: null }
    : { status, headers: json, body: stringifyJson(value) };

/** A failure, with the documented error body. */
export const errorReply = (problem: SandboxError): Reply => ({
  status: problem.status,
  headers: json,
  body: stringifyJson(toErrorBody(problem)),
});

type StatusReply = Extract<SandboxReply, { status: number }>;

/**
 * Who waits for an answer. A Request that nobody holds is collected, and its signal then never
 * aborts; so whoever waits for the signal has to hold all of this.
 */
export interface Caller {
  readonly request: Request;
  readonly signal: AbortSignal;
  /** What the request was made from: it may be a Request with a signal of its own. */
  readonly origin: unknown;
}

/**
 * An answer as `fetch` would give it.
 * @throws TypeError `fetch failed` for a reset, in the words of Node.js; the signal's reason when it
 *   aborts while nothing is answered.
 */
export async function toResponse(response: SandboxReply, caller: Caller): Promise<Response> {
  if (response.kind === 'hang') return hang(caller);
  if (response.kind === 'reset') throw createResetError();
  return respond(response, caller);
}

function respond({ kind, status, headers, body }: StatusReply, caller: Caller): Response {
  if (body === null) return new Response(null, { status, headers });
  const bytes = new TextEncoder().encode(body);
  const half = bytes.subarray(0, bytes.length >> 1);
  const content =
    kind === 'complete'
      ? bytes
      : kind === 'truncated'
        ? truncateStream(half)
        : stallStream(half, caller);
  return new Response(content, {
    status,
    headers: { ...headers, 'content-length': String(bytes.length) },
  });
}

/** Callers left without an answer. They are no timers or sockets, so they keep no process alive. */
const waitingCallers = new Set<Caller>();

/** Calls `leave` when the caller gives up; the returned function ends the wait before that. */
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

/** Bytes, then the error of a connection that ended early. */
function truncateStream(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let wasRead = false;
  return new ReadableStream(
    {
      pull(controller) {
        // An error empties the queue, so it has to wait until the bytes were read.
        if (wasRead) controller.error(new TypeError('terminated'));
        else controller.enqueue(bytes);
        wasRead = true;
      },
    },
    { highWaterMark: 0 },
  );
}

/** Bytes, then nothing until the signal aborts. */
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
