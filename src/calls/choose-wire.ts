import { identity, type CallRequest } from './call.ts';
import { ConfigurationError } from '../errors/errors.ts';
import type { Prepared } from './prepare.ts';
import { isBrowser } from '../wires/runtime.ts';
import { dispatcherWire } from '../wires/dispatcher.ts';
import { fetchWire, givenGetWithBody } from '../wires/fetch.ts';
import { nodeHttpWire } from '../wires/node-http.ts';
import type { Fetch, GetWithBody, Wire } from '../wires/wire.ts';

/** The ways that the user has named. */
interface Given {
  readonly fetch: Fetch | undefined;
  readonly getWithBody: GetWithBody | undefined;
}

/** The wire that a call takes. Throws ConfigurationError when this runtime has none for it. */
export function chooseWire(call: CallRequest, prepared: Prepared, given: Given): Wire {
  refuseInBrowsers(call, prepared, given);
  const { fetch, getWithBody } = given;
  if (call.method !== 'GET' || prepared.body === undefined) {
    const global = fetch === undefined || fetch === globalThis.fetch;
    // Looked up at each call, so that one installed later (a test stub) is seen.
    const send = fetch ?? globalThis.fetch;
    if (typeof send !== 'function') throw noFetch(call);
    return (global ? dispatcherWire() : undefined) ?? fetchWire(send, call.kind);
  }
  const wire =
    getWithBody === undefined
      ? (dispatcherWire() ?? nodeHttpWire())
      : givenGetWithBody(getWithBody);
  if (wire !== undefined) return wire;
  throw new ConfigurationError(
    `${call.operation} is a GET request with a body, which this runtime cannot send.\nCall it from Node.js, Bun or Deno, or give the client the option getWithBody.\nNothing was sent.`,
    { ...identity(call), outcome: 'not_sent' },
  );
}

/** Where a test environment has taken it away, such as jest-environment-jsdom. */
const noFetch = (call: CallRequest): ConfigurationError =>
  new ConfigurationError(
    `${call.operation} cannot be sent: there is no global fetch here.\nRun it where there is one, or give the client the option fetch.\nNothing was sent.`,
    { ...identity(call), outcome: 'not_sent' },
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
      ? ', or set the option idempotencyHeader if the platform honours such a header'
      : '';
  throw new ConfigurationError(
    `${call.operation} is not sent from a browser, which may send it twice.\nBrowsers silently resend a request when its connection dies: send it from a server, or give the client a fetch of your own${key}.\nNothing was sent.`,
    { ...identity(call), outcome: 'not_sent' },
  );
}
