import { clockFrom } from '../../src/calls/time.ts';
import { PaymentsError, PaymentInDoubtError, type Outcome } from '../../src/errors/errors.ts';
import { isEqual } from '../../src/internal/objects.ts';
import {
  parseEntry,
  serializeEntry,
  type Journal,
  type JournalEntry,
} from '../../src/journals/journal.ts';
import { LastSearches } from '../../src/once/last-searches.ts';
import type { OnceContext } from '../../src/once/context.ts';
import type { Creation } from '../../src/once/creation.ts';
import { Payment } from '../../src/once/payment.ts';
import { Verdict } from '../../src/once/decide.ts';
import type { Reconciliation } from '../../src/search/search.ts';
import type { OnceInput, Transfer, TransferCreated } from '../../src/schemas/transfer.ts';

/*
 * Explores every interleaving of the steps of two callers and an operator. At each step a process
 * may crash or be suspended, and the journal may fail before or after it has written. A response
 * may be lost, late or a rejection. The list may lag, miss a transfer once or show only a similar
 * transfer, and a search may stop where the list is older than the payment, or return what another
 * scan has found. Some bounds also restore a backup of the journal when no request can take effect
 * any more, let another program write the entry again, or let the clock of the journal be ahead
 * during the first claim. The explorer chooses which step runs next and with which fault. To try
 * another choice, the explorer replays the run with the choices before, and visits no state twice.
 */

const totalTimeout = 100;
const gracePeriod = 50;
const input: OnceInput = {
  sourceAccountId: 'acc_1',
  counterpartyId: 'cpty_1',
  amount: '1.00',
  description: 'invoice 4711',
};
const ended = (outcome: Outcome): PaymentsError => new PaymentsError(outcome, { outcome });

/** The choices of one run: a given prefix, then the first option of each choice. */
class Choices {
  readonly taken: number[] = [];
  readonly counts: number[] = [];
  readonly #given: readonly number[];
  constructor(prefix: readonly number[]) {
    this.#given = prefix;
  }
  get isNew(): boolean {
    return this.taken.length >= this.#given.length;
  }
  take<T>(...options: readonly [T, ...T[]]): T {
    if (options.length === 1) return options[0];
    const taken = this.#given[this.taken.length] ?? 0;
    this.taken.push(taken);
    this.counts.push(options.length);
    return options[taken] ?? options[0];
  }
  /** The prefix of the next run. Undefined after the last run. */
  next(): number[] | undefined {
    for (let at = this.taken.length - 1; at >= 0; at -= 1) {
      const taken = (this.taken[at] ?? 0) + 1;
      if (taken < (this.counts[at] ?? 0)) return [...this.taken.slice(0, at), taken];
    }
    return undefined;
  }
}

/** The steps of a caller in the words of a trace. */
const words: Readonly<Record<string, string>> = {
  begin: 'calls',
  read: 'reads the journal',
  swap: 'writes the journal',
  now: 'reads its clock',
  search: 'searches the list',
  create: 'sends',
  get: 'reads the transfer',
};

interface Step {
  readonly caller: Caller;
  readonly name: string;
  readonly take: () => void;
}

interface Caller {
  readonly name: string;
  calls: number;
  /** The results of its steps, which determine its state. */
  history: string[];
  isDead: boolean;
  /** When the last request with an unknown outcome ended. Older results of scans are not used. */
  unknownAt: number;
}

/** How far the clock may be ahead. Longer than any claim, and than any tolerated difference. */
const lead = 1_000_000;

/** A journal that keeps texts, as a database does. */
function createTextJournal(now: () => number) {
  let text = '';
  // Parsed once for each text, because nothing changes an entry in place.
  let entry: JournalEntry | undefined;
  const write = (after: string): void => {
    text = after;
    entry = after === '' ? undefined : Object.freeze(parseEntry(after));
  };
  const journal: Journal = {
    read: () => Promise.resolve(entry),
    swap: (_, before, after) => {
      if (!isEqual(entry, before)) return Promise.resolve(false);
      write(serializeEntry(after));
      return Promise.resolve(true);
    },
    now: () => Promise.resolve(now()),
  };
  const rewrite = (): void => {
    write(JSON.stringify(entry, null, 1));
  };
  return { journal, rewrite, isEmpty: () => text === '' };
}

