import { parseJson } from '../../internal/json.ts';
import type { SandboxLogEntry } from '../log.ts';
import type { SandboxFaultRule } from '../faults/rule.ts';
import type { SandboxState } from '../state.ts';
import { Calls, type Call } from './attempts.ts';

/** What the page knows of the sandbox at one moment. */
export interface World {
  readonly connection: 'connecting' | 'live' | 'lost';
  /** Undefined before the first answer. */
  readonly state: SandboxState | undefined;
  /** Those by chance among them, which are no part of the state. */
  readonly faults: readonly SandboxFaultRule[];
  /** The available balances of each Account since the page was opened, oldest first. */
  readonly balances: ReadonlyMap<string, readonly number[]>;
  /** The latest first. */
  readonly calls: readonly Call[];
}

/** Reads are this far apart at least. */
const leastGapMs = 1_000;
/** A large state takes long to write, 10 ms a megabyte, and the API stands still meanwhile. */
const charactersPerMs = 2_000;
const pointsOfLine = 120;
/** What is heard is drawn at once, and while more comes, this far apart. */
const redrawMs = 500;

const control = '/_sandbox/';

/**
 * Asks an endpoint of control, and answers the text of its answer.
 * @throws Error with the sentence of the Error body when it refuses.
 */
export async function ask(method: string, path: string, body?: string): Promise<string> {
  const response = await fetch(control + path, { method, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (response.ok) return text;
  const { error } = JSON.parse(text) as { error: string };
  throw new Error(error);
}

/** Keeps a {@link World} up to date: the log as it is written, the state when something may have moved. */
export class Live {
  readonly #calls = new Calls();
  readonly #changed: (world: World) => void;
  #world: World = {
    connection: 'connecting',
    state: undefined,
    faults: [],
    balances: new Map(),
    calls: [],
  };
  #events: EventSource | undefined;
  #text = '';
  #reading: Promise<void> | undefined;
  #timer = 0;
  #isDrawing = false;
  #drawn = 0;

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

  #clearLog(): void {
    this.#calls.clear();
    this.#show({ calls: [] });
  }

  #show(part: Partial<World>): void {
    this.#world = { ...this.#world, ...part };
    this.#changed(this.#world);
  }

  async #read(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const [text, rules] = await Promise.all([ask('GET', 'state'), ask('GET', 'faults')]);
      if (text + rules !== this.#text) {
        this.#text = text + rules;
        const state = JSON.parse(text) as SandboxState;
        const faults = JSON.parse(rules) as SandboxFaultRule[];
        this.#show({ state, faults, balances: this.#lines(state) });
      }
    } catch {
      // That nobody answers is said by the log's connection.
    }
    this.#reading = undefined;
    this.#timer = window.setTimeout(
      () => {
        if (!document.hidden) void this.refresh();
      },
      Math.max(leastGapMs, this.#text.length / charactersPerMs),
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
      this.#clearLog();
      this.#show({ connection: 'live' });
    });
    events.addEventListener('reset', () => {
      this.#clearLog();
      void this.refresh();
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
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    setTimeout(
      () => {
        this.#isDrawing = false;
        this.#drawn = performance.now();
        this.#show({ calls: this.#calls.list() });
      },
      this.#drawn + redrawMs - performance.now(),
    );
  }
}
