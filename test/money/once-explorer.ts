import { vi } from 'vitest';
import { clockFrom } from '../../src/calls/clock.ts';
import { PaymentsError, PaymentInDoubtError, type Outcome } from '../../src/errors/errors.ts';
import type { Journal } from '../../src/journals/journal.ts';
import { memoryJournal } from '../../src/journals/memory.ts';
import { Payment, type SendPayment } from '../../src/resources/transfers/payment.ts';
import type { Reconciliation } from '../../src/resources/transfers/reconcile.ts';
import type {
  OnceInput,
  Transfer,
  TransferCreated,
  TransferId,
} from '../../src/schemas/transfer.ts';

/*
 * Every interleaving of two callers and an operator with a crash at every step, a response that is lost,
 * late or a rejection, a list that lags, misses a transfer once or shows nothing certain, a process that
 * is suspended, and a journal that fails before or after it has written. Each step of a caller waits until
 * the explorer takes it; what happens at it is the explorer's choice, too. A run is replayed from its start
 * with the first choices fixed, and states that were seen before are not gone through again.
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

/** The choices of one run: those given, and then the first of each. */
class Choices {
  readonly taken: number[] = [];
  readonly counts: number[] = [];
  readonly #given: readonly number[];
  constructor(given: readonly number[]) {
    this.#given = given;
  }
  get isNew(): boolean {
    return this.taken.length >= this.#given.length;
  }
  take<T>(...ways: readonly [T, ...T[]]): T {
    if (ways.length === 1) return ways[0];
    const taken = this.#given[this.taken.length] ?? 0;
    this.taken.push(taken);
    this.counts.push(ways.length);
    return ways[taken] ?? ways[0];
  }
  /** What the next run is given; undefined when all have been. */
  next(): number[] | undefined {
    for (let at = this.taken.length - 1; at >= 0; at -= 1) {
      const taken = (this.taken[at] ?? 0) + 1;
      if (taken < (this.counts[at] ?? 0)) return [...this.taken.slice(0, at), taken];
    }
    return undefined;
  }
}

interface Step {
  readonly caller: Caller;
  readonly name: string;
  readonly take: () => void;
}

interface Caller {
  readonly name: string;
  calls: number;
  /** All that it was told: its state, as far as the world can know it. */
  told: string[];
  isDead: boolean;
}

/** How much may happen. */
export interface Bounds {
  readonly callers: number;
  readonly calls: number;
  readonly faults: number;
  readonly forgets?: boolean;
  /** The list also shows a transfer that may be the payment, so no search is certain. */
  readonly isAmbiguous?: boolean;
  /** An operator tries to resolve the payment while it is being made. */
  readonly hasOperator?: boolean;
}

class World {
  time = 1_000;
  readonly ledger: { readonly at: number; readonly shownFrom: number }[] = [];
  readonly steps: Step[] = [];
  readonly callers: Caller[];
  readonly choices: Choices;
  readonly journal: Journal;
  readonly #isAmbiguous: boolean;
  hasMissed = false;
  #faults: number;

  constructor(choices: Choices, { callers, faults, forgets = false, isAmbiguous = false }: Bounds) {
    this.choices = choices;
    this.#faults = faults;
    this.#isAmbiguous = isAmbiguous;
    this.journal = { ...memoryJournal({ now: () => this.time }), forgets };
    this.callers = ['a', 'b'].slice(0, callers).map((name) => {
      return { name, calls: 0, told: [], isDead: false };
    });
  }

