import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { successBody } from './bodies.ts';

/*
 * A platform on raw sockets. It reads requests itself and keeps a ledger of what took effect, so
 * that after a call there is a truth to compare the SDK's word with: whether the request was read,
 * and how often it was acted on. What it answers, and how it breaks, is told per call (a nonce in
 * the header below) and per arrival of that call.
 */

/** Names the call that a request belongs to, even when its body never arrives. */
export const nonceHeader = 'x-nonce';

/** Plays one answer, or the lack of one. */
export type Play = (exchange: Exchange) => void;

/** When the play begins: once the whole request is read, or as soon as its head is. */
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

/** One request as the server sees it, and what can be done to its connection. */
export class Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly nonce: string;
  readonly body: string;
  readonly door: Door;
  readonly #socket: Socket;
  readonly #platform: FaultPlatform;
  readonly #done: () => void;
  readonly #reused: boolean;

  constructor(
    platform: FaultPlatform,
    door: Door,
    socket: Socket,
    head: Head,
    body: string,
    reused: boolean,
    done: () => void,
  ) {
    this.#reused = reused;
    this.#platform = platform;
    this.#socket = socket;
    this.#done = done;
    this.door = door;
    this.method = head.method;
    this.path = head.path;
    this.headers = head.headers;
    this.nonce = head.headers.get(nonceHeader) ?? '';
    this.body = body;
  }

  /** Acts on the request. A read has no effect to note. */
  commit(): void {
    if (this.method !== 'GET') this.#platform.commit(this.nonce, this.headers);
  }

  /** Acts on it some time after the answer should have come. */
  commitLater(ms: number): void {
    this.#platform.later(ms, () => {
      this.commit();
    });
  }

  /** What a success says: the id that the ledger holds, or the one that was asked for. */
  success(): string {
    const [id] = this.#platform.idsOf(this.nonce);
    return successBody(this, id);
  }

  /** Another address of this server that must never be asked for anything. */
  elsewhere(): string {
    return `/v0/elsewhere/${this.nonce}`;
  }

  /** The same at another origin. */
  otherOrigin(): string {
    return `http://127.0.0.1:${this.#platform.beside.port}/v0/elsewhere/${this.nonce}`;
  }

  send(bytes: string | Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** An answer with its length, after which the connection can be used again. */
  reply(status: string | number, body: string | Uint8Array, ...headers: string[]): void {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    const typed = headers.some((line) => line.startsWith('content-type'))
      ? headers
      : ['content-type: application/json', ...headers];
    this.send(head(status, [...typed, `content-length: ${bytes.byteLength}`]));
    this.send(bytes);
    this.#done();
  }

  /** The head of an answer without anything that says how long it is. */
  begin(status: string | number, ...headers: string[]): void {
    this.send(head(status, headers));
  }

  /** Says that the answer is whole: the next request may be read. */
  over(): void {
    this.#done();
  }

  fin(): void {
    this.#socket.end();
    this.#platform.soon(200, () => {
      this.#socket.destroy();
    });
  }

  rst(): void {
    this.#socket.resetAndDestroy();
  }

  /** Does something once what was written before has left. */
  afterwards(ms: number, act: () => void): void {
    this.#platform.soon(ms, act);
  }

  /** Whether the connection has carried a request before this one. */
  get reused(): boolean {
    return this.#reused;
  }

  /** Whether somebody still listens. */
  get open(): boolean {
    return this.#socket.writable;
  }
}

const head = (status: string | number, headers: readonly string[]): string =>
  [`HTTP/1.1 ${status === 200 ? '200 OK' : `${status} Because`}`, ...headers, '', ''].join('\r\n');

