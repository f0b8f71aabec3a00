import { isEqual } from '../../src/internal/objects.ts';
import { openRegistry } from '../../src/internal/doubt-registry.ts';
import type { JournalEntry } from '../../src/journals/journal.ts';
import type { OnceInput, Transfer } from '../../src/schemas/transfer.ts';
import type { Choices } from './choices.ts';

/*
 * What is around the code of a payment in an exploration: machines with two clocks each, a journal
 * with a clock of its own, and a platform with a list of transfers. Nothing happens by itself: each
 * thing that a process asks of its surroundings is a step, which waits until the explorer takes it.
 */

export const totalTimeout = 120_000;
export const gracePeriod = 900_000;
/** The longest time that passes in one step. After it, every claim has expired. */
const longest = totalTimeout + gracePeriod;
const startedAt = Date.parse('2026-11-28T08:00:00Z');
/** The clocks of the journal and of the machines, as compared with that of the platform. */
const journalLead = 600_000;
const machineLead = -300_000;

export const input: OnceInput = {
  sourceAccountId: 'acc_000001',
  counterpartyId: 'cpty_000001',
  amount: '1.00',
  description: 'invoice 4711',
};
/** The payment that a process has made before. */
export const earlierInput: OnceInput = { ...input, amount: '7.00', description: 'invoice 4700' };
/** Another payment of a batch, which nothing disturbs. */
export const otherInput: OnceInput = { ...input, amount: '2.00', description: 'invoice 4712' };

/** The limits of an exploration. */
export interface Bounds {
  readonly callers: number;
  /** How often each caller calls. A caller that dies calls again only within this number. */
  readonly calls: number;
  readonly faults: number;
  /** The store searches the list before a first claim, as one that may lose entries. */
  readonly searchesFirst?: boolean;
  /** The store loses the entry once, at a time that A3 permits. */
  readonly loses?: boolean;
  /** The journal is restored once from a backup, to any entry that the journal has had. */
  readonly isRestored?: boolean;
  /** The clock of the journal is ahead by hours in one reading before anything is claimed. */
  readonly isAhead?: boolean;
  /** The list shows another transfer that may be the payment. */
  readonly isAmbiguous?: boolean;
  /** The list hides the last letters of descriptions. */
  readonly isMasked?: boolean;
  /** The list loses transfers whose times are equal, at the end of a page. */
  readonly losesEqualTimes?: boolean;
  /** The list is newest first and long, the client knows that, and others pay all the time. */
  readonly isBusy?: boolean;
  /** The callers pass the time of the first call as `since`. */
  readonly hasSince?: boolean;
  /** An operator decides while the payment is being made. */
  readonly hasOperator?: boolean;
  /** The operator may use `force`. */
  readonly hasForce?: boolean;
  /** The last caller is a batch of two payments. */
  readonly hasBatch?: boolean;
  /** The payment is the first one of each process, which reads its claim again before it sends. */
  readonly isFirstPayment?: boolean;
  /** All calls are of one process, in which a `create` comes as a fallback. */
  readonly hasFallback?: boolean;
  /** The calls of a caller use one client, which remembers its searches. */
  readonly isOneClient?: boolean;
  /** The grace period of the first call, and that of all others. */
  readonly gracePeriods?: readonly [number, number];
}

/** A caller, an operator, or whatever else takes steps. */
export interface Actor {
  readonly name: string;
  /** Begins the actor's work, after the actor's first step. */
  readonly act: () => Promise<unknown>;
  calls: number;
  /** The results of its steps and their times, which determine its state. */
  history: string;
  isDead: boolean;
  /** Whether a call of the payment is running. */
  isCalling: boolean;
  /** Whether its process makes the payment that came before. */
  isPayingEarlier: boolean;
  /** Whether code of this actor may still come to a step. */
  isActive: boolean;
  /** How long its clocks have stood still. */
  wallLag: number;
  monotonicLag: number;
  timers: { readonly at: number; readonly run: () => void }[];
  /** Whether the journal had no entry, or `not_paid`, when this call last read or wrote the entry. */
  sawNoClaim: boolean;
  /** Whether nobody had paid either at that moment. */
  sawUnpaid: boolean;
  /** When it last read the clock of the journal: for its claim, before that is written. */
  clockReadAt: number;
  /** The latest time of the platform that this process has seen. */
  platformTime: number | undefined;
}

interface Step {
  readonly actor: Actor;
  readonly name: string;
  readonly take: () => void;
}

