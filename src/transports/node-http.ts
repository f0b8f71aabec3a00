import type * as NodeHttp from 'node:http';
import type * as NodeNet from 'node:net';
import type { Socket } from 'node:net';
import type * as NodeTimers from 'node:timers';
import type * as NodeTls from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { Evidence } from '../errors/outcome.ts';
import { builtinModule, isBrowser, requiredModule, runtime } from '../internal/runtime.ts';
import { createFreshAgent, loadOrigin, type HttpAgent, type Origin } from './agents.ts';
import { canReuse, isUsed, markIdle, openFresh, openScan, openWrite } from './idle-connections.ts';
import { PushedResponse } from './pushed-response.ts';
import type { Transport, TransportResponse, TransportRequest } from './transport.ts';

/*
 * The transport over node:http: on Node.js for each request without a custom function, on Bun and
 * Deno only for a GET with a body, because fetch cannot send such a request. If a request fails
 * before its socket is connected (with TLS: before the handshake is finished), nothing was sent,
 * because the first byte is written only after that, and only a read is ever sent again.
 */

/** Creates the transport for Node.js. Undefined elsewhere, and on a Node.js that is too old. */
export function createNodeTransport(agent: HttpAgent | undefined): Transport | undefined {
  if (runtime() !== 'node' || isBrowser() || builtinModule('node:module') === undefined) {
    return undefined;
  }
  return {
    runtime: 'node',
    sendsOnce: true,
    send: (request, evidence) => new Exchange(request, { evidence, agent }).response,
    flush: waitUntilWritten,
  };
}

/**
 * Creates the transport for GET with a body on Bun and Deno. Undefined without node:http, and on
 * Cloudflare Workers, where node:http silently drops the body of a GET.
 */
export function createBodiedGetTransport(): Transport | undefined {
  const here = runtime();
  if ((here !== 'bun' && here !== 'deno') || builtinModule('node:http') === undefined) {
    return undefined;
  }
  return {
    runtime: here,
    // Deno's node:http may send a request again by itself, as Deno's fetch does.
    sendsOnce: false,
    send: (request) => new Exchange(request).response,
  };
}

/** Node's own setImmediate, or undefined if fake timers have replaced it, also in node:timers. */
function readSetImmediate(): typeof NodeTimers.setImmediate | undefined {
  // On Deno, asking for node:timers would load a further part of the runtime.
  if (runtime() !== 'node') return undefined;
  const { setImmediate } = (builtinModule('node:timers') ?? {}) as Partial<typeof NodeTimers>;
  return String(setImmediate).includes('new Immediate(') ? setImmediate : undefined;
}
let setImmediateOfNode = /* @__PURE__ */ readSetImmediate();

/** Calls `then` after some turns of the event loop, with Node's own setImmediate if possible. */
function waitTurns(turns: number, then: () => void): void {
  setImmediateOfNode ??= readSetImmediate();
  const schedule =
    setImmediateOfNode ?? (builtinModule('node:timers') as typeof NodeTimers).setImmediate;
  schedule(() => {
    if (turns > 1) waitTurns(turns - 1, then);
    else then();
  });
}

/** After this many turns of the event loop, Node has read what had arrived on a socket. */
const turnsToRead = 2;

/** The timer from when this module was loaded, because fake timers would stop a payment that waits. */
const startTimer = globalThis.setTimeout;

/** How long, in milliseconds, a write waits at most for the first message after the handshake. */
const maxTicketMs = 1_000;

/**
 * Waits until the server has shown that it accepted the client's certificate, by a ticket for later
 * connections, or until it would have sent an alert. With TLS 1.3 both arrive a round trip after
 * the client's handshake, so within the time that connecting has taken.
 */
