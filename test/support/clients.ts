import { PaymentsClient, PaymentsError, type ClientOptions } from 'payments-platform-sdk';
import { expect } from 'vitest';
import type { Fetch, GetWithBody } from '../../src/transports/transport.ts';

/** A request as the client sent it. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when there was none. */
  readonly body: string;
}

/** Responds to a request. The body is a parameter because a GET request cannot carry it. */
export type ReceivedResponse = (request: Request, body: string) => Response | Promise<Response>;

/** Credentials that no platform knows. */
export const apiKey = 'sk_test_recorder_0001';
export const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJyZWNvcmRlciJ9.c2lnbmF0dXJl';

/** A fetch and a getWithBody that record their requests and respond with `handle`. */
export function recorder(
  handle: (request: Request, body: string, count: number) => Response | Promise<Response>,
): {
  readonly requests: SentRequest[];
  readonly fetch: Fetch;
  readonly getWithBody: GetWithBody;
} {
  const requests: SentRequest[] = [];
  const receive = (request: Request, body: string): Promise<Response> => {
    const { method, url } = request;
    requests.push({ method, url, headers: Object.fromEntries(request.headers), body });
    return Promise.resolve(handle(request, body, requests.length));
  };
  return {
    requests,
    // The clone is read, so that `handle` receives a request with an unread body.
    fetch: async (request) => receive(request, await request.clone().text()),
    getWithBody: receive,
  };
}

/** A client whose requests go to `handle` with their number, and the list of the requests. */
export function clientOf(
  handle: Parameters<typeof recorder>[0] = () => Response.json({}),
  options: ClientOptions = {},
): { readonly payments: PaymentsClient; readonly requests: SentRequest[] } {
  const { requests, fetch, getWithBody } = recorder(handle);
  const payments = new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey,
    jwt,
    fetch,
    getWithBody,
    ...options,
  });
  return { payments, requests };
}

/** A client of a server. */
export const clientAt = (
  server: { readonly baseUrl: string },
  options: ClientOptions = {},
): PaymentsClient => new PaymentsClient({ baseUrl: server.baseUrl, apiKey, jwt, ...options });

/** A response of the platform: a string is sent unchanged, any other body as JSON. */
export const respond = (
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });

/** The error of a failed call. Success or another class of error fails the test. */
export async function failureOf<E extends PaymentsError = PaymentsError>(
  call: PromiseLike<unknown>,
  kind: abstract new (...facts: never[]) => E = PaymentsError as never,
): Promise<E> {
  let error: unknown;
  try {
    await call;
  } catch (thrown) {
    error = thrown;
  }
  if (error === undefined) throw new Error('The call was expected to fail.');
  expect(error).toBeInstanceOf(kind);
  return error as E;
}