interface MadeTransfer {
  readonly id: string;
  readonly description: string;
  readonly amount: string;
  readonly at: number;
  readonly shownFrom: number;
}

/** The steps in the words of a trace. */
const words: Readonly<Record<string, string>> = {
  begin: 'begins',
  read: 'reads the journal',
  swap: 'writes the journal',
  written: 'hears of it',
  now: 'reads the clock of the journal',
  page: 'reads a page',
  send: 'sends',
  response: 'gets the response',
  get: 'reads the transfer',
  wait: 'waits',
};

/**
 * Steps that neither change nor read what others change, so the explorer takes them first: a step of
 * somebody else between a write and its reply is the same step after the reply. Only time that others
 * spend does not pass there.
 */
const localSteps = new Set(['written', 'now', 'response', 'get']);

export class World {
  time = startedAt;
  /** What happened, in words. */
  readonly trace: string[] = [];
  readonly ledger: MadeTransfer[] = [];
  readonly steps: Step[] = [];
  readonly actors: Actor[] = [];
  readonly bounds: Bounds;
  choices: Choices;
  entry: JournalEntry | undefined;
  /** Who wrote the entry. */
  writer: Actor | undefined;
  /** The entries that the journal has had. */
  readonly backups = new Map<string, JournalEntry | undefined>([['', undefined]]);
  /** When the first caller began, by the clock of its machine. */
  requestedAt: number | undefined;
  /** What happens once in a run, if at all. */
  readonly happened = new Set<string>();
  violation: string | undefined;
  faults: number;
  /** The actor that has just begun. */
  #beginner: Actor | undefined;

  constructor(choices: Choices, bounds: Bounds) {
    this.choices = choices;
    this.bounds = bounds;
    this.faults = bounds.faults;
    openRegistry().payments.clear();
    openRegistry().inDoubt.clear();
  }

  createActor(name: string, act: () => Promise<unknown>): Actor {
    const flags = { isDead: false, isCalling: false, isPayingEarlier: false, isActive: false };
    const seen = { sawNoClaim: false, sawUnpaid: false, clockReadAt: 0, platformTime: undefined };
    const lags = { wallLag: 0, monotonicLag: 0 };
    return { name, act, calls: 0, history: '', timers: [], ...flags, ...lags, ...seen };
  }

  /** The clocks of an actor's machine. */
  clockOf(actor: Actor) {
    const elapsed = (): number => this.time - startedAt - actor.monotonicLag;
    return {
      now: () => this.time + machineLead - actor.wallLag,
      elapsed,
      setTimeout: (run: () => void, ms: number): unknown => {
        const timer = { at: elapsed() + ms, run };
        actor.timers.push(timer);
        return timer;
      },
      clearTimeout: (timer: unknown): void => {
        actor.timers = actor.timers.filter((each) => each !== timer);
      },
    };
  }

  get journalTime(): number {
    return this.time + journalLead;
  }

  /**
   * How long it takes until the claim ends, and until an actor with its own grace period may take it
   * over, if the times of the claim are right. The shorter time is first.
   */
  findWaits(actor: Actor): readonly number[] {
    const { entry } = this;
    if (entry?.state !== 'sending') return [];
    const ends = [Number(entry.expiresAt), Number(entry.deadline) + this.graceOf(actor)];
    const waits = new Set(ends.map((end) => Math.min(end - this.journalTime, longest)));
    return [...waits].filter((ms) => ms > 0).toSorted((one, other) => one - other);
  }

  /** The grace period of the next call of an actor. */
  graceOf(actor: Actor): number {
    const [first, later] = this.bounds.gracePeriods ?? [gracePeriod, gracePeriod];
    return actor.name === 'a' && actor.calls === 1 ? first : later;
  }

  get nextId(): string {
    return `txfr_00000${this.ledger.length + 1}`;
  }

  get isPaid(): boolean {
    return this.payments.length > 0;
  }

  /** The transfers of the payment under test. */
  get payments(): readonly MadeTransfer[] {
    return this.ledger.filter(({ description }) => description === input.description);
  }

  /** What an operator sees on the platform in the end. */
  get truth(): string {
    return this.payments[0]?.id ?? 'not_paid';
  }

