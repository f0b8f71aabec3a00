import {
  PaymentsClient,
  PaymentsError,
  type ClientOptions,
  type Fetch,
  type GetWithBody,
} from 'payments-platform-sdk';
import { expect } from 'vitest';

/** A request as it left the client. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when there was none. */
  readonly body: string;
}

/** Answers a request; the body is handed over as well, because a GET cannot carry it. */
export type ReceivedResponse = (request: Request, body: string) => Response | Promise<Response>;

/** Credentials that belong to nobody. */
export const apiKey = 'sk_test_recorder_0001';
export const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJyZWNvcmRlciJ9.c2lnbmF0dXJl';

/** A fetch and its sibling that note what they are asked and let `answer` reply. */
export function recorder(response: ReceivedResponse): {
  readonly sent: Sent[];
  readonly fetch: Fetch;
  readonly getWithBody: GetWithBody;
} {
  const sent: Sent[] = [];
  const receive = (request: Request, body: string): Promise<Response> => {
    const { method, url } = request;
    sent.push({ method, url, headers: Object.fromEntries(request.headers), body });
    return Promise.resolve(response(request, body));
  };
  return {
    sent,
    // A copy is read, so that `answer` gets a request whose body is still there.
    fetch: async (request) => receive(request, await request.clone().text()),
    getWithBody: receive,
  };
}

/** A client whose every request is noted, and answered by `answer`. */
export function observed(
  response: ReceivedResponse = () => Response.json({}),
  options: ClientOptions = {},
): { readonly payments: PaymentsClient; readonly sent: Sent[] } {
  const { sent, fetch, getWithBody } = recorder(response);
  const payments = new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey,
    jwt,
    fetch,
    getWithBody,
    ...options,
  });
  return { payments, sent };
}

/** A client of a server of the test. */
export const clientAt = (
  server: { readonly baseUrl: string },
  options: ClientOptions = {},
): PaymentsClient => new PaymentsClient({ baseUrl: server.baseUrl, apiKey, jwt, ...options });

/** A client whose requests all end in one function, which is told how many there have been. */
export function clientOf(
  handle: (request: Request, body: string, count: number) => Response | Promise<Response>,
  options: ClientOptions = {},
): { readonly payments: PaymentsClient; readonly requests: Sent[] } {
  const { payments, sent } = observed(
    (request, body) => handle(request, body, sent.length),
    options,
  );
  return { payments, requests: sent };
}

/** An answer of the platform: a text is sent as it is, anything else as JSON. */
export const respond = (
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });

/** The error that a call ends in; another class, or success, fails the test. */
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
