import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { successBody } from './bodies.ts';
import { buildPage, type Effect, type Listing } from './listing.ts';

/*
 * A platform on raw sockets. The platform parses requests and keeps a ledger of their effects, so
 * that a test can compare the outcome of a call with the truth. Each call has a nonce in the header
 * below, and a plan says how the platform responds to each request of that call.
 */

/** Identifies the call of a request, even if the body never arrives. */
export const nonceHeader = 'x-nonce';

/** Sends one response, or none. */
export type Play = (exchange: Exchange) => void;

/** The response to one request. With `at: head` the response starts before the body was read. */
export interface Step {
  readonly at?: 'head' | undefined;
  readonly play: Play;
}

interface Head {
  readonly method: string;
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly size: number;
}

/** One request that the server received, and its connection. */
export class Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly nonce: string;
  readonly body: string;
  readonly endpoint: Endpoint;
  readonly #socket: Socket;
  readonly #platform: FaultPlatform;
  readonly #done: () => void;
  readonly #isReused: boolean;

  constructor(
    platform: FaultPlatform,
    endpoint: Endpoint,
    socket: Socket,
    head: Head,
    body: string,
    isReused: boolean,
    done: () => void,
  ) {
    this.#isReused = isReused;
    this.#platform = platform;
    this.#socket = socket;
    this.#done = done;
    this.endpoint = endpoint;
    this.method = head.method;
    this.path = head.path;
    this.headers = head.headers;
    this.nonce = head.headers.get(nonceHeader) ?? '';
    this.body = body;
  }

  /** Records the effect of the request. A read has none. */
  commit(): void {
    if (this.method !== 'GET') this.#platform.commit(this.#payment, this.headers);
  }

  /** Records the effect after the response should have arrived. */
  commitLater(ms: number): void {
    this.#platform.scheduleEffect(ms, () => {
      this.commit();
    });
  }

  /** The nonce of the effect, which is that of the call or of one payment of a batch. */
  get #payment(): string {
    return this.#platform.findPayment(this.nonce, this.body);
  }

  /** The body of a success, with the id in the ledger or the id in the path. */
  buildSuccess(): string {
    const page = this.#platform.buildPage(this);
    if (page !== undefined) return page;
    const [id] = this.#platform.idsOf(this.#payment);
    return successBody(this, id);
  }

  /** A path of this server that must not receive a request. */
  forbiddenPath(): string {
    return `/v0/elsewhere/${this.nonce}`;
  }

  /** The same path at another origin. */
  forbiddenUrl(): string {
    return `http://127.0.0.1:${this.#platform.otherOrigin.port}/v0/elsewhere/${this.nonce}`;
  }

  send(bytes: string | Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** Sends a complete response, after which the connection can be reused. */
  reply(status: string | number, body: string | Uint8Array, ...headers: string[]): void {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    const typed = headers.some((line) => line.startsWith('content-type'))
      ? headers
      : ['content-type: application/json', ...headers];
    this.send(head(status, [...typed, `content-length: ${bytes.byteLength}`]));
    this.send(bytes);
    this.#done();
  }

  /** Sends the head of a response without adding its length. */
  sendHead(status: string | number, ...headers: string[]): void {
    this.send(head(status, headers));
  }

  /** Marks the response as complete, so that the next request may be read. */
  finish(): void {
    this.#done();
  }

  sendFin(): void {
    this.#socket.end();
    this.#platform.schedule(200, () => {
      this.#socket.destroy();
    });
  }

  sendRst(): void {
    this.#socket.resetAndDestroy();
  }

  /** Runs an action later, after the pending writes. */
  schedule(ms: number, act: () => void): void {
    this.#platform.schedule(ms, act);
  }

  /** Whether the connection carried an earlier request. */
  get isReused(): boolean {
    return this.#isReused;
  }

  /** Whether the client still reads. */
  get isOpen(): boolean {
    return this.#socket.writable;
  }
}

const head = (status: string | number, headers: readonly string[]): string =>
  [`HTTP/1.1 ${status === 200 ? '200 OK' : `${status} Because`}`, ...headers, '', ''].join('\r\n');

/** One listening port. */
export class Endpoint {
  /** How a new connection is treated. */
  mode: 'serve' | 'fin' | 'rst' = 'serve';
  port = 0;
  readonly #platform: FaultPlatform;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(platform: FaultPlatform) {
    this.#platform = platform;
  }

  get isListening(): boolean {
    return this.#server !== undefined;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v0`;
  }

  /** Listens, on the earlier port if there was one. Resolves to whether that succeeded. */
  open(port = this.port): Promise<boolean> {
    if (this.#server !== undefined) return Promise.resolve(true);
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#accept(socket);
    });
    this.#server = server;
    return new Promise((resolve) => {
      server.on('error', () => {
        if (this.#server === server) this.#server = undefined;
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        this.port = (server.address() as AddressInfo).port;
        resolve(true);
      });
    });
  }

  /** Runs an action on every open connection, and returns their number. */
  forEachSocket(act: (socket: Socket) => void): number {
    const all = [...this.#sockets];
    for (const socket of all) act(socket);
    return all.length;
  }

  /** Stops listening and destroys every connection, like a process that dies. */
  close(): void {
    this.#server?.close();
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #accept(socket: Socket): void {
    socket.on('error', () => {
      socket.destroy();
    });
    if (this.mode === 'rst') {
      socket.resetAndDestroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
    });
    socket.on('end', () => {
      socket.destroy();
    });
    if (this.mode === 'fin') {
      socket.end();
      return;
    }
    this.#readRequests(socket);
  }

  /** Reads one request after another, each after the complete response to the last one. */
  #readRequests(socket: Socket): void {
    let unread: Uint8Array = new Uint8Array(0);
    let busy = false;
    let served = 0;
    let unfinishedHead: Head | undefined;
    const step = (): void => {
      if (busy || unread.byteLength === 0) return;
      const request = unfinishedHead ?? parseHead(unread);
      if (request === undefined) return;
      const isNew = unfinishedHead === undefined;
      unfinishedHead = request;
      const nonce = request.headers.get(nonceHeader);
      if (isNew) this.#platform.recordArrival(nonce, request);
      const next = this.#platform.findStep(nonce);
      const length = Number(request.headers.get('content-length') ?? 0);
      const isComplete = unread.byteLength >= request.size + length;
      if (!isComplete && next.at !== 'head') return;
      const body = new TextDecoder().decode(unread.subarray(request.size, request.size + length));
      unread = unread.subarray(request.size + length);
      busy = true;
      unfinishedHead = undefined;
      const exchange = new Exchange(this.#platform, this, socket, request, body, served > 0, () => {
        busy = false;
        step();
      });
      served += 1;
      next.play(exchange);
    };
    socket.on('data', (chunk) => {
      const joined = new Uint8Array(unread.byteLength + chunk.byteLength);
      joined.set(unread);
      joined.set(chunk, unread.byteLength);
      unread = joined;
      step();
    });
  }
}

