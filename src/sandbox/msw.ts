/**
 * A sandbox behind msw, which has to be installed beside this package.
 *
 * @module payments-platform-sdk/sandbox/msw
 */
import { http, HttpResponse, type HttpHandler } from 'msw';
import { toResponse } from './api/responses.ts';
import type { Sandbox } from './sandbox.ts';

/** Where the calls go that a sandbox is to answer. */
export interface HandlersOptions {
  /** The URL of the versioned API that your code calls. Default: that of `sandbox.clientOptions`. */
  baseUrl?: string | undefined;
  /** The URL of the root API. Default: `baseUrl` without its last segment. */
  rootUrl?: string | undefined;
}

/**
 * Handlers for msw that let a sandbox answer all but `instructions.list` and `transactions.list`: msw takes
 * the body off every GET. For these, hand `sandbox.clientOptions` to the client.
 *
 * @example
 * ```ts
 * import { setupServer } from 'msw/node';
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 * import { handlers } from 'payments-platform-sdk/sandbox/msw';
 *
 * const sandbox = new Sandbox();
 * const baseUrl = 'https://api.example.com/v0';
 * const server = setupServer(...handlers(sandbox, { baseUrl }));
 * server.listen();
 * const client = new PaymentsClient({ baseUrl, apiKey: sandbox.apiKey });
 * console.log((await client.accounts.list()).data.length);
 * server.close();
 * ```
 */
export function handlers(sandbox: Sandbox, options: HandlersOptions = {}): HttpHandler[] {
  const baseUrl = withoutSlash(options.baseUrl ?? sandbox.clientOptions.baseUrl);
  const rootUrl = withoutSlash(options.rootUrl ?? baseUrl.replace(/\/[^/]*$/, ''));
  const patterns = [
    `${baseUrl}/*`,
    `${rootUrl}/instruction/build`,
    `${rootUrl}/instructions/all`,
    `${rootUrl}/transactions`,
  ];
  return patterns.map((pattern) =>
    http.all(pattern, ({ request }) => createResponse(sandbox, request)),
  );
}

async function createResponse(sandbox: Sandbox, request: Request): Promise<Response> {
  const { method, url, headers, signal } = request;
  try {
    const body = await request.text();
    const reply = await sandbox.handle({ method, url, headers, body, signal });
    // This is the one way to tell msw that the connection breaks.
    if (reply.kind === 'reset') return HttpResponse.error();
    return await toResponse(reply, { request, signal, origin: request });
  } catch (cause) {
    // msw would report the caller's own abort as a fault of this handler.
    if (signal.aborted) return new Promise(() => {});
    throw cause;
  }
}

const withoutSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '');
