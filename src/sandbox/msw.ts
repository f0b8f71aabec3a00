/**
 * A sandbox behind msw, which has to be installed beside this package.
 *
 * @module payments-platform-sdk/sandbox/msw
 */
import { http, HttpResponse, type HttpHandler } from 'msw';
import { trimTrailingSlashes } from '../internal/text.ts';
import { toResponse } from './api/responses.ts';
import type { Sandbox } from './sandbox.ts';

/** The URLs of the calls that a sandbox receives. */
export interface HandlersOptions {
  /** The URL of the versioned API that your code calls. Default: that of `sandbox.clientOptions`. */
  baseUrl?: string | undefined;
  /** The URL of the root API. Default: `baseUrl` without its last segment. */
  rootUrl?: string | undefined;
}

/**
 * Handlers for msw that send calls to a sandbox. `instructions.list` and `transactions.list` do not work,
 * because msw removes the body of every GET: for these, pass `sandbox.clientOptions` to the client.
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
  const baseUrl = trimTrailingSlashes(options.baseUrl ?? sandbox.clientOptions.baseUrl);
  const rootUrl = trimTrailingSlashes(options.rootUrl ?? baseUrl.replace(/\/[^/]*$/, ''));
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
    // msw has no other way to break a connection.
    if (reply.kind === 'reset') return HttpResponse.error();
    return await toResponse(reply, { request, signal, origin: request });
  } catch (cause) {
    // Without this promise, msw would report the caller's abort as an error of this handler.
    if (signal.aborted) return new Promise(() => {});
    throw cause;
  }
}
