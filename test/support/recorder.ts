import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  PaymentsClient,
  type ClientOptions,
  type Fetch,
  type GetWithBody,
} from 'payments-platform-sdk';
import type { Sandbox } from 'payments-platform-sdk/sandbox';

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
export type Answer = (request: Request, body: string) => Response | Promise<Response>;

/** Credentials that belong to nobody. */
export const apiKey = 'sk_test_recorder_0001';
export const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJyZWNvcmRlciJ9.c2lnbmF0dXJl';

/** A fetch and its sibling that note what they are asked and let `answer` reply. */
export function recorder(answer: Answer): {
  readonly sent: Sent[];
  readonly fetch: Fetch;
  readonly getWithBody: GetWithBody;
} {
  const sent: Sent[] = [];
  const receive = (request: Request, body: string): Promise<Response> => {
    const { method, url } = request;
    sent.push({ method, url, headers: Object.fromEntries(request.headers), body });
    return Promise.resolve(answer(request, body));
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
  answer: Answer = () => Response.json({}),
  options: ClientOptions = {},
): { readonly payments: PaymentsClient; readonly sent: Sent[] } {
  const { sent, fetch, getWithBody } = recorder(answer);
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

/** A client of a sandbox whose every request is noted on its way. */
export const observedSandbox = (
  sandbox: Sandbox,
  options: ClientOptions = {},
): { readonly payments: PaymentsClient; readonly sent: Sent[] } =>
  observed(through(sandbox), { apiKey: sandbox.apiKey, jwt: sandbox.jwt, ...options });

/** Lets a sandbox answer. */
const through =
  (sandbox: Sandbox): Answer =>
  (request, body) =>
    request.method === 'GET' && body !== ''
      ? sandbox.getWithBody(request, body)
      : sandbox.fetch(request);

/** A server on this machine that notes what arrives as bytes, and lets `answer` reply. */
export async function recordingServer(answer: Answer): Promise<{
  readonly origin: string;
  readonly sent: Sent[];
  close(): Promise<void>;
}> {
  const sent: Sent[] = [];
  const server = createServer((incoming, outgoing) => {
    void textOf(incoming).then(async (body) => {
      const { method = '', url: path = '' } = incoming;
      const url = `http://${incoming.headers.host}${path}`;
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
      sent.push({ method, url, headers, body });
      const carriesBody = body !== '' && method !== 'GET';
      const request = new Request(url, { method, headers, ...(carriesBody ? { body } : {}) });
      const response = await answer(request, body);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(await response.text());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    sent,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