/** JSON to compare states. No decision depends on a history, so each write checks the history. */
const withoutHistory = (value: unknown): string =>
  JSON.stringify(value, (name, field: unknown) => (name === 'history' ? undefined : field)) ?? '';

/** Whether an entry keeps the history of the entry that it replaces, and adds its own state. */
function isContinued(stored: JournalEntry | undefined, after: JournalEntry | undefined): boolean {
  if (after === undefined) return true;
  const [before, history] = [stored?.history ?? [], after.history ?? []];
  // A correction of a claim from the future moves the times of its history, too.
  const statesOf = (changes: NonNullable<JournalEntry['history']>) =>
    changes.map((change) => ({ ...change, at: 0 }));
  const isSame = isEqual(statesOf(history.slice(0, before.length)), statesOf(before));
  const isCorrection =
    stored?.state === after.state && 'claimId' in stored && 'claimId' in after
      ? stored.claimId === after.claimId
      : false;
  const isLonger = history.length === before.length + 1 && history.at(-1)?.state === after.state;
  return isSame && (isLonger || (isCorrection && history.length === before.length));
}

/** The limits of an exploration. */
export interface Bounds {
  readonly callers: number;
  readonly calls: number;
  readonly faults: number;
  readonly forgets?: boolean;
  /** The list also shows a transfer that may be the payment, so no search is certain. */
  readonly isAmbiguous?: boolean;
  /** A search hides everything from before its earliest time, without a margin. */
  readonly isBounded?: boolean;
  /** The callers pass the time of the first call as `since`. */
  readonly hasSince?: boolean;
  /** A search before a first claim may return a scan that ended up to totalTimeout ago. */
  readonly isShared?: boolean;
  /** The journal is restored once from a backup, to any entry that the journal has had. */
  readonly isRestored?: boolean;
  /** Another program writes the entry once again, with other spaces. */
  readonly isRewritten?: boolean;
  /** The journal's clock is ahead by days in one reading before anything is claimed. */
  readonly isAhead?: boolean;
  /** An operator tries to resolve the payment while it is being made. */
  readonly hasOperator?: boolean;
}

class Simulation {
  time = 1_000;
  /** What happened, in words. */
  readonly trace: string[] = [];
  readonly ledger: { readonly at: number; readonly shownFrom: number }[] = [];
  readonly steps: Step[] = [];
  readonly callers: Caller[];
  readonly choices: Choices;
  readonly journal: Journal;
  /** Writes an entry of a backup. */
  readonly restore: (before: JournalEntry | undefined, after: JournalEntry | undefined) => unknown;
  /** Writes the entry again, as another program does. */
  readonly rewrite: () => void;
  readonly isUnclaimed: () => boolean;
  hasRewritten = false;
  hasBeenAhead = false;
  readonly #isAmbiguous: boolean;
  readonly bounds: Bounds;
  /** The entries that the journal has had. */
  readonly backups = new Map<string, JournalEntry | undefined>([['', undefined]]);
  /** Whether a write lost the history of the entry that it replaced. */
  hasLostHistory = false;
  hasMissed = false;
  hasRestored = false;
  /** When the first caller was called. */
  requestedAt: number | undefined;
  #faults: number;

  constructor(choices: Choices, bounds: Bounds) {
    const { callers, faults, forgets = false, isAmbiguous = false } = bounds;
    this.bounds = bounds;
    this.choices = choices;
    this.#faults = faults;
    this.#isAmbiguous = isAmbiguous;
    const { journal, rewrite, isEmpty } = createTextJournal(() => this.time);
    this.rewrite = rewrite;
    this.restore = (before, after) => journal.swap(input.description, before, after);
    this.isUnclaimed = isEmpty;
    this.journal = {
      ...journal,
      searchFirst: forgets ? 'always' : 'never',
      swap: async (reference, before, after) => {
        this.backups.set(withoutHistory(after), after);
        const stored = await journal.read(reference);
        const isWon = await journal.swap(reference, before, after);
        if (isWon && !isContinued(stored, after)) this.hasLostHistory = true;
        return isWon;
      },
    };
    this.callers = ['a', 'b'].slice(0, callers).map((name) => {
      return { name, calls: 0, history: [], isDead: false, unknownAt: 0 };
    });
  }

