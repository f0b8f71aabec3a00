import { cannotSend, identity, type CallRequest } from './call.ts';
import type { ConfigurationError } from '../errors/errors.ts';
import type { Prepared } from './prepare.ts';
import { isBrowser } from '../internal/runtime.ts';
import { dispatcherTransport } from '../transports/dispatcher.ts';
import { fetchTransport, givenGetWithBody } from '../transports/fetch.ts';
import { nodeHttpTransport } from '../transports/node-http.ts';
import type { Fetch, GetWithBody, Transport } from '../transports/transport.ts';

/** The ways that the user has named. */
interface Given {
  readonly fetch: Fetch | undefined;
  readonly getWithBody: GetWithBody | undefined;
}

/** The wire that a call takes. Throws ConfigurationError when this runtime has none for it. */
export function chooseTransport(call: CallRequest, prepared: Prepared, given: Given): Transport {
  refuseInBrowsers(call, prepared, given);
  const { fetch, getWithBody } = given;
  if (call.method !== 'GET' || prepared.body === undefined) {
    const global = fetch === undefined || fetch === globalThis.fetch;
    // Looked up at each call, so that one installed later (a test stub) is seen.
    const send = fetch ?? globalThis.fetch;
    if (typeof send !== 'function') throw noFetch(call);
    return (global ? dispatcherTransport() : undefined) ?? fetchTransport(send, call.kind);
  }
  const transport =
    getWithBody === undefined
      ? (dispatcherTransport() ?? nodeHttpTransport())
      : givenGetWithBody(getWithBody);
  if (transport !== undefined) return transport;
  throw cannotSend(
    identity(call),
    'needs a GET with a body, which this runtime cannot send',
    'Call it from Node.js, Bun or Deno, or pass the option getWithBody.',
  );
}

/** Where a test environment has taken it away, such as jest-environment-jsdom. */
const noFetch = (call: CallRequest): ConfigurationError =>
  cannotSend(
    identity(call),
    'cannot be sent: there is no global fetch here',
    'Run it where there is one, or pass the option fetch.',
  );

/**
 * Browsers send a request again whose connection was reset, a POST too, and neither tell of it nor
 * let themselves be stopped. A fetch that is merely the browser's, under whatever wrapper a
 * framework has put around it, is no way out; one that the user has chosen is theirs to judge.
 */
function refuseInBrowsers(call: CallRequest, prepared: Prepared, { fetch }: Given): void {
  if (call.kind === 'safe' || !isBrowser()) return;
  if (fetch !== undefined && fetch !== globalThis.fetch) return;
  if (prepared.idempotencyKey !== undefined) return;
  const key =
    call.method === 'POST'
      ? ', or the option idempotencyHeader if the platform honours such a header'
      : '';
  throw cannotSend(
    identity(call),
    'is not sent from a browser, which may send it twice',
    `Browsers silently resend a request when its connection dies. Send it from a server, or pass a fetch of your own${key}.`,
  );
}
