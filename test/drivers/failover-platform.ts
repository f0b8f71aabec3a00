import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SandboxFault } from '../../src/sandbox/index.ts';
import { freePort } from '../support/free-port.ts';
import { Link } from './link.ts';

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** The faults of creations, each with its share of all of them in percent. */
const faults: readonly (readonly [number, SandboxFault])[] = [
  [3, { kind: 'reset', when: 'after_commit' }],
  [2, { kind: 'status', status: 503, when: 'after_commit' }],
  [2, { kind: 'truncated_body' }],
  [1, { kind: 'hang', when: 'after_commit' }],
  [3, { kind: 'reset', when: 'before_commit' }],
  [2, { kind: 'status', status: 422 }],
  [2, { kind: 'status', status: 429, retryAfter: 0 }],
];

export interface LedgerTransfer {
  readonly id: string;
  readonly createdAt: string;
}

/** The transfers of a payroll by their descriptions. */
export type Ledger = ReadonlyMap<string, readonly LedgerTransfer[]>;

/** A sandbox in a process of its own, behind a network that delays creations. */
export class Platform {
  readonly apiKey = 'sk_sandbox_0000000000000000';
  readonly link: Link;
  /** How many creations have reached the network. */
  created = 0;
  #isFaulty = false;
  readonly #child: ChildProcess;
  readonly #controlUrl: string;

  /** While the platform is faulty, a share of the creations takes up to `maxDelayMs`. */
  static async start(
    random: () => number,
    { lateShare, maxDelayMs }: { readonly lateShare: number; readonly maxDelayMs: number },
  ): Promise<Platform> {
    const port = await freePort();
    const bin = fileURLToPath(new URL('../../dist/sandbox/bin.js', import.meta.url));
    const flags = ['--port', String(port), '--auto', 'off', '--quiet'];
    const child = spawn(process.execPath, [bin, ...flags], { stdio: 'ignore' });
    const chooseDelay = () => (random() < lateShare ? random() * maxDelayMs : 50 + random() * 200);
    const link = await Link.open(port, (data) => platform.#findDelay(data, chooseDelay));
    const platform = new Platform(child, link, `http://127.0.0.1:${port}/_sandbox`);
    await platform.#waitForStart();
    await platform.#call('POST', 'entities', { email: 'payroll@example.com' });
    return platform;
  }

  private constructor(child: ChildProcess, link: Link, controlUrl: string) {
    this.#child = child;
    this.link = link;
    this.#controlUrl = controlUrl;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.link.port}/v0`;
  }

  async createAccount(name: string): Promise<string> {
    const body = { entityId: 'ent_000001', name };
    const { id } = (await this.#call('POST', 'accounts', body)) as { id: string };
    await this.#call('POST', `accounts/${id}/fund`, { amount: '1000000' });
    return id;
  }

  /** Makes creations late and faulty. The seed selects the faults. */
  async startFaults(seed: number): Promise<void> {
    this.#isFaulty = true;
    for (const [at, [percent, fault]] of faults.entries()) {
      const rule = { operation: 'transfers.create', times: 'always', percent, fault };
      await this.#call('POST', 'faults', { ...rule, seed: seed * faults.length + at });
    }
  }

  async stopFaults(): Promise<void> {
    this.#isFaulty = false;
    await this.#call('DELETE', 'faults');
  }

  /** Reads the transfers whose descriptions begin with a text. */
  async readLedger(prefix: string): Promise<Ledger> {
    const { transfers } = (await this.#call('GET', 'state')) as {
      transfers: (LedgerTransfer & { description: string })[];
    };
    const own = transfers.filter(({ description }) => description.startsWith(prefix));
    return Map.groupBy(own, ({ description }) => description);
  }

  stop(): void {
    this.link.close();
    this.#child.kill('SIGKILL');
  }

  #findDelay(data: Buffer, chooseDelay: () => number): number {
    if (!data.subarray(0, 5).equals(Buffer.from('POST '))) return 0;
    this.created += 1;
    return this.#isFaulty ? chooseDelay() : 0;
  }

  async #waitForStart(): Promise<void> {
    for (let tries = 0; tries < 400; tries += 1) {
      const isUp = this.#call('GET', 'health').then(Boolean, () => false);
      if (await isUp) return;
      await pause(50);
    }
    throw new Error('the sandbox did not start');
  }

  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`${this.#controlUrl}/${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }
}
