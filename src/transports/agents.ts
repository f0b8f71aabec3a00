import type * as NodeHttp from 'node:http';
import type * as NodeHttps from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { requiredModule } from '../internal/runtime.ts';

/** An `Agent` of `node:http` or `node:https`, described without the types of Node. */
export interface HttpAgent {
  /** How many connections to one host it opens at most. */
  readonly maxSockets: number;
  /** How many idle connections to one host it keeps at most. */
  readonly maxFreeSockets: number;
  /** Closes its connections. */
  destroy(): void;
}

/** `node:https` has the same interface. */
type HttpModule = typeof NodeHttp;

/** The module of a protocol, and the agents that all clients share. */
interface Protocol {
  readonly http: HttpModule;
  readonly reads: NodeHttp.Agent;
  readonly writes: NodeHttp.Agent;
}

/** How long a connection may have been idle when a request takes it. */
export const maxIdleMs = { read: 4_000, write: 300 };

/** How many connections to one host read: a process may have 256 files and connections open on macOS. */
const maxReadConnections = 100;

/** How long a proxy may take for a tunnel: Node does not end a tunnel with its request. */
const tunnelTimeoutMs = 30_000;

/** Where the requests to an origin go. */
interface Origin extends Protocol {
  readonly address: NodeHttp.RequestOptions;
}

const origins = new Map<string, Origin>();

/** Loads what all requests to an origin share, once. */
export function loadOrigin(origin: string): Origin {
  let loaded = origins.get(origin);
  if (loaded === undefined) {
    const { protocol, hostname, port } = new URL(origin);
    // Without the brackets of an IPv6 address.
    const address = { protocol, hostname: hostname.replace(/^\[(.+)\]$/, '$1'), port };
    loaded = { ...loadProtocol(protocol), address };
    origins.set(origin, loaded);
  }
  return loaded;
}

const protocols = new Map<string, Protocol>();

/** Loads the module of a protocol, such as `https:`, and creates its agents; both once. */
function loadProtocol(name: string): Protocol {
  const loaded = protocols.get(name);
  if (loaded !== undefined) return loaded;
  const http = requiredModule(`node:${name.slice(0, -1)}`) as HttpModule;
  const protocol = {
    http,
    reads: createKeepingAgent(http, maxIdleMs.read, {
      scheduling: 'lifo',
      maxSockets: maxReadConnections,
    }),
    // The connection that has been silent for the longest time comes first. At a limit, a write that gets one which is
    // not silent yet would wait again and again.
    writes: createKeepingAgent(http, maxIdleMs.write, { scheduling: 'fifo' }),
  };
  protocols.set(name, protocol);
  return protocol;
}

function createKeepingAgent(
  { Agent, globalAgent }: HttpModule,
  idleMs: number,
  limits: Pick<NodeHttp.AgentOptions, 'scheduling' | 'maxSockets'>,
): NodeHttp.Agent {
  const proxy = findProxyOption(globalAgent);
  class KeepingAgent extends Agent {
    /** Called when a response has ended. */
    override keepSocketAlive(connection: Duplex): boolean {
      const { options } = this as unknown as { options: NodeHttp.AgentOptions };
      const { timeout } = options;
      // Node takes it, or a shorter time that the server announced, and starts no timer that it has.
      options.timeout = idleMs;
      try {
        const isKept: unknown = super.keepSocketAlive(connection);
        return isKept !== false;
      } finally {
        options.timeout = timeout;
      }
    }
    /** Called for a new connection. A tunnel that never comes must not keep a process alive: its caller's timer does. */
    override createConnection(
      ...[options, callback]: Parameters<NodeHttp.Agent['createConnection']>
    ): ReturnType<NodeHttp.Agent['createConnection']> {
      // Some applications set the certificate authority of their network there.
      const { ca } = readOptions(globalAgent);
      const connection = super.createConnection({ ...options, ...(ca && { ca }) }, callback);
      // The request refers to it again when it takes it.
      if (proxy !== undefined) (connection as Socket).unref();
      return connection;
    }
  }
  return new KeepingAgent({
    keepAlive: true,
    ...limits,
    ...(proxy && { ...proxy, timeout: tunnelTimeoutMs }),
  });
}

/** Creates an agent that keeps no connection. */
export const createFreshAgent = ({ Agent, globalAgent }: HttpModule): NodeHttp.Agent =>
  new Agent({ keepAlive: false, ...findProxyOption(globalAgent) });

/** The proxy that Node read from its environment for its own agents. */
function findProxyOption(globalAgent: NodeHttp.Agent): NodeHttp.AgentOptions | undefined {
  const { proxyEnv } = readOptions(globalAgent);
  return proxyEnv && { proxyEnv };
}

const readOptions = (agent: NodeHttp.Agent): NodeHttps.AgentOptions =>
  (agent as { options?: NodeHttps.AgentOptions }).options ?? {};
