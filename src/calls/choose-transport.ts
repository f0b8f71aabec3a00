import { cannotSend, identity, type CallRequest, type PreparedRequest } from './call.ts';
import { isBrowser, runtime, warnOfReplacedFetch } from '../internal/runtime.ts';
import { createFetchTransport, createGetWithBodyTransport } from '../transports/fetch.ts';
import type { PipelineSetup } from './setup.ts';
import { createBodiedGetTransport, createNodeTransport } from '../transports/node-http.ts';
import type { Transport } from '../transports/transport.ts';

type CustomTransports = Pick<PipelineSetup, 'fetch' | 'getWithBody' | 'agent'>;

/** Chooses the transport of a call. Throws ConfigurationError if the call cannot be sent from here. */
export function chooseTransport(
  call: CallRequest,
  prepared: PreparedRequest,
  custom: CustomTransports,
): Transport {
  rejectInBrowsers(call, prepared, custom);
  const { fetch, getWithBody, agent } = custom;
  // Only a GET with a body needs a transport of its own, because no `fetch` can send such a request.
  if (call.method !== 'GET' || prepared.body === undefined) {
    if (fetch !== undefined) return createFetchTransport(fetch, call.kind);
    const nodeTransport = openNodeTransport(call, agent);
    if (nodeTransport !== undefined) {
      warnOfReplacedFetch();
      return nodeTransport;
    }
    // Read the global fetch at each call, because a test may replace it after creating the client.
    const send = globalThis.fetch;
    if (typeof send === 'function') return createFetchTransport(send, call.kind);
    throw cannotSend(
      identity(call),
      'cannot be sent: there is no global fetch here',
      'Run it where there is one, or pass the option fetch.',
    );
  }
  const transport =
    getWithBody === undefined
      ? (openNodeTransport(call, agent) ?? createBodiedGetTransport())
      : createGetWithBodyTransport(getWithBody);
  if (transport !== undefined) return transport;
  throw cannotSend(
    identity(call),
    'needs a GET with a body, which this runtime cannot send',
    'Call it from Node.js, Bun or Deno, or pass the option getWithBody.',
  );
}

/**
 * Creates the transport of Node.js; undefined on other runtimes. Throws on a Node.js without
 * process.getBuiltinModule, because the global fetch would ignore `agent` and prove less.
 */
function openNodeTransport(
  call: CallRequest,
  agent: CustomTransports['agent'],
): Transport | undefined {
  const transport = createNodeTransport(agent);
  if (transport !== undefined || runtime() !== 'node' || isBrowser()) return transport;
  throw cannotSend(
    identity(call),
    'cannot be sent: this Node.js has no process.getBuiltinModule',
    'Use Node.js 22.3 or later, or pass the options fetch and getWithBody.',
  );
}

/**
 * Throws if a browser would send a write, because browsers silently resend a request, even a POST,
 * if its connection was reset. A fetch that the caller passes as an option may send writes, unless
 * that fetch is the global one.
 */
function rejectInBrowsers(
  call: CallRequest,
  prepared: PreparedRequest,
  { fetch }: CustomTransports,
): void {
  if (call.kind === 'safe' || !isBrowser()) return;
  if (fetch !== undefined && fetch !== globalThis.fetch) return;
  // With an idempotency key, a request that the browser sends twice takes effect only once.
  if (prepared.idempotencyKey !== undefined) return;
  const key =
    call.method === 'POST'
      ? ', or the option platform.idempotencyHeader if the platform honours such a header'
      : '';
  throw cannotSend(
    identity(call),
    'is not sent from a browser, which may send it twice',
    `Browsers silently resend a request when its connection dies. Send it from a server or Electron's main process, or pass a fetch that is not the browser's${key}.`,
  );
}
