import type { Evidence, TransportFacts } from '../errors/outcome.ts';

/** Why the body of a response is unusable. `incomplete`: its compressed data ends too early. */
export type BodyFault = 'stalled' | 'cut' | 'incomplete' | 'undecodable' | 'too_large' | 'not_text';

/** Notifies a transport that its request has to end, such as at the deadline. */
interface Stop {
  /** A signal for fetch. Created on first access, because `onStop` needs no signal. */
  readonly signal: AbortSignal;
  /**
   * Calls the listener once when the request's time is up, immediately if the time is up already.
   * Returns a function that removes the listener.
   */
  onStop(listener: (reason: Error) => void): () => void;
  /** If the request's time is up, calls the listeners and throws, even if no timer has fired. */
  check(): void;
}

/** One request that is ready for a transport to send. */
export interface TransportRequest {
  readonly method: string;
  /** The URL, already normalized as by `new URL(url).href`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Notifies the transport when to end the request and the response body. */
  readonly stop: Stop;
  /** The scan of a list that the request is part of, if it needs connections of its own. */
  readonly scan?: Scan | undefined;
}

/**
 * Identifies one scan of a list, by the identity of the object. Its requests use only connections
 * that no other request has used, so a stray response can only be a copy of an earlier page, as its
 * cursor shows.
 */
export type Scan = object;

/** The part of a response body that has been read, and what is wrong with the body. */
export interface Body {
  readonly bytes: Uint8Array;
  readonly fault: BodyFault | undefined;
}

/** A response whose headers have arrived: a `Response`, or the part of it that a call needs. */
export interface TransportResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  /** The header `date`, if the transport reads it without creating `headers`. */
  readonly date?: string;
  /**
   * Whether an earlier request was sent on the connection of this response, so that the response
   * may be a late copy of an earlier one. Absent if the transport does not know.
   */
  readonly isOnUsedConnection?: boolean;
  /** The response body as a stream. Absent if the transport does not use streams. */
  readonly body?: ReadableStream<Uint8Array> | null;
  /** The response body if all of its bytes have arrived, otherwise undefined. */
  completeBody?(limit: number): Body | undefined;
  /** Reads at most `limit` bytes of the response body. Never rejects. */
  readBody?(limit: number): Promise<Body>;
  /** Ends a response body that no caller will read. */
  discardBody?(): void;
  /** Closes the connection even if the response has ended, because a surplus response may follow. */
  closeConnection?(): void;
  /** The bytes of the response body that `readBody` has read so far. */
  partialBody?(): Uint8Array;
}

/** Sends requests, and knows whether an error of this runtime proves that nothing was sent. */
export interface Transport extends TransportFacts {
  /** Sends one request. Rejects with the error of the runtime. */
  send(request: TransportRequest, evidence: Evidence): Promise<TransportResponse>;
  /**
   * Waits briefly, never for the network, until requests that were just started are likely to have
   * been written. Absent where the transport cannot know.
   */
  flush?(): Promise<void>;
}

/** A custom fetch. The client calls it for every request except a GET with a body. */
export type Fetch = (input: Request, init?: RequestInit) => Promise<Response>;

/** Your function that sends a GET request together with a body, which fetch cannot do. */
export type GetWithBody = (request: Request, body: string) => Promise<Response>;