function parseHead(bytes: Uint8Array): Head | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { method, path, headers, size: end + 4 };
}

/** What a call pays, and how its transfers are listed. */
export interface PaymentPlan {
  /** The descriptions of its payments, which are the nonces of their effects. */
  readonly payments: readonly string[];
  readonly listing: Listing;
}

/** A platform with its endpoints, its plans and its ledger. */
export class FaultPlatform {
  readonly shared = new Endpoint(this);
  /** Another origin, for redirects that no client may follow. */
  readonly otherOrigin = new Endpoint(this);
  /** Requests that must not arrive, because they followed a redirect or belong to no call. */
  readonly trespasses: string[] = [];
  readonly #plans = new Map<string, readonly Step[]>();
  readonly #arrivals = new Map<string, number>();
  readonly #ledger = new Map<string, Effect[]>();
  readonly #payments = new Map<string, PaymentPlan>();
  readonly #keys = new Set<string>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #usual: Step;
  #late = 0;
  #made = 0;

  /** `usual` responds to requests without a plan. */
  constructor(usual: Step) {
    this.#usual = usual;
  }

  /**
   * Opens an endpoint for one call. Its port is below the range of ephemeral ports, so that no
   * other socket takes it after a close.
   */
  async openEndpoint(): Promise<Endpoint> {
    const endpoint = new Endpoint(this);
    while (!(await endpoint.open(randomInt(15_000, 31_000))));
    return endpoint;
  }

  async start(): Promise<void> {
    await this.shared.open();
    await this.otherOrigin.open();
  }

  /** Sets the responses to the requests of a call, in order. Later requests get `usual`. */
  plan(nonce: string, steps: readonly Step[], payments?: PaymentPlan): void {
    this.#plans.set(nonce, steps);
    if (payments !== undefined) this.#payments.set(nonce, payments);
  }

  /** The payment that a body creates, or the nonce of the call if the call has no payments. */
  findPayment(nonce: string, body: string): string {
    const payments = this.#payments.get(nonce)?.payments ?? [];
    return payments.find((payment) => body.includes(`"${payment}"`)) ?? nonce;
  }

  /** The page of transfers that a call with payments asks for. Undefined for other requests. */
  buildPage({ path, nonce }: Exchange): string | undefined {
    const plan = this.#payments.get(nonce);
    if (plan === undefined || !path.includes('/transfers?')) return undefined;
    const payments = plan.payments.flatMap((description) =>
      (this.#ledger.get(description) ?? []).map((effect) => ({ ...effect, description })),
    );
    return buildPage(path, payments, plan.listing, Date.now());
  }

  /** How many request heads of this call were read. */
  arrivalsOf(nonce: string): number {
    return this.#arrivals.get(nonce) ?? 0;
  }

  /** The ids of the effects of this call. */
  idsOf(nonce: string): readonly string[] {
    return (this.#ledger.get(nonce) ?? []).map(({ id }) => id);
  }

  recordArrival(nonce: string | undefined, { method, path }: Head): void {
    if (nonce === undefined || path.includes('/elsewhere/')) {
      this.trespasses.push(`${method} ${path} arrived and belongs to no call`);
    }
    if (nonce !== undefined) this.#arrivals.set(nonce, this.arrivalsOf(nonce) + 1);
  }

  findStep(nonce: string | undefined): Step {
    const next = this.#plans.get(nonce ?? '')?.[this.arrivalsOf(nonce ?? '') - 1];
    return next ?? this.#usual;
  }

  /** Records one effect for each request, or for each idempotency key if there is one. */
  commit(nonce: string, headers: ReadonlyMap<string, string>): void {
    const key = headers.get('idempotency-key');
    if (key !== undefined) {
      if (this.#keys.has(`${nonce} ${key}`)) return;
      this.#keys.add(`${nonce} ${key}`);
    }
    this.#made += 1;
    const effect = { id: `txfr_${this.#made}`, createdAt: Date.now() };
    this.#ledger.set(nonce, [...(this.#ledger.get(nonce) ?? []), effect]);
  }

  /** Runs an effect later; `waitForEffects` waits for it. */
  scheduleEffect(ms: number, act: () => void): void {
    this.#late += 1;
    this.schedule(ms, () => {
      act();
      this.#late -= 1;
    });
  }

  /** Runs an action later, without a wait for it. */
  schedule(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }

  /** Resolves when no effect is pending. */
  async waitForEffects(): Promise<void> {
    while (this.#late > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.shared.close();
    this.otherOrigin.close();
  }
}
