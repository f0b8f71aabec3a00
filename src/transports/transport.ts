import type { Evidence, TransportFacts } from '../errors/outcome.ts';

/** Why a body was not read to its end. `incomplete`: it arrived, but its compressed data is cut. */
export type BodyFault = 'stalled' | 'cut' | 'incomplete' | 'undecodable' | 'too_large' | 'not_text';

/** Notifies a transport that its request has to end. */
interface Stop {
  /** Created on first access, because a transport that uses `onStop` does not need a signal. */
  readonly signal: AbortSignal;
  /** Calls the listener once, immediately if the time is up. Returns a function that removes it. */
  onStop(listener: (reason: Error) => void): () => void;
  /** Throws if the time is up, even if the timer has not fired yet. Calls the listeners first. */
  check(): void;
}

/** One request, ready to send. */
export interface TransportRequest {
  readonly method: string;
  /** The URL, already normalized as by `new URL(url).href`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Ends the request and the response body. */
  readonly stop: Stop;
}

/** A body as far as it has been read. */
export interface Body {
  readonly bytes: Uint8Array;
  readonly fault: BodyFault | undefined;
}

/** Statuses with which a `Response` cannot have a body. */
export const bodylessStatuses: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/** A response whose headers have arrived: a `Response`, or the part of it that a call needs. */
export interface TransportResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  /** The body as a stream, for transports that have one. */
  readonly body?: ReadableStream<Uint8Array> | null;
  /** The body if all of it has arrived; undefined otherwise. */
  completeBody?(limit: number): Body | undefined;
  /** Reads the body, at most `limit` bytes of it; never rejects. */
  readBody?(limit: number): Promise<Body>;
  /** Ends a body that will not be read. */
  discardBody?(): void;
  /** Closes the connection, even after the response ended, as it may hold a surplus response. */
  closeConnection?(): void;
  /** The bytes that `readBody` has read so far. */
  partialBody?(): Uint8Array;
}

/** Sends requests, and knows what an error of this runtime proves. */
export interface Transport extends TransportFacts {
  /** Whether ky has to create a `Request`; a transport that does not need one saves its cost. */
  readonly wantsRequest: boolean;
  /** Sends one request. Rejects with the error of the runtime. */
  send(request: TransportRequest, built: Request, evidence: Evidence): Promise<TransportResponse>;
  /**
   * Waits briefly, never for the network, until requests that were just started are likely to have
   * been written. Absent where the transport cannot know.
   */
  flush?(): Promise<void>;
}

/** A custom fetch. The client calls it for every request except a GET with a body. */
export type Fetch = (input: Request, init?: RequestInit) => Promise<Response>;

/** Sends a GET request together with a body. */
export type GetWithBody = (request: Request, body: string) => Promise<Response>;
