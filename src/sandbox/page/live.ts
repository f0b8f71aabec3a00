import { parseJson } from '../../internal/json.ts';
import type { SandboxLogEntry } from '../log.ts';
import type { SandboxFaultRule } from '../faults/rule.ts';
import type { SandboxState } from '../state.ts';
import { Calls, type Call } from './attempts.ts';

/** The data of the page at one moment. */
export interface PageState {
  readonly connection: 'connecting' | 'live' | 'lost';
  /** Undefined before the first response. */
  readonly state: SandboxState | undefined;
  /** Also those with a `percent`, which are not part of the state. */
  readonly faults: readonly SandboxFaultRule[];
  /** The available balances of each Account since the page was opened, oldest first. */
  readonly balances: ReadonlyMap<string, readonly number[]>;
  /** The latest first. */
  readonly calls: readonly Call[];
}

/** The minimum time between two reads of the state. */
const minReadGapMs = 1_000;
/** A large state takes long to write, 10 ms a megabyte, and blocks the API meanwhile. */
const charactersPerMs = 2_000;
const maxBalancePoints = 120;
/** The first log entry is drawn at once, later ones after this time. */
const redrawMs = 500;

const control = '/_sandbox/';

/**
 * Calls a control endpoint, and returns the body of its response.
 * @throws Error with the message of the error body when the call is rejected.
 */
export async function callControl(method: string, path: string, body?: string): Promise<string> {
  const response = await fetch(control + path, { method, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (response.ok) return text;
  const { error } = JSON.parse(text) as { error: string };
  throw new Error(error);
}

/** Keeps a {@link PageState} up to date, by the stream of the log and regular reads of the state. */
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

  /** Reads the state now, after an action of the page. */
  async refresh(): Promise<void> {
    // A read in progress may be from before the change.
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
      // The connection of the log shows that the sandbox is not reachable.
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
      // The stream starts from the beginning, because it may be another sandbox than before.
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
