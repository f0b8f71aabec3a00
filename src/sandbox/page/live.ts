import { parseJson } from '../../wires/json.ts';
import type { SandboxLogEntry } from '../faults/log.ts';
import type { SandboxState } from '../faults/state.ts';
import { Calls, type Call } from './attempts.ts';

/** What the page knows of the sandbox at one moment. */
export interface World {
  readonly connection: 'connecting' | 'live' | 'lost';
  /** Undefined before the first answer. */
  readonly state: SandboxState | undefined;
  /** The available balances of each Account since the page was opened, oldest first. */
  readonly balances: ReadonlyMap<string, readonly number[]>;
  /** The latest first. */
  readonly calls: readonly Call[];
}

/** Reads are this far apart at least. */
const leastGapMs = 1_000;
/** And this far when nothing moves: what runs in the sandbox's process can move things unheard. */
const mostGapMs = 5_000;
/** A large state takes long to write, and the API stands still meanwhile. */
const shareOfTime = 25;
const pointsOfLine = 120;
const redrawMs = 200;

const control = '/_sandbox/';

/**
 * Asks an endpoint of control.
 * @throws Error with the sentence of the Error body when it refuses.
 */
export async function ask(method: string, path: string, body?: string): Promise<unknown> {
  const response = await fetch(control + path, { method, ...(body !== undefined && { body }) });
  const text = await response.text();
  const value: unknown = text === '' ? undefined : parseJson(text);
  if (response.ok) return value;
  const said = (value as { error?: unknown } | undefined)?.error;
  throw new Error(typeof said === 'string' ? said : `It answered ${response.status}.`);
}

/** Keeps a {@link World} up to date: the log as it is written, the state when something may have moved. */
export class Live {
  readonly #calls = new Calls();
  readonly #changed: (world: World) => void;
  #world: World = { connection: 'connecting', state: undefined, balances: new Map(), calls: [] };
  #events: EventSource | undefined;
  #text = '';
  #reading: Promise<void> | undefined;
  #gap = leastGapMs;
  #rest = 0;
  #timer = 0;
  #redraw = false;

  constructor(changed: (world: World) => void) {
    this.#changed = changed;
  }

  start(): void {
    this.#follow();
    void this.refresh();
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) void this.refresh();
    });
  }

  /** Reads the state now, for whoever has just changed it. */
  async refresh(): Promise<void> {
    // An answer that is under way may be from before the change.
    await this.#reading;
    await (this.#reading ??= this.#read());
  }

  /** Forgets the log, as the sandbox has. */
  clearLog(): void {
    this.#calls.clear();
    this.#show({ calls: [] });
  }

  #show(part: Partial<World>): void {
    this.#world = { ...this.#world, ...part };
    this.#changed(this.#world);
  }

  async #read(): Promise<void> {
    clearTimeout(this.#timer);
    const started = performance.now();
    try {
      const response = await fetch(`${control}state`);
      const text = await response.text();
      if (response.ok && text !== this.#text) {
        this.#text = text;
        this.#gap = leastGapMs;
        const state = JSON.parse(text) as SandboxState;
        this.#show({ state, balances: this.#lines(state) });
      } else {
        this.#gap = Math.min(this.#gap * 2, mostGapMs);
      }
    } catch {
      // That nobody answers is said by the log's connection.
      this.#gap = mostGapMs;
    }
    this.#reading = undefined;
    this.#rest = (performance.now() - started) * shareOfTime;
    this.#readAfter(this.#gap);
  }

  #readAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(
      () => {
        if (!document.hidden) void this.refresh();
      },
      Math.max(ms, this.#rest),
    );
  }

  #lines({ accounts }: SandboxState): World['balances'] {
    const { balances } = this.#world;
    return new Map(
      accounts.map(({ id, availableBalance }) => [
        id,
        [...(balances.get(id) ?? []), Number(availableBalance)].slice(-pointsOfLine),
      ]),
    );
  }

  #follow(): void {
    this.#events?.close();
    const events = new EventSource(`${control}log`);
    this.#events = events;
    events.addEventListener('open', () => {
      // It starts from the beginning: what answers now may be another sandbox than before.
      this.clearLog();
      this.#show({ connection: 'live' });
    });
    events.addEventListener('message', ({ data }: MessageEvent<string>) => {
      this.#hear(parseJson(data) as SandboxLogEntry);
    });
    events.addEventListener('error', () => {
      events.close();
      this.#show({ connection: 'lost' });
      setTimeout(() => {
        this.#follow();
      }, 2_000);
    });
  }

  #hear(entry: SandboxLogEntry): void {
    this.#calls.add(entry);
    if (entry.method !== 'GET' && this.#gap > leastGapMs) {
      this.#gap = leastGapMs;
      this.#readAfter(leastGapMs);
    }
    if (this.#redraw) return;
    this.#redraw = true;
    setTimeout(() => {
      this.#redraw = false;
      this.#show({ calls: this.#calls.list() });
    }, redrawMs);
  }
}
