import { parseJson } from '../../internal/json.ts';
import { isObject } from '../../internal/objects.ts';
import type { ErrorBody } from '../../schemas/error-body.ts';
import type { SandboxLogEntry } from '../log.ts';
import type { SandboxFaultRule } from '../faults/rule.ts';
import type { SandboxState } from '../state.ts';
import { Calls, maxEntries, type Call } from './attempts.ts';

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
  /** How many log entries the page has, and how many older ones only the sandbox has. */
  readonly entryCount: number;
  readonly olderCount: number;
  /** How often the page has found another sandbox at its address. */
  readonly restarts: number;
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

/** A control endpoint has rejected a call, for the reason in the message. */
export class ControlError extends Error {
  /** The names of the fields that caused the rejection, if the endpoint has named them. */
  readonly fields: readonly string[];

  constructor({ error, details }: ErrorBody) {
    super(error);
    const fields: unknown = isObject(details) ? Reflect.get(details, 'fields') : undefined;
    // A path such as fault.status ends in the name of the form's field.
    this.fields = isObject(fields)
      ? Object.keys(fields).map((path) => path.replace(/.*\./, ''))
      : [];
  }
}

/**
 * Calls a control endpoint, and returns the body of its response.
 * @throws ControlError when the call is rejected; Error when there is no response.
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
  throw new ControlError(JSON.parse(text) as ErrorBody);
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
    entryCount: 0,
    olderCount: 0,
    restarts: 0,
  };
  /** The random name of the sandbox's process, by which the page notices a restart. */
  #sandboxName: string | undefined;
  #events: EventSource | undefined;
  /** How many log entries the page reads when it opens a stream of the log. */
  #entriesToRead = maxFirstEntries;
  /** How many log entries the sandbox has left out of the stream. */
  #leftOut = 0;
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

  /** Reads the whole log of the sandbox, which can take seconds. */
  readonly loadOlder = (): void => {
    this.#entriesToRead = maxEntries;
    this.#followLog();
  };

  #clearLog(leftOut: number): void {
    this.#calls.clear();
    this.#leftOut = leftOut;
    this.#planDraw();
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
   * Opens a stream of the log, which begins with the latest entries, instead of any other. If the
   * stream breaks, the page opens a new one after two seconds.
   */
  #followLog(): void {
    this.#events?.close();
    const events = new EventSource(`/_sandbox/log?latest=${this.#entriesToRead}`);
    this.#events = events;
    events.addEventListener('start', ({ data }: MessageEvent<string>) => {
      const { sandbox, leftOut } = JSON.parse(data) as { sandbox: string; leftOut: number };
      const { restarts } = this.#pageState;
      const isRestart = this.#sandboxName !== undefined && this.#sandboxName !== sandbox;
      this.#sandboxName = sandbox;
      // An old log stays on the page until the first entries of the new one are here.
      if (this.#calls.entryCount > 0) this.#drawnAt = performance.now();
      this.#clearLog(leftOut);
      this.#update({ connection: 'live' });
      if (!isRestart) return;
      // The charts begin anew with the next read, which has to draw even an equal state.
      this.#lastText = '';
      this.#update({ restarts: restarts + 1, balances: new Map() });
      void this.refresh();
    });
    events.addEventListener('reset', () => {
      this.#clearLog(0);
      void this.refresh();
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

  /** Draws the log soon, but at most once every `redrawMs` milliseconds. */
  #planDraw(): void {
    if (this.#isDrawPlanned) return;
    this.#isDrawPlanned = true;
    setTimeout(
      () => {
        this.#isDrawPlanned = false;
        this.#drawnAt = performance.now();
        const { entryCount } = this.#calls;
        // The sandbox drops its oldest entries, which are those that it has left out.
        const olderCount = Math.max(0, Math.min(this.#leftOut, maxEntries - entryCount));
        this.#update({ calls: this.#calls.list(), entryCount, olderCount });
      },
      this.#drawnAt + redrawMs - performance.now(),
    );
  }
}
