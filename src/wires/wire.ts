import type { Departure } from '../outcome.ts';

/** How bytes leave: one small function from a request to a response, and what is known of it. */
export interface Wire extends Departure {
  /**
   * Sends one request. `body` is the text to send; a GET cannot carry it inside its Request.
   * Rejects with whatever the runtime throws.
   */
  send(request: Request, body: string | undefined): Promise<Response>;
}

/** A fetch of the user's own. */
export type Fetch = (input: Request, init?: RequestInit) => Promise<Response>;

/** A function of the user's own that sends a GET request with a body. */
export type GetWithBody = (request: Request, body: string) => Promise<Response>;