  /** One of the few faults of a run, if the explorer chooses it here. */
  fault(...kinds: readonly string[]): string {
    if (this.#faults === 0) return 'none';
    const kind = this.choices.take('none', ...kinds);
    if (kind !== 'none') this.#faults -= 1;
    return kind;
  }

  get transfers(): number {
    return this.ledger.length;
  }

  /**
   * The result of a search at a time. If `misses`, the scan misses transfers that move in the list.
   * Transfers from before `earliest` are hidden, and so are those that an operator has dismissed.
   */
  search(
    misses: boolean,
    earliest: number,
    time: number,
    dismissed: ReadonlySet<unknown>,
  ): Reconciliation {
    const listed = this.ledger.flatMap(({ at, shownFrom }, index) =>
      at <= time && at >= earliest && shownFrom <= time && !misses
        ? [{ id: `txfr_${index + 1}` } as Transfer]
        : [],
    );
    const visible = listed.filter(({ id }) => !dismissed.has(id));
    const [transfer, ...others] = visible;
    if (this.#isAmbiguous && !dismissed.has('txfr_other')) {
      return {
        result: 'ambiguous',
        candidates: [...visible, { id: 'txfr_other' } as Transfer],
      };
    }
    if (transfer === undefined) return { result: 'not_found', scanned: 0 };
    if (others.length > 0) return { result: 'ambiguous', candidates: visible };
    return { result: 'found', transfer };
  }

  /** The outcome that an operator sees on the platform. */
  get truth(): string {
    return this.ledger.length > 0 ? 'txfr_1' : 'not_paid';
  }

  /** A step of a caller, which waits until the explorer chooses it. The caller may die in it. */
  step<T>(
    caller: Caller,
    name: string,
    kinds: readonly string[],
    act: (fault: string) => T,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        const fault = this.fault('dies before', 'dies after', 'stands still', 'sleeps', ...kinds);
        this.trace.push(
          `${caller.name} ${words[name] ?? name}${fault === 'none' ? '' : ` (${fault})`}`,
        );
        if (fault === 'stands still') this.time += gracePeriod;
        if (fault === 'sleeps') this.time += totalTimeout;
        if (fault === 'dies before') caller.isDead = true;
        if (caller.isDead) return;
        let result: T;
        try {
          result = act(fault);
        } catch (error) {
          caller.history.push(`${name}!${(error as Error).message}`);
          reject(error as Error);
          return;
        }
        if (fault === 'dies after') caller.isDead = true;
        if (caller.isDead) return;
        caller.history.push(`${name}=${JSON.stringify(result)}`);
        resolve(result);
      };
      this.steps.push({ caller, name, take });
    });
  }

  /** The state that determines what can still happen. */
  key(stored: string, operator: Caller | undefined): string {
    return JSON.stringify([
      this.time,
      this.#faults,
      this.hasMissed,
      this.hasRestored,
      this.hasRewritten,
      this.hasBeenAhead,
      this.bounds.isRestored === true && [...this.backups.keys()],
      this.requestedAt,
      this.ledger,
      stored,
      [...this.callers, ...(operator ? [operator] : [])].map(
        ({ history, isDead, calls, unknownAt }) => [history, isDead, calls, unknownAt],
      ),
      this.steps.map(({ caller, name }) => caller.name + name).toSorted(),
    ]);
  }
}

const callIdentity = { operation: 'transfers.createOnce', method: 'POST', path: '/transfers' };

