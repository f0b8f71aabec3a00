import { parseJson } from '../../internal/json.ts';
import type { SandboxLogEntry } from '../log.ts';
import type { SandboxFaultRule } from '../faults/rule.ts';
import type { SandboxState } from '../state.ts';
import { Calls, type Call } from './attempts.ts';

/** What the page knows of the sandbox at one moment. */
export interface PageState {
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
const minReadGapMs = 1_000;
/** A large state takes long to write, 10 ms a megabyte, and the API stands still meanwhile. */
const charactersPerMs = 2_000;
const maxBalancePoints = 120;
/** What is heard is drawn at once, and while more comes, this far apart. */
const redrawMs = 500;

const control = '/_sandbox/';

/**
 * Asks an endpoint of control, and answers the text of its answer.
 * @throws Error with the sentence of the Error body when it refuses.
 */
export async function callControl(method: string, path: string, body?: string): Promise<string> {
  const response = await fetch(control + path, { method, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (response.ok) return text;
  const { error } = JSON.parse(text) as { error: string };
  throw new Error(error);
}

/** Keeps a {@link PageState} up to date: the log as it is written, the state when something may have moved. */
export class LivePage {
  readonly #calls = new Calls();
  readonly #onChange: (pageState: PageState) => void;
  #pageState: PageState = {
    connection: 'connecting',
    state: undefined,
    faults: [],
    balances: new Map(),
    calls: [],
  };
  #events: EventSource | undefined;
  #lastText = '';
  #currentRead: Promise<void> | undefined;
  #timer = 0;
  #isDrawing = false;
  #drawnAt = 0;

  constructor(onChange: (pageState: PageState) => void) {
    this.#onChange = onChange;
  }

  start(): void {
    this.#followLog();
    void this.refresh();
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) void this.refresh();
    });
  }

  /** Reads the state now, for whoever has just changed it. */
  async refresh(): Promise<void> {
    // An answer that is under way may be from before the change.
    await this.#currentRead;
    await (this.#currentRead ??= this.#readState());
  }

  #clearLog(): void {
    this.#calls.clear();
    this.#update({ calls: [] });
  }

  #update(part: Partial<PageState>): void {
    this.#pageState = { ...this.#pageState, ...part };
    this.#onChange(this.#pageState);
  }

  async #readState(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const [text, faultsText] = await Promise.all([
        callControl('GET', 'state'),
        callControl('GET', 'faults'),
      ]);
      if (text + faultsText !== this.#lastText) {
        this.#lastText = text + faultsText;
        const state = JSON.parse(text) as SandboxState;
        const faults = JSON.parse(faultsText) as SandboxFaultRule[];
        this.#update({ state, faults, balances: this.#extendBalances(state) });
      }
    } catch {
      // That nobody answers is said by the log's connection.
    }
    this.#currentRead = undefined;
    this.#timer = window.setTimeout(
      () => {
        if (!document.hidden) void this.refresh();
      },
      Math.max(minReadGapMs, this.#lastText.length / charactersPerMs),
    );
  }

  #extendBalances({ accounts }: SandboxState): PageState['balances'] {
    const { balances } = this.#pageState;
    return new Map(
      accounts.map(({ id, availableBalance }) => [
        id,
        [...(balances.get(id) ?? []), Number(availableBalance)].slice(-maxBalancePoints),
      ]),
    );
  }

  #followLog(): void {
    this.#events?.close();
    const events = new EventSource(`${control}log`);
    this.#events = events;
    events.addEventListener('open', () => {
      // It starts from the beginning: what answers now may be another sandbox than before.
      this.#clearLog();
      this.#update({ connection: 'live' });
    });
    events.addEventListener('reset', () => {
      this.#clearLog();
      void this.refresh();
    });
    events.addEventListener('message', ({ data }: MessageEvent<string>) => {
      this.#addEntry(parseJson(data) as SandboxLogEntry);
    });
    events.addEventListener('error', () => {
      events.close();
      this.#update({ connection: 'lost' });
      setTimeout(() => {
        this.#followLog();
      }, 2_000);
    });
  }

  #addEntry(entry: SandboxLogEntry): void {
    this.#calls.add(entry);
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    setTimeout(
      () => {
        this.#isDrawing = false;
        this.#drawnAt = performance.now();
        this.#update({ calls: this.#calls.list() });
      },
      this.#drawnAt + redrawMs - performance.now(),
    );
  }
}
