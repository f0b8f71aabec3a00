import type { Evidence, TransportFacts } from '../errors/outcome.ts';

/** How a request learns that it has to end. */
interface Stop {
  /** Made when somebody asks: a wire that listens to `onStop` does without. */
  readonly signal: AbortSignal;
  /** Calls the listener once, at once when it is over already. Returns what takes it off again. */
  onStop(listener: (reason: Error) => void): () => void;
  /** Throws when time is up, also when no timer has said so yet; the listeners are called first. */
  check(): void;
}

/** One request, ready to go. */
export interface TransportRequest {
  readonly method: string;
  /** As a URL writes itself: nothing in it is left to be normalised. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Ends the request, its body included. */
  readonly stop: Stop;
}

/** What the wire notes of one request while it is under way. */
export interface Trace extends Evidence {
  /** True when somebody between us and the platform began the request again by itself. */
  repeated?: boolean;
}

/** Why a body could not be read to its end. */
export type BodyFault = 'stalled' | 'cut' | 'too_large' | 'not_text';

/** A body as far as it has been read. */
export interface Body {
  readonly bytes: Uint8Array;
  readonly fault: BodyFault | undefined;
}

/** Statuses whose Response may not have a body. */
export const bodylessStatuses: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/** An answer whose headers have arrived: a Response, or as little of one as is needed. */
export interface TransportResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  /** The body as a stream, for wires that have one. */
  readonly body?: ReadableStream<Uint8Array> | null;
  /** The body when all of it is there already; undefined while some of it is on its way. */
  whole?(limit: number): Body | undefined;
  /** The body read by the wire itself, `limit` bytes at most; rejects with nothing. */
  collect?(limit: number): Promise<Body>;
  /** Ends a body that nobody will read; for wires that have `collect`. */
  discard?(): void;
  /** What `collect` has read so far. */
  soFar?(): Uint8Array;
}

/** How bytes leave: one small function from a request to an answer, and what is known of it. */
export interface Transport extends TransportFacts {
  /**
   * Whether ky has to build a whole Request for this wire. A wire that takes the parts as they are
   * is spared that.
   */
  readonly wantsRequest: boolean;
  /** Sends one request. Rejects with whatever the runtime throws. */
  send(request: TransportRequest, built: Request, trace: Trace): Promise<TransportResponse>;
  /**
   * Waits, briefly and never for the network, until what was just asked for is likely to have been
   * written. Absent where the wire does not know.
   */
  flush?(): Promise<void>;
}

/** A custom fetch; receives every request except a GET with a body. */
export type Fetch = (input: Request, init?: RequestInit) => Promise<Response>;

/** Sends a GET request together with a body. */
export type GetWithBody = (request: Request, body: string) => Promise<Response>;
