import type * as NodeHttp from 'node:http';
import type * as NodeHttps from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { requiredModule } from '../internal/runtime.ts';

/** An `Agent` of `node:http` or `node:https`, described without the types of Node. */
export interface HttpAgent {
  /** How many connections to one host the agent opens at most. */
  readonly maxSockets: number;
  /** How many idle connections to one host the agent keeps at most. */
  readonly maxFreeSockets: number;
  /** Closes the agent's connections. */
  destroy(): void;
}

type HttpModule = typeof NodeHttp;

/** The Node module of a protocol, and the agents that all clients share. */
interface Protocol {
  readonly http: HttpModule;
  readonly reads: NodeHttp.Agent;
  readonly scans: NodeHttp.Agent;
  readonly writes: NodeHttp.Agent;
}

/** Milliseconds of idleness after which a read or a write no longer uses a connection. */
export const maxIdleMs = { read: 4_000, write: 800 };

/**
 * Reads open at most this many connections to one host, and so do scans, because macOS lets a
 * process open only 256 files.
 */
const maxReadConnections = 100;

/** Limit in ms for opening a tunnel through a proxy. Node does not stop when the request ends. */
const tunnelTimeoutMs = 30_000;

/** The address of an origin, with the agents for requests to that origin. */
export interface Origin extends Protocol {
  readonly address: NodeHttp.RequestOptions;
}

const origins = new Map<string, Origin>();

/** Loads the address and the agents of an origin. Later calls return the same object. */
export function loadOrigin(origin: string): Origin {
  let loaded = origins.get(origin);
  if (loaded === undefined) {
    const { protocol, hostname, port } = new URL(origin);
    // node:http takes an IPv6 address without brackets.
    const address = { protocol, hostname: hostname.replace(/^\[(.+)\]$/, '$1'), port };
    loaded = { ...loadProtocol(protocol), address };
    origins.set(origin, loaded);
  }
  return loaded;
}

const protocols = new Map<string, Protocol>();

/** Loads the module of a protocol, such as `https:`, and creates its agents, both only once. */
function loadProtocol(name: string): Protocol {
  const loaded = protocols.get(name);
  if (loaded !== undefined) return loaded;
  const http = requiredModule(`node:${name.slice(0, -1)}`) as HttpModule;
  const limits = { scheduling: 'lifo', maxSockets: maxReadConnections } as const;
  const protocol = {
    http,
    reads: createKeepingAgent(http, maxIdleMs.read, limits),
    // Scans have an agent of their own, because other reads would take their connections at a
    // shared limit. The connection of an ended scan is soon closed, because no other request may
    // use it.
    scans: createKeepingAgent(http, maxIdleMs.write, limits),
    // With fifo, a write gets the connection that has been silent for the longest time. With lifo,
    // an agent at its limit could keep handing over a connection that is not silent yet.
    writes: createKeepingAgent(http, maxIdleMs.write, { scheduling: 'fifo' }),
  };
  protocols.set(name, protocol);
  return protocol;
}

/**
 * Creates an agent that keeps a connection for up to `idleMs` after a response, and that connects
 * through the proxy of Node's global agent, if there is one.
 */
function createKeepingAgent(
  { Agent, globalAgent }: HttpModule,
  idleMs: number,
  limits: Pick<NodeHttp.AgentOptions, 'scheduling' | 'maxSockets'>,
): NodeHttp.Agent {
  const proxy = findProxyOption(globalAgent);
  class KeepingAgent extends Agent {
    /** Node calls this method when a response has ended on a connection. */
    override keepSocketAlive(connection: Duplex): boolean {
      const { options } = this as unknown as { options: NodeHttp.AgentOptions };
      const { timeout } = options;
      // Node keeps the connection for `timeout`, or for a shorter time that the server announced.
      // If the connection already has a timer of that length, Node starts no new one.
      options.timeout = idleMs;
      try {
        const isKept: unknown = super.keepSocketAlive(connection);
        return isKept !== false;
      } finally {
        // The agent uses the same options for new connections, so restore their timeout.
        options.timeout = timeout;
      }
    }
    /** A tunnel that is being opened must not keep the process alive, because the call's timer does so. */
    override createConnection(
      ...[options, callback]: Parameters<NodeHttp.Agent['createConnection']>
    ): ReturnType<NodeHttp.Agent['createConnection']> {
      // Some applications add their network's certificate authority only to Node's global agent.
      const { ca } = readOptions(globalAgent);
      const connection = super.createConnection({ ...options, ...(ca && { ca }) }, callback);
      // The request calls ref() again when the agent hands over the connection.
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

/** Creates an agent that closes each connection after one request. */
export const createFreshAgent = ({ Agent, globalAgent }: HttpModule): NodeHttp.Agent =>
  new Agent({ keepAlive: false, ...findProxyOption(globalAgent) });

/** The proxy that Node has read from the environment for Node's own agents. */
function findProxyOption(globalAgent: NodeHttp.Agent): NodeHttp.AgentOptions | undefined {
  const { proxyEnv } = readOptions(globalAgent);
  return proxyEnv && { proxyEnv };
}

const readOptions = (agent: NodeHttp.Agent): NodeHttps.AgentOptions =>
  (agent as { options?: NodeHttps.AgentOptions }).options ?? {};
