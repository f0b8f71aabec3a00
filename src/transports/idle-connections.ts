import type * as NodeHttp from 'node:http';
import type { Socket } from 'node:net';
import { maxIdleMs } from './agents.ts';
import type { Scan, TransportRequest } from './transport.ts';

/*
 * Decides which used connection may take the next request. A faulty server or proxy may send a
 * response twice. If the surplus response arrives after the next request was sent, it is taken for
 * the response to that request, and each later response goes to the wrong request, too. So a write
 * takes a used connection only after a silence in which a surplus response would have arrived.
 * Assumption A5: docs/proof.md.
 */

/**
 * How long an operating system may delay a TCP acknowledgement. With Nagle's algorithm, a server
 * sends the second of two small responses only after the client has acknowledged the first.
 */
const delayedAckMs = 40;

/** How long a connection is used. A new connection looks up the host again, because its address may change. */
const maxAgeMs = 240_000;

/** What the SDK recorded about a connection when its last response ended. */
interface Idleness {
  /** When the first response on the connection ended, by the monotonic clock. */
  readonly firstEndedAt: number;
  /** When the last response ended, by the monotonic clock and by the wall clock. */
  readonly endedAt: number;
  readonly endedAtWallTime: number;
  /** How long the connection's last request and its response took. */
  readonly roundTripMs: number;
  /** How long the connection has to be silent before a write may use the connection. */
  readonly silenceMs: number;
  readonly bytesRead: number;
  /** The scan that has sent all requests on the connection; undefined if there is none. */
  readonly scan: Scan | undefined;
  /** Whether the connection has carried a read. */
  readonly hasRead: boolean;
}

const idle = new WeakMap<Socket, Idleness>();

type Request = Pick<TransportRequest, 'method' | 'scan'>;

/**
 * Records that a connection is idle, because the response to a request that was written at
 * `startedAt` has ended.
 */
export function markIdle(socket: Socket, startedAt: number, { method, scan }: Request): void {
  const endedAt = performance.now();
  const roundTripMs = endedAt - startedAt;
  const previous = idle.get(socket);
  // Takes the longer of two round trips, because a surplus response makes a round trip look too short.
  const longerMs = Math.max(roundTripMs, previous?.roundTripMs ?? 0);
  idle.set(socket, {
    firstEndedAt: previous?.firstEndedAt ?? endedAt,
    endedAt,
    endedAtWallTime: Date.now(),
    roundTripMs,
    silenceMs: longerMs + delayedAckMs,
    bytesRead: socket.bytesRead,
    scan: previous === undefined || previous.scan === scan ? scan : undefined,
    hasRead: method === 'GET' || previous?.hasRead === true,
  });
}

/** Whether a response has ended on this connection. */
export const isUsed = (socket: Socket): boolean => idle.has(socket);

/** Whether a used connection may take a request. */
export function canReuse(socket: Socket, { method, scan }: Request): boolean {
  const idleness = idle.get(socket);
  // Bytes that arrived on the connection since the last response may be a surplus response.
  if (idleness === undefined || idleness.bytesRead !== socket.bytesRead) return false;
  if (idleness.endedAt - idleness.firstEndedAt > maxAgeMs) return false;
  // The wall clock goes on while the machine is suspended. If it was set back, `idleMs` is below 0.
  const idleMs = Date.now() - idleness.endedAtWallTime;
  const isRead = method === 'GET';
  if (!(idleMs >= 0 && idleMs <= maxIdleMs[isRead ? 'read' : 'write'])) return false;
  if (isRead) return scan === undefined || idleness.scan === scan;
  return !idleness.hasRead && isSilent(idleness);
}

/** Measures a connection's silence by the monotonic clock, because the wall clock may be set forward. */
const isSilent = ({ endedAt, silenceMs }: Idleness): boolean =>
  performance.now() - endedAt > silenceMs;

/** The connections of an agent by origin. An agent of another library may lack these fields. */
interface Pool {
  readonly freeSockets?: NodeJS.Dict<Socket[]>;
  readonly sockets?: NodeJS.ReadOnlyDict<Socket[]>;
  readonly maxSockets?: number;
  readonly maxTotalSockets?: number;
}

/** Opens a write on a used connection that may take it, so that writes in a series need not wait. */
export const openWrite = <T>(agent: NodeHttp.Agent, open: () => T): T =>
  openOn(agent, (socket) => canReuse(socket, { method: 'POST', scan: undefined }), open);

/** Opens a request of a scan on a connection that only this scan has used, or on a new one. */
export const openScan = <T>(agent: NodeHttp.Agent, scan: Scan, open: () => T): T =>
  openOn(agent, (socket) => idle.get(socket)?.scan === scan, open);

/** Opens a request on a new connection. */
export const openFresh = <T>(agent: NodeHttp.Agent, open: () => T): T =>
  openOn(agent, () => false, open);

/**
 * Opens a request while the agent sees only the first suitable free connection, or none, so that
 * the agent takes that connection or makes another. An agent that may open no more connections sees
 * all.
 */
function openOn<T>(agent: NodeHttp.Agent, suits: (socket: Socket) => boolean, open: () => T): T {
  const pool: Pool = agent;
  const { freeSockets = {} } = pool;
  const hidden: [origin: string, sockets: Socket[], shown: Socket | undefined][] = [];
  for (const [origin, sockets = []] of Object.entries(freeSockets)) {
    if (!canGrow(pool, origin)) continue;
    const shown = sockets.find((socket) => !socket.destroyed && suits(socket));
    hidden.push([origin, sockets, shown]);
    freeSockets[origin] = shown === undefined ? [] : [shown];
  }
  try {
    return open();
  } finally {
    for (const [origin, sockets, shown] of hidden) {
      const isTaken = shown !== undefined && freeSockets[origin]?.includes(shown) !== true;
      if (isTaken) sockets.splice(sockets.indexOf(shown), 1);
      if (sockets.length > 0) freeSockets[origin] = sockets;
      else delete freeSockets[origin];
    }
  }
}

/** Whether the agent can open another connection. At its limit, the agent waits for a free one. */
function canGrow(pool: Pool, name: string): boolean {
  const { freeSockets, sockets, maxSockets = 0, maxTotalSockets = 0 } = pool;
  const count = (freeSockets?.[name]?.length ?? 0) + (sockets?.[name]?.length ?? 0);
  return count < maxSockets && maxTotalSockets === Number.POSITIVE_INFINITY;
}