  /**
   * A step of an actor, which waits until the explorer takes it. The actor may die in it or lose
   * time, unless `faults` is `none`.
   */
  step<T>(
    actor: Actor,
    name: string,
    faults: (() => readonly string[]) | 'none',
    act: (fault: string) => T,
    note: (result: T) => string = describe,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        const fault = this.#takeFault(faults);
        const detail = fault === 'none' ? '' : ` (${fault})`;
        this.trace.push(`${actor.name} ${words[name] ?? name}${detail}`);
        if (fault === 'dies') {
          actor.isDead = true;
          return;
        }
        if (fault === 'stands still') this.time += gracePeriod;
        if (fault === 'its monotonic clock stops' || fault === 'its wall clock stops') {
          this.time += longest;
        }
        if (fault === 'its monotonic clock stops') actor.monotonicLag += longest;
        if (fault === 'its wall clock stops') actor.wallLag += longest;
        if (fault === 'hangs') this.time += totalTimeout;
        let result: T;
        try {
          result = act(fault);
        } catch (error) {
          actor.history += `${name}!${(error as Error).message}@${this.time}\n`;
          reject(error as Error);
          return;
        }
        actor.history += `${name}=${note(result)}@${this.time}\n`;
        resolve(result);
      };
      this.steps.push({ actor, name, take });
    });
  }

  /** One of the few faults of a run, if the explorer chooses it here. */
  #takeFault(kinds: (() => readonly string[]) | 'none'): string {
    if (this.faults === 0 || kinds === 'none') return 'none';
    const clocks = ['stands still', 'its monotonic clock stops', 'its wall clock stops'];
    const fault = this.choices.takeRarely(['none', 'dies', ...clocks, ...kinds()]);
    if (fault !== 'none') this.faults -= 1;
    return fault;
  }

  /** Waits until every actor has come to a step, and lets those that wait for a timer have one. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < 400; turns += 1) {
      await Promise.resolve();
      const idle = this.actors.filter(
        (actor) => actor.isActive && !this.steps.some((step) => step.actor === actor),
      );
      if (idle.length === 0) return;
      if (turns % 20 !== 19) continue;
      for (const actor of idle) this.#fireTimer(actor, turns > 60);
    }
  }

  /** Only a batch waits for timers alone. The others are for a journal that never responds. */
  #fireTimer(actor: Actor, isIdle: boolean): void {
    const [next] = actor.timers.toSorted((one, other) => one.at - other.at);
    if (next === undefined) return;
    const fire = (): void => {
      actor.timers = actor.timers.filter((each) => each !== next);
      this.time += Math.max(0, next.at - this.clockOf(actor).elapsed());
      next.run();
    };
    if (next.at <= this.clockOf(actor).elapsed()) fire();
    else if (isIdle) void this.step(actor, 'wait', 'none', fire);
  }

  /** Takes one of the steps that wait. Returns false if there is none. */
  takeStep(): boolean {
    const local = this.steps.find(
      ({ actor, name }) => localSteps.has(name) || actor === this.#beginner,
    );
    const [first, ...others] = this.steps;
    if (first === undefined) return false;
    const step = local ?? this.choices.take([first, ...others]);
    this.steps.splice(this.steps.indexOf(step), 1);
    // Whoever begins and does nothing yet may as well begin later.
    this.#beginner = step.name === 'begin' ? step.actor : undefined;
    step.take();
    return true;
  }

  /** The transfers that the platform can show by their ids. */
  get rowsMade(): Transfer[] {
    const isMasked = this.bounds.isMasked === true;
    const made = this.ledger
      .filter(({ at }) => at <= this.time)
      .map(({ id, description, amount, at }): Transfer =>
        createRow(id, {
          amount,
          createdAt: at,
          description: isMasked ? `${description.slice(0, 4)}****` : description,
        }),
      );
    const similar = createRow('txfr_similar', { createdAt: startedAt });
    return [...oldRows, ...made, ...(this.bounds.isAmbiguous === true ? [similar] : [])];
  }

  /** The rows of the list of the source account, the oldest first. */
  #listRows(): Transfer[] {
    const { losesEqualTimes, isBusy } = this.bounds;
    const late = this.ledger.filter(({ shownFrom }) => shownFrom > this.time);
    const rows = this.rowsMade.filter((row) => !late.some(({ id }) => id === row.id));
    // Another payment of the same second, which is listed first.
    const ours = rows.find(({ description }) => description === input.description);
    if (losesEqualTimes === true && ours !== undefined) {
      const createdAt = Date.parse(ours.createdAt);
      rows.splice(1, 1, createRow('txfr_twin', { createdAt, description: 'twin', amount: '3' }));
    }
    if (isBusy !== true) return rows;
    const others = busyRows.filter(({ at }) => at <= this.time).map(({ row }) => row);
    rows.push(...others);
    return rows.toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
  }

  /** A page of the list. If the payment `moves`, it goes to a part that was read already. */
  readPage(limit: number, cursor: string | undefined, moves: boolean) {
    const size = this.bounds.isBusy === true ? limit : (pageSizes[limit] ?? limit);
    let rows = this.#listRows();
    if (moves) rows = rows.filter(({ description }) => description !== input.description);
    const [, lastId, lastTime = ''] = /^(\S+) (.+)$/.exec(cursor ?? '') ?? [];
    let start = lastId === undefined ? 0 : rows.findIndex(({ id }) => id === lastId) + 1;
    if (this.bounds.losesEqualTimes === true && lastId !== undefined) {
      while (rows[start]?.createdAt === lastTime) start += 1;
    }
    const data = rows.slice(start, start + size);
    const last = data.at(-1);
    const hasMore = start + size < rows.length;
    return { data, hasMore, nextCursor: hasMore && last ? `${last.id} ${last.createdAt}` : null };
  }

  /** The entry as the journal shows it now. Notes whether anybody can have paid by then. */
  readEntry(actor: Actor): JournalEntry | undefined {
    const state = this.entry?.state;
    actor.sawNoClaim = state === undefined || state === 'not_paid';
    actor.sawUnpaid = actor.sawNoClaim && !this.isPaid;
    return this.entry;
  }

  /** Replaces the entry if it is still `before`. */
  writeEntry(
    actor: Actor,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): boolean {
    const isWon = isEqual(this.entry, before);
    if (isWon) {
      if (!isContinued(this.entry, after)) this.violation ??= 'a history with a gap';
      this.entry = after;
      this.writer = actor;
      if (this.bounds.isRestored === true) this.backups.set(describe(after), after);
    }
    this.readEntry(actor);
    return isWon;
  }

  /** Whether A3 permits that the store loses the entry now. */
  get mayLose(): boolean {
    const isListed = this.payments.some(({ shownFrom }) => shownFrom <= this.time);
    return (
      isListed &&
      this.entry !== undefined &&
      this.actors.every((actor) => !actor.isCalling || actor === this.writer)
    );
  }

  /** The state that determines what can still happen. Equal callers count as one. */
  get key(): string {
    const actors = this.actors.map((actor) => {
      const { name, calls, history, isCalling, wallLag, monotonicLag, timers } = actor;
      const waiting = this.steps.filter((step) => step.actor === actor).map((step) => step.name);
      const isEqualActor = /^[abc]$/.test(name) && this.bounds.gracePeriods === undefined;
      const kind = isEqualActor ? 'caller' : name;
      const lags = `${wallLag} ${monotonicLag} ${timers.map(({ at }) => at).join()}`;
      const writes = this.bounds.loses === true && this.writer === actor;
      const { platformTime } = actor;
      return `${kind} ${calls} ${isCalling} ${lags} ${writes} ${platformTime} ${waiting.join()}\n${history}`;
    });
    return [
      `${this.time} ${this.faults} ${[...this.happened].join()} ${this.requestedAt}`,
      describe(this.entry),
      JSON.stringify(this.ledger),
      ...(this.bounds.isRestored === true ? this.backups.keys() : []),
      ...actors.toSorted(),
    ].join('\n');
  }
}

