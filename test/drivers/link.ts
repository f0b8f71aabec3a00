import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** A TCP proxy on loopback. It can delay what clients send, hold everything, or cut every connection. */
export class Link {
  /** The port of the server behind the link. */
  target: number;
  /** How many pieces of data are on their way to the server. */
  pending = 0;
  readonly #delayOf: (data: Buffer) => number;
  readonly #sockets = new Set<Socket>();
  readonly #listener = createServer((client) => void this.#accept(client));
  #isCut = false;
  #gate = Promise.resolve();
  #openGate = (): void => {};

  /** `delayOf` returns for how many milliseconds the link keeps a piece of data from a client. */
  static async open(target: number, delayOf: (data: Buffer) => number = () => 0): Promise<Link> {
    const link = new Link(target, delayOf);
    await new Promise<void>((resolve) => link.#listener.listen(0, '127.0.0.1', resolve));
    return link;
  }

  private constructor(target: number, delayOf: (data: Buffer) => number) {
    this.target = target;
    this.#delayOf = delayOf;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Lets nothing pass in either direction, as a server that stands still does. */
  hold(): void {
    this.#gate = new Promise((resolve) => (this.#openGate = resolve));
  }

  /** Ends every connection, and each new one, until `restore`. What was held is lost. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
    this.#openGate();
    this.#gate = Promise.resolve();
  }

  restore(target: number): void {
    this.target = target;
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#listener.close();
  }

  async #accept(client: Socket): Promise<void> {
    this.#keep(client);
    await this.#gate;
    if (this.#isCut || client.destroyed) {
      client.destroy();
      return;
    }
    const server = connect({ port: this.target, host: '127.0.0.1', noDelay: true });
    this.#keep(server);
    this.#relay(client, server, this.#delayOf);
    this.#relay(server, client, () => 0);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  /** Passes data on in its order, even after the sender has closed its connection. */
  #relay(from: Socket, to: Socket, delayOf: (data: Buffer) => number): void {
    let last = Promise.resolve();
    from.on('data', (data) => {
      const ms = delayOf(data);
      this.pending += 1;
      last = last.then(async () => {
        if (ms > 0) await pause(ms);
        await this.#gate;
        if (to.writable) to.write(data);
        this.pending -= 1;
      });
    });
    from.on('close', () => void last.then(() => to.end()));
  }
}