/** What the calls of one caller work with. */
function contextOf(simulation: Simulation, caller: Caller): OnceContext {
  const { journal } = simulation;
  const withFaults = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const kinds = ['fails before', 'fails after', ...(name === 'swap' ? ['says lost'] : [])];
    const fault = await simulation.step(caller, name, kinds, (kind) => kind);
    if (fault === 'fails before') throw new Error(fault);
    const result = await call();
    caller.history.push(withoutHistory(result));
    if (fault === 'fails after') throw new Error(fault);
    // A database driver that repeats a command after a lost reply reports that another caller won.
    return fault === 'says lost' ? (false as T) : result;
  };
  const readTime = async (reference: string): Promise<number> => {
    const now = await journal.now(reference);
    const mayBeAhead = simulation.bounds.isAhead === true && !simulation.hasBeenAhead;
    if (!mayBeAhead || !simulation.isUnclaimed()) return now;
    const read = simulation.choices.take(now, now + lead);
    simulation.hasBeenAhead = read !== now;
    return read;
  };
  const clock = clockFrom({
    now: () => simulation.time,
    elapsed: () => simulation.time,
    setTimeout: () => 0,
    clearTimeout: () => undefined,
  });
  return {
    platform: { descriptions: undefined },
    readPlatformTime: () => (simulation.bounds.isBounded === true ? simulation.time : undefined),
    since: simulation.bounds.hasSince === true ? simulation.requestedAt : undefined,
    reads: {
      search: async ({ earliest, dismissed = new Set(), scans, takeover }, { isUnclaimed }) => {
        const scan = () =>
          simulation.step(caller, 'search', ['breaks', 'misses'], (fault) => {
            if (fault === 'breaks') throw ended('unknown');
            // Only one scan misses, because the SDK promises nothing if two scans in a row miss it.
            const misses = fault === 'misses' && !simulation.hasMissed;
            simulation.hasMissed ||= misses;
            const { time, bounds, choices } = simulation;
            const since = takeover?.isPlatformTime === true ? takeover.since : undefined;
            const bound = takeover === undefined ? earliest : since;
            const isShared = bounds.isShared === true && isUnclaimed && fault === 'none';
            const scannedAt = isShared ? choices.take(time, time - totalTimeout + 1) : time;
            return simulation.search(
              misses,
              bounds.isBounded === true ? (bound ?? 0) : 0,
              scannedAt > caller.unknownAt ? scannedAt : time,
              dismissed,
            );
          });
        const result = await scan();
        // The list has more than one page, so a second scan confirms that nothing was found.
        return scans !== 'once' && result.result === 'not_found' ? await scan() : result;
      },
      get: (id) =>
        simulation.step(caller, 'get', [], () => {
          const { description } = input;
          return { id, ...(id !== 'txfr_other' && { description }) } as Transfer;
        }),
      getAccount: () => Promise.resolve({}),
    },
    journal: {
      read: (reference) => withFaults('read', () => journal.read(reference)),
      swap: (...swapped) => withFaults('swap', () => journal.swap(...swapped)),
      now: (reference) => withFaults('now', () => readTime(reference)),
      searchFirst: journal.searchFirst ?? 'never',
    },
    gracePeriod,
    totalTimeout,
    timeout: totalTimeout,
    sharesSearches: false,
    lastSearches: new LastSearches(),
    headers: undefined,
    baseUrl: 'https://api.example.com/v0',
    clock,
    pipeline: {
      redact: (text) => text,
      redactOwn: (text) => text,
    },
  };
}

/** The payment of one caller, which the explorer sends. */
function paymentOf(simulation: Simulation, caller: Caller): Payment {
  const send: Creation['send'] = async (left, notAfter) =>
    simulation.step(caller, 'create', [], () => {
      const { time, ledger, choices } = simulation;
      if (left <= 0 || time > notAfter) throw ended('not_sent');
      const effect = choices.take(
        'paid',
        'rejected',
        'not sent',
        'lost',
        'lost, and it is paid',
        'lost, and it is listed late',
      );
      simulation.trace.push(`the response is: ${effect}`);
      if (effect === 'rejected') throw ended('rejected');
      if (effect === 'not sent') throw ended('not_sent');
      if (effect.startsWith('lost')) caller.unknownAt = time;
      if (effect === 'lost') throw ended('unknown');
      const shownFrom = choices.take(time, time + gracePeriod);
      ledger.push({
        at: time,
        shownFrom: effect.endsWith('late') ? time + gracePeriod : shownFrom,
      });
      if (effect !== 'paid') throw ended('unknown');
      return { id: `txfr_${ledger.length}` } as TransferCreated;
    });
  const creation = { authorize: () => Promise.resolve(), send };
  return new Payment(callIdentity, input, creation, contextOf(simulation, caller));
}

/** An operator decides. With `force`, `not_paid` dismisses the transfers that the list shows. */
const decideBy = (
  simulation: Simulation,
  caller: Caller,
  verdict: string,
  force: boolean,
): Promise<void> =>
  new Verdict(callIdentity, input.description, contextOf(simulation, caller)).record(verdict, {
    force,
  });