/** One listening port. */
export class Door {
  /** What a new connection meets. */
  mode: 'serve' | 'fin' | 'rst' = 'serve';
  port = 0;
  readonly #platform: FaultPlatform;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(platform: FaultPlatform) {
    this.#platform = platform;
  }

  get listening(): boolean {
    return this.#server !== undefined;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v0`;
  }

  /** Listens; on the same port as before, if there was one. Resolves to whether it does. */
  open(port = this.port): Promise<boolean> {
    if (this.#server !== undefined) return Promise.resolve(true);
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#meet(socket);
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

  /** Does something to every connection that is open. */
  toAll(act: (socket: Socket) => void): number {
    const all = [...this.#sockets];
    for (const socket of all) act(socket);
    return all.length;
  }

  /** Stops listening and leaves every connection, as a process that dies does. */
  shut(): void {
    this.#server?.close();
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #meet(socket: Socket): void {
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
    this.#converse(socket);
  }

  /** Reads requests one after the other, each once the one before has been answered in full. */
  #converse(socket: Socket): void {
    let unread: Uint8Array = new Uint8Array(0);
    let busy = false;
    let served = 0;
    let noted: Head | undefined;
    const step = (): void => {
      if (busy || unread.byteLength === 0) return;
      const request = noted ?? headOf(unread);
      if (request === undefined) return;
      const fresh = noted === undefined;
      noted = request;
      const nonce = request.headers.get(nonceHeader);
      if (fresh) this.#platform.note(nonce, request);
      const planned = this.#platform.stepFor(nonce);
      const length = Number(request.headers.get('content-length') ?? 0);
      const whole = unread.byteLength >= request.size + length;
      if (!whole && planned.at !== 'head') return;
      const body = new TextDecoder().decode(unread.subarray(request.size, request.size + length));
      unread = unread.subarray(request.size + length);
      busy = true;
      noted = undefined;
      const exchange = new Exchange(this.#platform, this, socket, request, body, served > 0, () => {
        busy = false;
        step();
      });
      served += 1;
      planned.play(exchange);
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

function headOf(bytes: Uint8Array): Head | undefined {
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

/** The doors of one platform, what it was told to do, and what it did. */
export class FaultPlatform {
  readonly shared = new Door(this);
  /** Another origin, to which nothing may ever be sent. */
  readonly beside = new Door(this);
  /** What must never arrive: a followed redirect, a request that nobody made. */
  readonly trespasses: string[] = [];
  readonly #plans = new Map<string, readonly Step[]>();
  readonly #arrivals = new Map<string, number>();
  readonly #ledger = new Map<string, string[]>();
  readonly #keys = new Set<string>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #usual: Step;
  #late = 0;
  #made = 0;

  /** `usual` answers what no plan covers. */
  constructor(usual: Step) {
    this.#usual = usual;
  }

  /**
   * A door for one call, below the range that the system takes ports for connections from: what is
   * shut stays shut.
   */
  async ownDoor(): Promise<Door> {
    const door = new Door(this);
    while (!(await door.open(randomInt(15_000, 31_000))));
    return door;
  }

  async start(): Promise<void> {
    await this.shared.open();
    await this.beside.open();
  }

  /** What the arrivals of a call meet, in order; those beyond the list meet the usual answer. */
  expect(nonce: string, steps: readonly Step[]): void {
    this.#plans.set(nonce, steps);
  }

  /** Lets go of all that is known of a call. */
  forget(nonce: string): void {
    this.#plans.delete(nonce);
    this.#arrivals.delete(nonce);
    this.#ledger.delete(nonce);
  }

  /** How often the head of a request of this call was read. */
  arrivalsOf(nonce: string): number {
    return this.#arrivals.get(nonce) ?? 0;
  }

  /** What took effect for this call. */
  idsOf(nonce: string): readonly string[] {
    return this.#ledger.get(nonce) ?? [];
  }

  note(nonce: string | undefined, { method, path }: Head): void {
    if (nonce === undefined || path.includes('/elsewhere/')) {
      this.trespasses.push(`${method} ${path} arrived, and nobody asked for it`);
    }
    if (nonce !== undefined) this.#arrivals.set(nonce, this.arrivalsOf(nonce) + 1);
  }

  stepFor(nonce: string | undefined): Step {
    const planned = this.#plans.get(nonce ?? '')?.[this.arrivalsOf(nonce ?? '') - 1];
    return planned ?? this.#usual;
  }

  /** Acts once for each request, or once for each idempotency key where there is one. */
  commit(nonce: string, headers: ReadonlyMap<string, string>): void {
    const key = headers.get('idempotency-key');
    if (key !== undefined) {
      if (this.#keys.has(`${nonce} ${key}`)) return;
      this.#keys.add(`${nonce} ${key}`);
    }
    this.#made += 1;
    this.#ledger.set(nonce, [...this.idsOf(nonce), `txfr_${this.#made}`]);
  }

  /** Does something later that belongs to the truth: `settled` waits for it. */
  later(ms: number, act: () => void): void {
    this.#late += 1;
    this.soon(ms, () => {
      act();
      this.#late -= 1;
    });
  }

  /** Does something later that nobody waits for. */
  soon(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }

  /** Resolves when nothing is about to take effect any more. */
  async settled(): Promise<void> {
    while (this.#late > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.shared.shut();
    this.beside.shut();
  }
}