/** How many rows the pages have that are asked for with 100, 97 and 89, so that few rows are several pages. */
const pageSizes: Readonly<Record<number, number>> = { 100: 2, 97: 3, 89: 1 };

const createRow = (
  id: string,
  fields: { createdAt: number; description?: string; amount?: string },
): Transfer => {
  const { description: _, ...terms } = input;
  const createdAt = new Date(fields.createdAt).toISOString();
  const type = 'outgoing' as const;
  return { id, ...terms, currency: 'USDC', direction: type, ...fields, createdAt } as Transfer;
};

/** Payments of long ago, with other terms. */
const oldRows = [2, 1].map((days) =>
  createRow(`txfr_old${days}`, {
    createdAt: startedAt - days * 86_400_000,
    description: `old ${days}`,
    amount: '5',
  }),
);

/** A payment of others every five seconds, so that two pages last for less than a claim. */
const busyRows = Array.from({ length: 2_000 }, (_, index) => {
  const at = startedAt - 600_000 + index * 5_000;
  const fields = { createdAt: at, description: `x ${index}`, amount: '4' };
  return { at, row: createRow(`txfr_x${index}`, fields) };
});

const describe = (value: unknown): string => JSON.stringify(value) ?? '';

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
  // A full history drops its second change.
  if (before.length === 32) return history.length === 32;
  return isSame && (isLonger || (isCorrection && history.length === before.length));
}