async function callOf(simulation: Simulation, caller: Caller): Promise<TransferCreated> {
  return (await paymentOf(simulation, caller).make((read) => read())).transfer;
}

/** Runs all pending microtasks. */
const flushMicrotasks = async (): Promise<void> => {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
};

/** Plays one run and returns what it violates, if anything. */
async function playRun(simulation: Simulation, seen: Set<string>): Promise<string | undefined> {
  // The ids of claims are the same in each run.
  const { randomUUID } = crypto;
  let calls = 0;
  crypto.randomUUID = () => `0-0-0-0-${(calls += 1)}`;
  try {
    return await findViolation(simulation, seen);
  } finally {
    crypto.randomUUID = randomUUID;
  }
}

async function findViolation(
  simulation: Simulation,
  seen: Set<string>,
): Promise<string | undefined> {
  const { choices, bounds } = simulation;
  let violation: string | undefined;
  const start = (caller: Caller, wait: number): void => {
    if (caller.calls === bounds.calls) return;
    caller.calls += 1;
    void simulation
      .step(caller, 'begin', [], () => {
        const ms = simulation.choices.take(0, totalTimeout, ...(wait > 0 ? [wait] : []));
        if (ms > 0) simulation.trace.push(`after ${ms} ms`);
        simulation.time += ms;
        simulation.requestedAt ??= simulation.time;
      })
      .then(() => callOf(simulation, caller))
      .then(
        ({ id }) => {
          caller.history = [`paid ${id}`];
          const ids = simulation.ledger.map((_, index) => `txfr_${index + 1}`);
          if (!ids.includes(id)) violation ??= `resolved to ${id}, which is not there`;
        },
        (error: unknown) => {
          const again = error instanceof PaymentInDoubtError ? (error.retryAfterMs ?? 0) : 0;
          caller.history = [`${(error as Error).name} ${again}`];
          const isCertain = error instanceof PaymentsError && error.outcome !== 'unknown';
          if (isCertain && simulation.transfers > 0)
            violation ??= `told ${error.outcome}: it is paid`;
          start(caller, again);
        },
      );
  };
  for (const caller of simulation.callers) start(caller, 0);
  let operator: Caller | undefined;
  if (bounds.hasOperator === true) {
    const deciding: Caller = {
      name: 'operator',
      calls: 1,
      history: [],
      isDead: false,
      unknownAt: 0,
    };
    operator = deciding;
    const decide = (): string => {
      simulation.time += simulation.choices.take(0, totalTimeout + gracePeriod);
      // Where the list is certain, the operator may decide wrongly, and the SDK must reject that.
      if (bounds.isAmbiguous === true || simulation.truth === 'not_paid') return simulation.truth;
      return simulation.choices.take(simulation.truth, 'not_paid');
    };
    void simulation
      .step(deciding, 'decides', [], decide)
      .then((verdict) => decideBy(simulation, deciding, verdict, false))
      .then(
        () => (deciding.history = ['resolved']),
        (error: unknown) => (deciding.history = [(error as Error).name]),
      );
  }
  for (;;) {
    await flushMicrotasks();
    if (simulation.transfers > 1) return `${simulation.transfers} transfers`;
    if (violation !== undefined) return violation;
    // A dead caller calls again, at once or after its claim has expired.
    for (const caller of simulation.callers) {
      if (!caller.isDead) continue;
      const left = simulation.steps.filter((step) => step.caller !== caller);
      simulation.steps.splice(0, simulation.steps.length, ...left);
      Object.assign(caller, { isDead: false, history: ['died'] });
      start(caller, totalTimeout + gracePeriod);
    }
    if (simulation.hasLostHistory) return 'a history with a gap';
    const stored = await simulation.journal.read(input.description);
    // An earlier run has seen the states of the prefix.
    if (choices.isNew) {
      const key = simulation.key(withoutHistory(stored), operator);
      if (seen.has(key)) return undefined;
      seen.add(key);
    }
    const isQuiet = simulation.steps.every(({ name }) => name === 'begin');
    if (bounds.isRestored === true && isQuiet && !simulation.hasRestored) {
      const backup = choices.take('none', ...simulation.backups.keys());
      if (backup !== 'none') {
        simulation.hasRestored = true;
        simulation.time += totalTimeout + gracePeriod;
        await simulation.restore(stored, simulation.backups.get(backup));
        continue;
      }
    }
    if (bounds.isRewritten === true && stored !== undefined && !simulation.hasRewritten) {
      if (choices.take('none', 'rewrite') === 'rewrite') {
        simulation.hasRewritten = true;
        simulation.rewrite();
        continue;
      }
    }
    const [first, ...others] = simulation.steps;
    if (first === undefined) break;
    const step = choices.take(first, ...others);
    simulation.steps.splice(simulation.steps.indexOf(step), 1);
    step.take();
  }
  // A caller without faults, with an operator where necessary, must complete the payment.
  const last: Caller = { name: 'last', calls: 0, history: [], isDead: false, unknownAt: 0 };
  const quiet = new Choices([]);
  Object.assign(simulation, { choices: quiet });
  const run = async (call: Promise<unknown>): Promise<unknown> => {
    let result: unknown;
    const done = call.then(
      (value) => (result = value ?? 'done'),
      (error: unknown) => (result = error),
    );
    for (let steps = 0; result === undefined; steps += 1) {
      // A planted mistake may make a call wait for ever.
      if (steps > 1_000) return new Error('a call that never ends');
      await flushMicrotasks();
      simulation.steps.shift()?.take();
    }
    await done;
    return result;
  };
  for (let call = 0; call < 8; call += 1) {
    let result = await run(callOf(simulation, last));
    if (result instanceof PaymentInDoubtError && result.reason === 'ambiguous') {
      result = await run(
        decideBy(simulation, last, simulation.truth, simulation.truth === 'not_paid'),
      );
      if (!(result instanceof Error)) continue;
    }
    if (simulation.transfers > 1) return `${simulation.transfers} transfers in the end`;
    if (!(result instanceof Error)) {
      return simulation.transfers === 1 ? undefined : 'paid without a transfer';
    }
    if (!(result instanceof PaymentInDoubtError) || result.retryAfterMs === undefined) {
      return `stuck with ${result.message}`;
    }
    simulation.time += result.retryAfterMs;
  }
  return 'no call ever ends it';
}