function awaitTicket(socket: TLSSocket, connectMs: number, then: () => void): void {
  const timer = startTimer(end, Math.min(connectMs, maxTicketMs));
  socket.once('session', end);
  function end(): void {
    clearTimeout(timer);
    socket.off('session', end);
    // Wait, because within this event Node is reading and would not write.
    waitTurns(turnsToRead, then);
  }
}

/** Waits one turn of the event loop, after which a read on a used connection has been written. */
const waitUntilWritten = (): Promise<void> =>
  new Promise((resolve) => {
    waitTurns(1, resolve);
  });

const isOf = (object: object | null, { prototype }: { readonly prototype: object }): boolean =>
  object !== null && Object.getPrototypeOf(object) === prototype;

/** Modules of Node that each request needs, cached because asking for a module takes a microsecond. */
let netModule: typeof NodeNet | undefined;
let tlsModule: typeof NodeTls | undefined;
let httpModule: typeof NodeHttp | undefined;

const isPlain = (socket: Socket | null): boolean =>
  isOf(socket, (netModule ??= builtinModule('node:net') as typeof NodeNet).Socket);
/** Asks for a plain socket first, because loading node:tls takes a tenth of the first response. */
const isSecure = (socket: Socket | null): socket is TLSSocket =>
  !isPlain(socket) &&
  isOf(socket, (tlsModule ??= builtinModule('node:tls') as typeof NodeTls).TLSSocket);

/** Whether Node made the socket. Events of a mock's socket do not prove whether bytes were sent. */
const isOwn = (socket: Socket | null): socket is Socket => isPlain(socket) || isSecure(socket);

const isOwnRequest = (outgoing: NodeHttp.ClientRequest): boolean =>
  isOf(outgoing, (httpModule ??= requiredModule('node:http') as typeof NodeHttp).ClientRequest);

/** Whether bytes that are written to the socket now may reach the server. */
const isConnected = (socket: Socket): boolean =>
  !socket.connecting && (!isSecure(socket) || socket.getPeerFinished() !== undefined);

interface ExchangeOptions {
  /** Records whether the request was sent. Absent if the runtime may send a request again. */
  readonly evidence?: Evidence;
  readonly agent?: HttpAgent | undefined;
}

/**
 * How many exchanges have written their request and wait for the end of the response. A Set would
 * keep ended calls in memory: each table that it outgrows refers to the next one.
 */
let writtenCount = 0;

/** Sends one request, and receives the response. */
class Exchange {
  readonly response: Promise<TransportResponse>;
  readonly #request: TransportRequest;
  readonly #evidence: Evidence | undefined;
  /** The body as a string, because Node writes a string in one piece with the headers. */
  readonly #body: string | undefined;
  /** Whether the request is a GET with a body. A server may take this body for the next request. */
  readonly #isBodiedGet: boolean;
  /** Whether the caller passed an agent. Only such an agent can have a client certificate. */
  readonly #hasOwnAgent: boolean;
  readonly #origin: Origin;
  /** Where the path begins in the URL. */
  readonly #pathAt: number;
  readonly #agent: NodeHttp.Agent;
  #removeListener = doNothing;
  #hasFailed = false;
  /** Whether `writtenCount` includes this exchange. */
  #isWritten = false;
  #resolve: (response: TransportResponse) => void = doNothing;
  #reject: (error: unknown) => void = doNothing;
  /** The request on the current connection. Undefined when the exchange is over. */
  #outgoing: NodeHttp.ClientRequest | undefined;
  #received: PushedResponse | undefined;
  /** How many bytes had arrived on a used connection when a read was written on it. */
  #bytesBefore: number | undefined;
  #isRepeated = false;
  /** When this exchange asked the agent for its connection, by the monotonic clock. */
  #connectedAt = 0;
  /** When this exchange's request was written, by the monotonic clock. */
  #startedAt = 0;

