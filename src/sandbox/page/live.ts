import { parseJson } from '../../internal/json.ts';
import type { ErrorBody } from '../../schemas/error-body.ts';
import type { SandboxLogEntry } from '../log.ts';
import type { SandboxFaultRule } from '../faults/rule.ts';
import type { SandboxState } from '../state.ts';
import { Calls, type Call } from './attempts.ts';

/** The data that the sandbox's page shows at one moment. */
export interface PageState {
  readonly connection: 'connecting' | 'live' | 'lost';
  /** The state of the sandbox; undefined before the first response. */
  readonly state: SandboxState | undefined;
  /** The fault rules, including rules with a `percent`, because `state` does not contain these. */
  readonly faults: readonly SandboxFaultRule[];
  /** The calls in the sandbox's log, latest first. */
  readonly calls: readonly Call[];
  /** How many log entries the page has, and whether the sandbox has older entries that the page lacks. */
  readonly entryCount: number;
  readonly hasOlder: boolean;
}

/** How many log entries the page reads at first, because reading all 10,000 can take seconds. */
const maxFirstEntries = 500;

/** The minimum of milliseconds between two reads of the sandbox's state. */
const minReadGapMs = 1_000;
/** The page reads a large state less often, because each megabyte blocks the API for 10 ms. */
const charactersPerMs = 2_000;
/** The minimum of milliseconds between two redraws of the log. */
const redrawMs = 250;

/**
 * Calls a control endpoint, and returns the body of its response.
 * @throws Error when the call is rejected, with the reason, or when there is no response.
 */
export async function callControl(
  method: string,
  endpoint: string,
  body?: string,
): Promise<string> {
  const settings = { method, ...(body !== undefined && { body }) };
  const response = await fetch(`/_sandbox/${endpoint}`, settings).catch((cause: unknown) => {
    throw new Error('The sandbox does not answer. Is it still running?', { cause });
  });
  const text = await response.text();
  if (response.ok) return text;
  throw new Error((JSON.parse(text) as ErrorBody).error);
}

/** Keeps a {@link PageState} up to date: follows the log and regularly reads the state. */
export class LivePage {
  readonly #calls = new Calls();
  readonly #onChange: (pageState: PageState) => void;
  #pageState: PageState = {
    connection: 'connecting',
    state: undefined,
    faults: [],
    calls: [],
    entryCount: 0,
    hasOlder: false,
  };
  #lastText = '';
  #currentRead: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDrawPlanned = false;

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
        this.#update({ state, faults });
      }
    } catch {
      // No message here, because the page shows a lost connection when the log's stream ends.
    }
    this.#currentRead = undefined;
    this.#timer = setTimeout(
      () => {
        if (!document.hidden) void this.refresh();
      },
      Math.max(minReadGapMs, this.#lastText.length / charactersPerMs),
    );
  }

  /**
   * Opens a stream of the log, which begins with the latest entries. If the stream breaks, the page
   * opens a new one after two seconds.
   */
  #followLog(): void {
    const events = new EventSource(`/_sandbox/log?latest=${maxFirstEntries}`);
    const clear = (hasOlder: boolean) => {
      this.#calls.clear();
      this.#update({ connection: 'live', hasOlder });
      this.#planDraw();
      void this.refresh();
    };
    events.addEventListener('start', ({ data }: MessageEvent<string>) => {
      clear((JSON.parse(data) as { leftOut: number }).leftOut > 0);
    });
    events.addEventListener('reset', () => {
      clear(false);
    });
    events.addEventListener('message', ({ data }: MessageEvent<string>) => {
      this.#calls.add(parseJson(data) as SandboxLogEntry, data);
      this.#planDraw();
    });
    events.addEventListener('error', () => {
      events.close();
      this.#update({ connection: 'lost' });
      setTimeout(() => {
        this.#followLog();
      }, 2_000);
    });
  }

  /** Draws the log soon, with all entries that come until then. */
  #planDraw(): void {
    if (this.#isDrawPlanned) return;
    this.#isDrawPlanned = true;
    setTimeout(() => {
      this.#isDrawPlanned = false;
      this.#update({ calls: this.#calls.list(), entryCount: this.#calls.entryCount });
    }, redrawMs);
  }
}