  /** One of a run's few faults, if the explorer will have it here. */
  fault(...kinds: readonly string[]): string {
    if (this.#faults === 0) return 'none';
    const kind = this.choices.take('none', ...kinds);
    if (kind !== 'none') this.#faults -= 1;
    return kind;
  }

  get transfers(): number {
    return this.ledger.length;
  }

  /** What a search finds; `misses`: it does not see what moves in the list meanwhile. */
  search(misses: boolean): Reconciliation {
    const shown = this.ledger.flatMap(({ shownFrom }, index) =>
      shownFrom <= this.time && !misses ? [{ id: `txfr_${index + 1}` } as Transfer] : [],
    );
    const [transfer, ...others] = shown;
    if (this.#isAmbiguous) {
      return {
        result: 'ambiguous',
        candidates: [...shown, { id: 'txfr_other' as TransferId } as Transfer],
      };
    }
    if (transfer === undefined) return { result: 'not_found', scanned: 0 };
    if (others.length > 0) return { result: 'ambiguous', candidates: shown };
    return { result: 'found', transfer };
  }

  /** What an operator who looks at the platform knows. */
  get truth(): TransferId | 'not_paid' {
    return this.ledger.length > 0 ? 'txfr_1' : 'not_paid';
  }

  /** A step of a caller: it waits to be taken, and may be the caller's last. */
  step<T>(
    caller: Caller,
    name: string,
    kinds: readonly string[],
    act: (fault: string) => T,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        const fault = this.fault('dies before', 'dies after', 'stands still', 'sleeps', ...kinds);
        if (fault === 'stands still') this.time += gracePeriod;
        if (fault === 'sleeps') this.time += totalTimeout;
        if (fault === 'dies before') caller.isDead = true;
        if (caller.isDead) return;
        let result: T;
        try {
          result = act(fault);
        } catch (error) {
          caller.told.push(`${name}!${(error as Error).message}`);
          reject(error as Error);
          return;
        }
        if (fault === 'dies after') caller.isDead = true;
        if (caller.isDead) return;
        caller.told.push(`${name}=${JSON.stringify(result)}`);
        resolve(result);
      };
      this.steps.push({ caller, name, take });
    });
  }

  /** All that decides what can still happen. */
  key(stored: string): string {
    return JSON.stringify([
      this.time,
      this.#faults,
      this.hasMissed,
      this.ledger,
      stored,
      this.callers.map(({ told, isDead, calls }) => [told, isDead, calls]),
      this.steps.map(({ caller, name }) => caller.name + name).toSorted(),
    ]);
  }
}

/** The explorer sends by itself. */
const failUnused = (): never => {
  throw new Error('A payment called the pipeline.');
};

/** One caller's access to the world: a payment, and what sends it. */
function paymentOf(world: World, caller: Caller): { payment: Payment; send: SendPayment } {
  const { journal } = world;
  const asked = async <T>(name: string, ask: () => Promise<T>): Promise<T> => {
    const fault = await world.step(caller, name, ['fails before', 'fails after'], (kind) => kind);
    if (fault === 'fails before') throw new Error(fault);
    const result = await ask();
    caller.told.push(JSON.stringify(result) ?? '');
    if (fault === 'fails after') throw new Error(fault);
    return result;
  };
  const clock = clockFrom({
    now: () => world.time,
    elapsed: () => world.time,
    setTimeout: () => 0,
    clearTimeout: () => undefined,
  });
  const send: SendPayment = async (left, notAfter) =>
    world.step(caller, 'create', [], () => {
      const { time, ledger, choices } = world;
      if (left <= 0 || time > notAfter) throw ended('not_sent');
      const effect = choices.take('paid', 'rejected', 'not sent', 'lost', 'lost and paid', 'late');
      if (effect === 'rejected') throw ended('rejected');
      if (effect === 'not sent') throw ended('not_sent');
      if (effect === 'lost') throw ended('unknown');
      const shownFrom = choices.take(time, time + gracePeriod);
      ledger.push({ at: time, shownFrom: effect === 'late' ? time + gracePeriod : shownFrom });
      if (effect !== 'paid') throw ended('unknown');
      return { id: `txfr_${ledger.length}` } as TransferCreated;
    });
  const payment = new Payment(
    { operation: 'transfers.createOnce', method: 'POST', path: '/transfers' },
    input.description,
    {
      search: () =>
        world.step(caller, 'search', ['breaks', 'misses'], (fault) => {
          if (fault === 'breaks') throw ended('unknown');
          // Two scans in a row that both miss it are beyond the promise.
          const misses = fault === 'misses' && !world.hasMissed;
          world.hasMissed ||= misses;
          return world.search(misses);
        }),
      get: (id) => world.step(caller, 'get', [], () => ({ id }) as Transfer),
      journal: {
        read: (reference) => asked('read', () => journal.read(reference)),
        swap: (...swapped) => asked('swap', () => journal.swap(...swapped)),
        now: (reference) => asked('now', () => journal.now(reference)),
        forgets: journal.forgets === true,
      },
      gracePeriod,
      totalTimeout,
      baseUrl: 'https://api.example.com/v0',
      clock,
      pipeline: {
        redact: (text) => text,
        redactOwn: (text) => text,
        check: failUnused,
        call: failUnused,
      },
    },
  );
  return { payment, send };
}

function callOf(world: World, caller: Caller): Promise<TransferCreated> {
  const { payment, send } = paymentOf(world, caller);
  return payment.make(input, send);
}

/** Lets everything run that waits for nothing but promises. */
const drained = async (): Promise<void> => {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
};

