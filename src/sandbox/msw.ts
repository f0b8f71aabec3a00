/**
 * Handlers for Mock Service Worker (msw) that respond from a sandbox. Install msw too.
 *
 * @module payments-platform-sdk/sandbox/msw
 */
import { http, HttpResponse, type HttpHandler } from 'msw';
import { trimTrailingSlashes } from '../internal/text.ts';
import { toResponse } from './api/responses.ts';
import type { Sandbox } from './sandbox.ts';

/** Options of {@link handlers}: the URLs of the calls that the sandbox answers. */
export interface HandlersOptions {
  /** The URL of the versioned API that your code calls. Default: that of `sandbox.clientOptions`. */
  baseUrl?: string | undefined;
  /** URL of the instruction and transaction calls. Default: `baseUrl` without its last segment. */
  rootUrl?: string | undefined;
}

/**
 * Creates handlers for msw that send your code's calls to a sandbox; if the code calls another URL,
 * pass {@link HandlersOptions}. For `instructions.list` and `transactions.list`, pass
 * `sandbox.clientOptions` to the client instead, because msw removes the body of every GET.
 * @example
 * ```ts
 * import { setupServer } from 'msw/node';
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 * import { handlers } from 'payments-platform-sdk/sandbox/msw';
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
  // The root URL is by default the base URL without its last part, the version.
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

/** Passes a request that msw intercepted to the sandbox, and returns the response. */
async function createResponse(sandbox: Sandbox, request: Request): Promise<Response> {
  const { method, url, headers, signal } = request;
  try {
    const body = await request.text();
    const reply = await sandbox.handle({ method, url, headers, body, signal });
    // An error response is the only way in which msw can break a connection.
    if (reply.kind === 'reset') return HttpResponse.error();
    return await toResponse(reply, { request, signal, origin: request });
  } catch (cause) {
    // If the caller aborts, this handler never finishes, because msw would report the abort as an
    // error of the handler.
    if (signal.aborted) return new Promise(() => {});
    throw cause;
  }
}
