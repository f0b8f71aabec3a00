import { parseJson } from '../../internal/json.ts';
import type { SandboxLogEntry } from '../log.ts';
import type { SandboxFaultRule } from '../faults/rule.ts';
import type { SandboxState } from '../state.ts';
import { Calls, type Call } from './attempts.ts';

/** The data that the sandbox's page shows at one moment. */
export interface PageState {
  readonly connection: 'connecting' | 'live' | 'lost';
  /** The state of the sandbox; undefined before the first response. */
  readonly state: SandboxState | undefined;
  /** All fault rules, including the rules with a `percent`, which `state` does not contain. */
  readonly faults: readonly SandboxFaultRule[];
  /** The available balances of each Account since the page was opened, oldest first. */
  readonly balances: ReadonlyMap<string, readonly number[]>;
  /** The calls in the sandbox's log, latest first. */
  readonly calls: readonly Call[];
}

/** How many log entries the page reads at first, because reading all 10,000 can take seconds. */
const maxFirstEntries = 500;

/** The minimum of milliseconds between two reads of the sandbox's state. */
const minReadGapMs = 1_000;
/** The page reads a large state less often, because each megabyte blocks the API for 10 ms. */
const charactersPerMs = 2_000;
const maxBalancePoints = 120;
/** The minimum of milliseconds between two redraws of the log. */
const redrawMs = 500;

/**
 * Calls a control endpoint, and returns the body of its response.
 * @throws Error with the message of the error body when the call is rejected.
 */
export async function callControl(
  method: string,
  endpoint: string,
  body?: string,
): Promise<string> {
  const settings = { method, ...(body !== undefined && { body }) };
  const response = await fetch(`/_sandbox/${endpoint}`, settings);
  const text = await response.text();
  if (response.ok) return text;
  const { error } = JSON.parse(text) as { error: string };
  throw new Error(error);
}

/** Keeps a {@link PageState} up to date: follows the log and regularly reads the state. */
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
  #lastText = '';
  #currentRead: Promise<void> | undefined;
  #timer = 0;
  /** Whether a timer will draw the log, with all entries that came until then. */
  #isDrawPlanned = false;
  #drawnAt = 0;

  constructor(onChange: (pageState: PageState) => void) {
    this.#onChange = onChange;
  }

  async start(): Promise<void> {
    this.#update({});
    await this.refresh();
    this.#followLog();
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) void this.refresh();
    });
  }

  /** Reads the sandbox's state now, after the page has changed it. */
  async refresh(): Promise<void> {
    // A read in progress can return the state from before the change, so read the state again.
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

  /**
   * Reads the state and the fault rules, redraws the page if they have changed, and plans the next
   * read. The page of a hidden window reads nothing.
   */
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
      // No message here, because the page shows a lost connection when the log's stream ends.
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

  /**
   * Opens a stream of the log, which begins with the latest entries. If the stream breaks, the page
   * opens a new one after two seconds.
   */
  #followLog(): void {
    const events = new EventSource(`/_sandbox/log?latest=${maxFirstEntries}`);
    events.addEventListener('open', () => {
      // After a reconnection the stream can come from another sandbox, so clear the page's log.
      this.#clearLog();
      this.#update({ connection: 'live' });
    });
    events.addEventListener('reset', () => {
      this.#clearLog();
      void this.refresh();
    });
    events.addEventListener('message', ({ data }: MessageEvent<string>) => {
      this.#addEntry(data);
    });
    events.addEventListener('error', () => {
      events.close();
      this.#update({ connection: 'lost' });
      setTimeout(() => {
        this.#followLog();
      }, 2_000);
    });
  }

  /** Adds a log entry, and draws the log, but at most once every `redrawMs` milliseconds. */
  #addEntry(json: string): void {
    const entry = parseJson(json) as SandboxLogEntry;
    this.#calls.add(entry, json);
    if (this.#isDrawPlanned) return;
    this.#isDrawPlanned = true;
    setTimeout(
      () => {
        this.#isDrawPlanned = false;
        this.#drawnAt = performance.now();
        this.#update({ calls: this.#calls.list() });
      },
      this.#drawnAt + redrawMs - performance.now(),
    );
  }
}
