import type * as NodeHttp from 'node:http';
import type { Socket } from 'node:net';
import { maxIdleMs } from './agents.ts';

/*
 * Which used connection may take the next request. A faulty server or proxy may send a response twice. If the
 * surplus one arrives after the next request was sent, it is read as the response to that request, and each
 * later response as that to the request after its own. So a write takes a connection only after a silence in
 * which a surplus response would have arrived. Assumption A5: docs/proof.md.
 */

/**
 * How long an operating system may delay an acknowledgement. A server with Nagle's algorithm sends the second of
 * two small responses only after the acknowledgement of the first.
 */
const delayedAckMs = 40;

/** How long a connection is used, so that traffic follows an address that has moved: a new one asks for the address. */
const maxAgeMs = 240_000;

/** What is known of a connection since its last response. */
interface Idleness {
  /** When its first response ended, by the monotonic clock. */
  readonly openSince: number;
  /** When the response ended, by the wall clock and by the monotonic one. */
  readonly since: number;
  readonly sinceElapsed: number;
  /** How long the last exchange took. */
  readonly roundTripMs: number;
  /** How long the connection has to be silent before a write takes it. */
  readonly silenceMs: number;
  readonly bytesRead: number;
}

const idle = new WeakMap<Socket, Idleness>();

/** Called when the response to a request that was written at `startedAt` has ended. */
export function markIdle(socket: Socket, startedAt: number): void {
  const sinceElapsed = performance.now();
  const roundTripMs = sinceElapsed - startedAt;
  const last = idle.get(socket);
  // The longer one of two, because a surplus response that was taken for the response seems faster than one.
  const longerMs = Math.max(roundTripMs, last?.roundTripMs ?? 0);
  idle.set(socket, {
    openSince: last?.openSince ?? sinceElapsed,
    since: Date.now(),
    sinceElapsed,
    roundTripMs,
    silenceMs: longerMs + delayedAckMs,
    bytesRead: socket.bytesRead,
  });
}

/** Whether a response has ended on this connection. */
export const isUsed = (socket: Socket): boolean => idle.has(socket);

/** Whether a used connection may take a request with this method. */
export function canReuse(socket: Socket, method: string): boolean {
  const idleness = idle.get(socket);
  // Unrequested bytes may be a part of a response.
  if (idleness === undefined || idleness.bytesRead !== socket.bytesRead) return false;
  if (idleness.sinceElapsed - idleness.openSince > maxAgeMs) return false;
  // By the wall clock, which continues while the machine is suspended; but it may be set back.
  const ms = Date.now() - idleness.since;
  const isRead = method === 'GET';
  if (!(ms >= 0 && ms <= maxIdleMs[isRead ? 'read' : 'write'])) return false;
  return isRead || isSilent(idleness);
}

/** By the monotonic clock, because the wall clock may be set forward. */
const isSilent = ({ sinceElapsed, silenceMs }: Idleness): boolean =>
  performance.now() - sinceElapsed > silenceMs;

/** The connections of an agent, by origin. An agent of another library may have none of this. */
interface Pool {
  readonly freeSockets?: NodeJS.Dict<Socket[]>;
  readonly sockets?: NodeJS.ReadOnlyDict<Socket[]>;
  readonly maxSockets?: number;
  readonly maxTotalSockets?: number;
  /** Whether it takes the last connection of such a list or the first. */
  readonly scheduling?: 'lifo' | 'fifo';
}

/**
 * Opens a write on a connection that has been silent for long enough. A series of writes then neither waits for
 * the others nor closes them.
 */
export const openWrite = <T>(agent: NodeHttp.Agent, open: () => T): T =>
  openOn(agent, (idleness) => idleness === undefined || isSilent(idleness), open);

/** Opens a request on a new connection. */
export const openFresh = <T>(agent: NodeHttp.Agent, open: () => T): T =>
  openOn(agent, () => false, open);

/**
 * Opens a request, and meanwhile hides from its agent the free connections that do not suit. The agent then
 * takes another one or makes one.
 */
function openOn<T>(
  agent: NodeHttp.Agent,
  suits: (idleness: Idleness | undefined) => boolean,
  open: () => T,
): T {
  const pool: Pool = agent;
  const { freeSockets = {} } = pool;
  const hidden: [name: string, sockets: Socket[]][] = [];
  for (const [name, sockets = []] of Object.entries(freeSockets)) {
    // The agent adds a connection at the end, so all after the first unsuitable one are as little silent.
    const candidates = pool.scheduling === 'fifo' ? sockets.slice(0, 1) : sockets;
    const start = candidates.findIndex((socket) => !suits(idle.get(socket)));
    if (start >= 0 && canGrow(pool, name)) hidden.push([name, sockets.splice(start)]);
  }
  try {
    return open();
  } finally {
    // The agent removes a list that it has emptied.
    for (const [name, sockets] of hidden) (freeSockets[name] ??= []).push(...sockets);
  }
}

/** Whether an agent makes another connection. At a limit, it would wait until one is free. */
function canGrow(pool: Pool, name: string): boolean {
  const { freeSockets, sockets, maxSockets = 0, maxTotalSockets = 0 } = pool;
  const count = (freeSockets?.[name]?.length ?? 0) + (sockets?.[name]?.length ?? 0);
  return count < maxSockets && maxTotalSockets === Number.POSITIVE_INFINITY;
}