/** A run that ends in a second payment, a false report or a payment that nothing ends. */
export interface Violation {
  readonly what: string;
  /** The choices of the run, for {@link replay}. */
  readonly choices: readonly number[];
}

/** Explores all runs. */
export async function explore(
  bounds: Bounds,
): Promise<{ states: number; runs: number; violation: Violation | undefined }> {
  const seen = new Set<string>();
  let runs = 0;
  // The runs create many errors, whose stacks nobody reads.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    for (let prefix: number[] | undefined = []; prefix !== undefined;) {
      const choices: Choices = new Choices(prefix);
      runs += 1;
      const what = await playRun(new Simulation(choices, bounds), seen);
      if (what !== undefined) {
        return { states: seen.size, runs, violation: { what, choices: choices.taken } };
      }
      prefix = choices.next();
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { states: seen.size, runs, violation: undefined };
}

/** A run in words. */
interface Told {
  readonly what: string | undefined;
  readonly trace: readonly string[];
  /** How many options each choice had. */
  readonly counts: readonly number[];
}

/** Repeats a run, and tells it in words. */
export async function replay(choices: readonly number[], bounds: Bounds): Promise<Told> {
  const made = new Choices(choices);
  const simulation = new Simulation(made, bounds);
  const what = await playRun(simulation, new Set());
  return { what, trace: simulation.trace, counts: made.counts };
}

/** Finds a shorter run with a violation: changes one choice, and takes first options after it. */
export async function shorten(found: Violation, bounds: Bounds): Promise<Violation> {
  let { what, choices } = found;
  let { trace, counts } = await replay(choices, bounds);
  for (let at = 0; at < choices.length; at += 1) {
    for (let option = 0; option < (counts[at] ?? 0); option += 1) {
      const tried = [...choices.slice(0, at), option];
      const told = await replay(tried, bounds);
      if (told.what === undefined || told.trace.length >= trace.length) continue;
      [what, choices] = [told.what, tried];
      ({ trace, counts } = told);
      at = -1;
      break;
    }
  }
  return { what, choices };
}