  /**
   * Starts to send the request, unless the call's time is up. With `evidence` (on Node) the request
   * uses a connection of the agent, and without (on Bun and Deno) a new connection.
   */
  constructor(request: TransportRequest, { evidence, agent }: ExchangeOptions = {}) {
    const { method, stop, scan } = request;
    this.#request = request;
    this.#evidence = evidence;
    this.#body = request.body;
    this.#isBodiedGet = method === 'GET' && request.body !== undefined;
    this.#hasOwnAgent = agent !== undefined;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The URL of a request is normalized, so the URL has a path and no `#`.
    this.#pathAt = request.url.indexOf('/', 'https://'.length);
    this.#origin = loadOrigin(request.url.slice(0, this.#pathAt));
    const { http, reads, scans, writes } = this.#origin;
    const readAgent = scan === undefined ? reads : scans;
    const ownAgent = method === 'GET' ? readAgent : writes;
    this.#agent =
      evidence === undefined ? createFreshAgent(http) : ((agent ?? ownAgent) as NodeHttp.Agent);
    if (evidence !== undefined) evidence.started = false;
    this.#removeListener = stop.onStop((reason) => {
      this.#fail(reason);
    });
    // If the time was up already, onStop has just called the listener, and the exchange has failed.
    if (!this.#hasFailed) this.#connect();
  }

  #createHeaders(): NodeHttp.OutgoingHttpHeaders {
    const { headers } = this.#request;
    const framed: NodeHttp.OutgoingHttpHeaders = {
      'accept-encoding': 'gzip, deflate, br',
      ...headers,
    };
    if (this.#body === undefined) return framed;
    // Without content-length, node:http writes the body of a GET unframed, and the server would
    // take that body for the next request.
    framed['content-length'] = Buffer.byteLength(this.#body);
    if (this.#isBodiedGet) framed['connection'] = 'close';
    return framed;
  }

  /**
   * Asks the agent for a connection. A method, because V8 would put a closure in a field into its
   * old space, where it keeps the whole call in memory until the next full garbage collection.
   */
  #open(): NodeHttp.ClientRequest {
    const { method, scan, url } = this.#request;
    const agent = this.#agent;
    const open = (): NodeHttp.ClientRequest =>
      this.#origin.http.request({
        ...this.#origin.address,
        path: url.slice(this.#pathAt),
        method,
        // The headers are an object, because OpenTelemetry, dd-trace and proxy agents copy them as
        // an object. From an array the copy would lose the credential.
        headers: this.#createHeaders(),
        agent,
      });
    if (this.#isRepeated) return openFresh(agent, open);
    if (method !== 'GET') return openWrite(agent, open);
    return scan === undefined ? open() : openScan(agent, scan, open);
  }

  /** Asks the agent for a connection, and sends the request on that connection. */
  #connect(): void {
    this.#connectedAt = performance.now();
    if (this.#evidence !== undefined) this.#evidence.isFirstByTls13 = false;
    try {
      const outgoing = this.#open();
      this.#outgoing = outgoing;
      outgoing.on('error', (error) => {
        this.#break(outgoing, error);
      });
      // Listens to the close event, because an unexpected status 101 causes no error event.
      outgoing.on('close', () => {
        // Creating an Error costs a stack, so return first in the usual case, where a request
        // closes after its exchange. A request of nock 14 closes before its response has ended.
        if (outgoing !== this.#outgoing || this.#received !== undefined) return;
        // A mocked request of msw 2.0 closes when msw's real connection beside the mock closes.
        if (!isOwnRequest(outgoing)) return;
        this.#break(outgoing, new Error('The connection was closed without a response.'));
      });
      outgoing.on('response', (incoming) => {
        this.#receive(outgoing, incoming);
      });
      // Without evidence, on Bun and Deno, the runtime decides when to write.
      if (this.#evidence === undefined) outgoing.end(this.#body);
      else if (isOwnRequest(outgoing)) {
        outgoing.on('socket', (socket) => {
          this.#use(outgoing, socket);
        });
      } else {
        // msw 2.0 looks for a mock only when the request ends, and until then uses the real host.
        this.#endMocked(outgoing);
      }
    } catch (error) {
      // Connecting fails later. Only options that cannot be used fail at once, such as a wrong key.
      if (this.#evidence !== undefined) this.#evidence.isRefused = true;
      this.#fail(error);
    }
  }

  /**
   * Sends the request on the socket that the agent has given, when a new socket has connected. If a
   * used socket is no longer fit for use, asks the agent for another.
   */
  #use(outgoing: NodeHttp.ClientRequest, socket: Socket): void {
    if (outgoing !== this.#outgoing) return;
    // Undoes the unref() in agents.ts. A socket from a caller's own agent may have no ref().
    (socket as Partial<Socket>).ref?.();
    // An agent at its limit of connections hands over a used one without setting reusedSocket.
    if (isUsed(socket)) outgoing.reusedSocket = true;
    const end = (): void => {
      this.#end(outgoing, this.#body);
    };
    if (!outgoing.reusedSocket) {
      if (socket.destroyed) {
        // Connecting failed at once, for example because there is no route to the host.
        this.#break(outgoing, socket.errored ?? new Error('The connection could not be made.'));
        return;
      }
      if (!isOwn(socket)) this.#endMocked(outgoing);
      else {
        const start = isSecure(socket) ? () => this.#startSecurely(socket, end) : end;
        if (isConnected(socket)) start();
        else socket.once(isSecure(socket) ? 'secureConnect' : 'connect', start);
      }
      return;
    }
    if (!canReuse(socket, this.#request)) this.#reconnect(outgoing);
    else if (this.#request.method === 'GET') {
      this.#bytesBefore = socket.bytesRead;
      // While other requests wait for a response, this read waits one turn of the event loop, so
      // that all requests of the turn are written together and wake up an idle server only once.
      if (writtenCount > 0) waitTurns(1, end);
      // Ends the request after this event, because within the event Node would finish the request
      // twice, and report two to diagnostics. A promise works even with fake timers.
      else void Promise.resolve().then(end);
    } else this.#reuse(outgoing, socket);
  }

  /** Calls `end` when the handshake of a new connection has finished, as far as the client can tell. */
  #startSecurely(socket: TLSSocket, end: () => void): void {
    const isTls13 = socket.getProtocol() === 'TLSv1.3';
    if (this.#evidence !== undefined) this.#evidence.isFirstByTls13 = isTls13;
    const isWrite = this.#request.method !== 'GET';
    if (!isTls13 || !isWrite || !this.#hasOwnAgent) end();
    else awaitTicket(socket, performance.now() - this.#connectedAt, end);
  }

  /**
   * Sends a write on a used connection, or on another if the server has closed this connection or
   * has sent unrequested bytes. Waits a few turns of the event loop, because the server may be
   * doing so just now; until then cork() keeps headers and body in memory.
   */
  #reuse(outgoing: NodeHttp.ClientRequest, socket: Socket): void {
    if (this.#body !== undefined) {
      // Renders the headers now, so that the first byte follows soon after the check of the socket.
      outgoing.cork();
      outgoing.write(this.#body);
    }
    const { bytesRead } = socket;
    waitTurns(turnsToRead, () => {
      if (outgoing !== this.#outgoing) return;
      if (socket.destroyed || socket.readableEnded || socket.bytesRead !== bytesRead) {
        this.#reconnect(outgoing);
      } else {
        this.#end(outgoing, undefined);
      }
    });
  }

  /**
   * Writes the request with `rest`: the body, unless the corked request already holds the body.
   * From then on, only a TLS 1.3 alert about the client's certificate can prove that nothing was
   * sent.
   */
  #end(outgoing: NodeHttp.ClientRequest, rest: string | undefined): void {
    if (outgoing !== this.#outgoing) return;
    try {
      // After the machine was suspended, the deadline may have passed before its timer could fire.
      this.#request.stop.check();
    } catch {
      // The listener that the constructor added to `stop` has already failed this exchange.
      return;
    }
    if (this.#evidence !== undefined) this.#evidence.started = true;
    this.#countWritten(true);
    this.#startedAt = performance.now();
    // Uncorks before end(), so that Node writes headers and body in one piece, not in two.
    if (outgoing.writableCorked > 0) outgoing.uncork();
    outgoing.end(rest);
  }

  #countWritten(isWritten: boolean): void {
    if (this.#isWritten !== isWritten) writtenCount += isWritten ? 1 : -1;
    this.#isWritten = isWritten;
  }

  /** Writes the request to a mock library, and closes, because its response may have no length. */
  #endMocked(outgoing: NodeHttp.ClientRequest): void {
    if (!outgoing.headersSent) outgoing.setHeader('connection', 'close');
    this.#end(outgoing, this.#body);
  }

  /** Replaces a connection that is closed, too old, not silent, or has surplus bytes. */
  #reconnect(outgoing: NodeHttp.ClientRequest): void {
    this.#outgoing = undefined;
    this.#countWritten(false);
    outgoing.destroy();
    this.#connect();
  }

  /** Called when a connection failed, even after the exchange is over. */
  #break(outgoing: NodeHttp.ClientRequest, error: Error): void {
    if (outgoing !== this.#outgoing) return;
    const { reusedSocket, socket } = outgoing;
    if (reusedSocket && this.#evidence?.started === false) this.#reconnect(outgoing);
    else if (reusedSocket && !this.#isRepeated && socket?.bytesRead === this.#bytesBefore) {
      // A server may close an idle connection at any moment, so a read is sent once more.
      this.#isRepeated = true;
      this.#reconnect(outgoing);
    } else {
      const hasResponse = socket?.bytesRead !== 0;
      if (hasResponse && this.#evidence !== undefined) this.#evidence.isFirstByTls13 = false;
      this.#fail(error);
    }
  }

  /** Resolves the exchange's promise with the response, whose body may still arrive. */
  #receive(outgoing: NodeHttp.ClientRequest, incoming: NodeHttp.IncomingMessage): void {
    if (outgoing !== this.#outgoing) return;
    if (this.#evidence?.started === false) {
      // The response came before the request, so it belongs to no request of this client.
      this.#reconnect(outgoing);
      return;
    }
    const { statusCode = 0, statusMessage = '', rawHeaders } = incoming;
    // A response that msw 2.0 mocks has no socket.
    const socket = incoming.socket as Socket | null;
    const { reusedSocket } = outgoing;
    const received = new PushedResponse(statusCode, statusMessage, rawHeaders, reusedSocket, () => {
      outgoing.destroy();
      // Once the response has ended, destroying the request no longer closes the connection.
      socket?.destroy();
    });
    this.#received = received;
    incoming.on('data', (chunk: Uint8Array) => {
      received.addChunk(chunk);
    });
    incoming.on('end', () => {
      // Makes the connection free for another request, or closes the connection.
      // A mock of msw 3 has a socket that Node made, and that reads no byte.
      const isReal = isOwn(socket) && socket.bytesRead > 0;
      if (isReal && !this.#isBodiedGet) markIdle(socket, this.#startedAt, this.#request);
      else socket?.destroy();
      this.#outgoing = undefined;
      this.#countWritten(false);
      this.#removeListener();
      received.end();
    });
    incoming.on('error', (error) => {
      this.#break(outgoing, error);
    });
    this.#resolve(received);
  }

  #fail(error: unknown): void {
    const outgoing = this.#outgoing;
    this.#outgoing = undefined;
    this.#countWritten(false);
    this.#hasFailed = true;
    this.#removeListener();
    outgoing?.destroy();
    this.#received?.cut();
    this.#reject(error);
  }
}

const doNothing = (): void => undefined;