/** Plays one run; tells what was wrong with it. */
async function play(
  choices: Choices,
  bounds: Bounds,
  seen: Set<string>,
): Promise<string | undefined> {
  const world = new World(choices, bounds);
  let calls = 0;
  vi.spyOn(crypto, 'randomUUID').mockImplementation(() => `0-0-0-0-${(calls += 1)}`);
  let wrong: string | undefined;
  const begin = (caller: Caller, wait: number): void => {
    if (caller.calls === bounds.calls) return;
    caller.calls += 1;
    void world
      .step(caller, 'begin', [], () => {
        world.time += world.choices.take(0, totalTimeout, ...(wait > 0 ? [wait] : []));
      })
      .then(() => callOf(world, caller))
      .then(
        ({ id }) => {
          caller.told = [`paid ${id}`];
          const known = world.ledger.map((_, index) => `txfr_${index + 1}`);
          if (!known.includes(id)) wrong ??= `resolved to ${id}, which is not there`;
        },
        (error: unknown) => {
          const again = error instanceof PaymentInDoubtError ? (error.retryAfterMs ?? 0) : 0;
          caller.told = [`${(error as Error).name} ${again}`];
          begin(caller, again);
        },
      );
  };
  for (const caller of world.callers) begin(caller, 0);
  if (bounds.hasOperator === true) {
    const operator: Caller = { name: 'operator', calls: 1, told: [], isDead: false };
    const decide = (): TransferId | 'not_paid' => {
      world.time += world.choices.take(0, totalTimeout + gracePeriod);
      // Where the list is certain, a wrong decision is tried, too.
      if (bounds.isAmbiguous === true || world.truth === 'not_paid') return world.truth;
      return world.choices.take(world.truth, 'not_paid');
    };
    void world
      .step(operator, 'decides', [], decide)
      .then((verdict) => paymentOf(world, operator).payment.resolve(verdict, {}))
      .then(
        () => operator.told.push('resolved'),
        (error: unknown) => operator.told.push(`not resolved: ${(error as Error).name}`),
      );
  }
  for (;;) {
    await drained();
    if (world.transfers > 1) return `${world.transfers} transfers`;
    if (wrong !== undefined) return wrong;
    // One who has died comes again, now or when the claim is over.
    for (const caller of world.callers) {
      if (!caller.isDead) continue;
      const left = world.steps.filter((step) => step.caller !== caller);
      world.steps.splice(0, world.steps.length, ...left);
      Object.assign(caller, { isDead: false, told: ['died'] });
      begin(caller, totalTimeout + gracePeriod);
    }
    const [first, ...others] = world.steps;
    if (first === undefined) break;
    const key = world.key(JSON.stringify(await world.journal.read(input.description)));
    if (choices.isNew && seen.has(key)) return undefined;
    seen.add(key);
    const step = choices.take(first, ...others);
    world.steps.splice(world.steps.indexOf(step), 1);
    step.take();
  }
  // A caller that keeps calling when nothing fails any more, and an operator where one is needed, end it.
  const last: Caller = { name: 'last', calls: 0, told: [], isDead: false };
  const quiet = new Choices([]);
  Object.assign(world, { choices: quiet });
  const run = async (call: Promise<unknown>): Promise<unknown> => {
    let result: unknown;
    const done = call.then(
      (value) => (result = value ?? 'done'),
      (error: unknown) => (result = error),
    );
    while (result === undefined) {
      await drained();
      world.steps.shift()?.take();
    }
    await done;
    return result;
  };
  for (let call = 0; call < 8; call += 1) {
    let result = await run(callOf(world, last));
    if (result instanceof PaymentInDoubtError && result.reason === 'ambiguous') {
      result = await run(paymentOf(world, last).payment.resolve(world.truth, {}));
      if (!(result instanceof Error)) continue;
    }
    if (world.transfers > 1) return `${world.transfers} transfers in the end`;
    if (!(result instanceof Error)) {
      return world.transfers === 1 ? undefined : 'paid without a transfer';
    }
    if (!(result instanceof PaymentInDoubtError) || result.retryAfterMs === undefined) {
      return `stuck with ${result.message}`;
    }
    world.time += result.retryAfterMs;
  }
  return 'no call ever ends it';
}

/** Goes through all runs. */
export async function explore(
  bounds: Bounds,
): Promise<{ states: number; runs: number; wrong: string | undefined }> {
  const seen = new Set<string>();
  let runs = 0;
  for (let given: number[] | undefined = []; given !== undefined;) {
    const choices: Choices = new Choices(given);
    runs += 1;
    const wrong = await play(choices, bounds, seen);
    if (wrong !== undefined) {
      return { states: seen.size, runs, wrong: `${wrong}: ${choices.taken.join(' ')}` };
    }
    given = choices.next();
  }
  return { states: seen.size, runs, wrong: undefined };
}
