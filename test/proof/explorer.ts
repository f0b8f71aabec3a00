import { hash } from 'node:crypto';
import { forgetPlatform } from '../../src/internal/doubt-registry.ts';
import { PaymentInDoubtError, PaymentsError } from '../../src/errors/errors.ts';
import type { ClientContext } from '../../src/once/context.ts';
import { createClient, decideAs, fallBack, payInBatch, payOnce } from './callers.ts';
import { GivenChoices, RandomChoices, type Choices } from './choices.ts';
import { gracePeriod, totalTimeout, World, type Actor, type Bounds } from './world.ts';

/*
 * Explores every order of the steps of some callers, with a few faults at any of them. The explorer
 * chooses which step is next, and with which fault. To try another choice, the explorer replays the
 * run with the choices before, and visits no state twice. At the end of each run a caller without
 * faults has to finish the payment.
 */

export type { Bounds } from './world.ts';

/** A run that ends in a second payment, a false report or a payment that nothing ends. */
export interface Violation {
  readonly what: string;
  /** The choices of the run, for {@link replay}. */
  readonly choices: readonly number[];
}

/** One run: the actors, and what they do next. */
class Run {
  readonly world: World;
  readonly #clients = new Map<Actor, ClientContext>();

  constructor(choices: Choices, bounds: Bounds) {
    this.world = new World(choices, bounds);
    const names = ['a', 'b', 'c'].slice(0, bounds.callers);
    for (const [at, name] of names.entries()) {
      const isBatch = bounds.hasBatch === true && at === bounds.callers - 1;
      const actor = this.world.createActor(isBatch ? 'batch' : name, () =>
        isBatch
          ? payInBatch(this.#clientOf(actor))
          : payOnce(this.world, actor, this.#clientOf(actor)),
      );
      this.world.actors.push(actor);
      this.#begin(actor);
    }
    if (bounds.hasOperator === true) this.#addOperator();
    if (bounds.hasFallback === true) this.#addFallback();
  }

  #clientOf(actor: Actor): ClientContext {
    const { isOneClient, hasFallback } = this.world.bounds;
    const kept = isOneClient === true || hasFallback === true;
    const client = (kept ? this.#clients.get(actor) : undefined) ?? createClient(this.world, actor);
    this.#clients.set(actor, client);
    return client;
  }

  /** Lets a caller call, after some time. */
  #begin(actor: Actor): void {
    const { world } = this;
    if (actor.calls === world.bounds.calls) {
      actor.isActive = false;
      return;
    }
    actor.calls += 1;
    actor.isActive = true;
    void world
      .step(actor, 'begin', 'none', () => {
        const ms = world.choices.take([0, ...world.findWaits(actor)]);
        if (ms > 0) world.trace.push(`after ${ms / 1_000} s`);
        world.time += ms;
        world.requestedAt ??= world.clockOf(actor).now();
        Object.assign(actor, { isCalling: true, sawNoClaim: false, sawUnpaid: false });
        world.happened.delete('decision');
      })
      .then(() => actor.act())
      .then(
        (id) => this.#end(actor, undefined, String(id)),
        (error: unknown) => this.#end(actor, error),
      );
  }

  #end(actor: Actor, error: unknown, id = ''): void {
    const { world } = this;
    actor.isCalling = false;
    const isKept = world.bounds.isOneClient === true || world.bounds.hasFallback === true;
    const what = error === undefined ? `paid ${id}` : describeError(error);
    actor.history = `${isKept ? actor.history : ''}${what}\n`;
    if (error === undefined) {
      actor.isActive = false;
      // After a payment was made, no caller calls again.
      actor.calls = world.bounds.calls;
      if (!world.payments.some((transfer) => transfer.id === id)) {
        world.violation ??= `resolved to ${id}, which is not there`;
      }
      return;
    }
    const isCertain = error instanceof PaymentsError && error.outcome !== 'unknown';
    if (!(error instanceof PaymentsError)) world.violation ??= `threw ${what}`;
    // A store that has lost the entry cannot know of the payment: docs/proof.md.
    const hasLost = world.happened.has('loss') || world.happened.has('restore');
    const isExcused =
      hasLost && actor.sawNoClaim && (error as PaymentsError).outcome === 'not_sent';
    if (isCertain && !actor.sawUnpaid && !isExcused)
      world.violation ??= `told ${error.outcome}: it may be paid`;
    this.#begin(actor);
  }

  /** What a dead caller had in memory is gone. The caller calls again. */
  bury(): void {
    const { world } = this;
    for (const actor of world.actors.filter(({ isDead }) => isDead)) {
      const left = world.steps.filter((step) => step.actor !== actor);
      world.steps.splice(0, world.steps.length, ...left);
      const client = this.#clients.get(actor);
      if (client !== undefined) forgetPlatform(client.baseUrl);
      this.#clients.delete(actor);
      const lost = { isDead: false, isCalling: false, timers: [], platformTime: undefined };
      Object.assign(actor, lost, { history: 'died\n' });
      this.#begin(actor);
    }
  }

  #addOperator(): void {
    const { world } = this;
    const operator = world.createActor('operator', () => Promise.resolve());
    operator.isActive = true;
    operator.calls = world.bounds.calls;
    world.actors.push(operator);
    const isUncertain = world.bounds.isAmbiguous === true || world.bounds.isMasked === true;
    void world
      .step(operator, 'begin', 'none', () => {
        world.time += world.choices.take([0, totalTimeout, totalTimeout + gracePeriod]);
        const force = world.bounds.hasForce === true && world.choices.take([false, true]);
        // With force, or if the list is not certain, the operator has to be right. Otherwise the SDK
        // rejects what is wrong.
        const mayBeWrong = !isUncertain && (!force || world.entry?.state === 'paid');
        const others = world.truth === 'not_paid' ? ['txfr_old1'] : ['not_paid'];
        const verdict = world.choices.take([world.truth, ...(mayBeWrong ? others : [])]);
        world.trace.push(`${verdict}${force ? ', with force' : ''}`);
        operator.isCalling = true;
        return [verdict, force] as const;
      })
      .then(([verdict, force]) => decideAs(createClient(world, operator), verdict, force))
      .then(
        () => {
          world.happened.add('decision');
          return 'has decided';
        },
        (error: unknown) => describeError(error),
      )
      .then((end) => {
        Object.assign(operator, { isActive: false, isCalling: false, history: end });
      });
  }

  /** While the payment is in doubt, or being made, the process may also call `create`. */
  #addFallback(): void {
    const { world } = this;
    const fallback = world.createActor('fallback', () => Promise.resolve());
    fallback.isActive = true;
    fallback.calls = world.bounds.calls;
    world.actors.push(fallback);
    void world
      .step(fallback, 'begin', 'none', () => {
        const isInDoubt = world.actors.some(
          ({ name, isCalling, history }) =>
            name !== 'operator' &&
            (isCalling || (history.endsWith(' unknown\n') && !world.happened.has('decision'))),
        );
        const client = isInDoubt ? [...this.#clients.values()][0] : undefined;
        if (client !== undefined && fallBack(client)) {
          world.violation ??= 'a create was sent while createOnce was in doubt';
        }
        fallback.isActive = false;
      })
      .catch((error: unknown) => (world.violation ??= String(error)));
  }

  /** What may happen to the journal without a caller. Returns true if anything did. */
  disturbJournal(): boolean {
    const { world } = this;
    const { bounds, choices, happened } = world;
    if (bounds.loses === true && !happened.has('loss') && world.mayLose) {
      if (choices.takeRarely(['kept', 'lost']) === 'lost') {
        happened.add('loss');
        world.trace.push('the journal loses the entry');
        world.entry = undefined;
        return true;
      }
    }
    const isQuiet = world.steps.every(({ name }) => name === 'begin');
    if (bounds.isRestored === true && isQuiet && !happened.has('restore')) {
      const backup = choices.takeRarely(['none', ...world.backups.keys()]);
      if (backup !== 'none') {
        happened.add('restore');
        world.trace.push('a backup is restored');
        world.time += totalTimeout + gracePeriod;
        world.entry = world.backups.get(backup);
        return true;
      }
    }
    return false;
  }

  /** Calls without faults, with an operator where necessary. Returns why that ends nothing. */
  async finish(): Promise<string | undefined> {
    const { world } = this;
    Object.assign(world, { choices: new GivenChoices([]), faults: 0 });
    const last = world.createActor('last', () => payOnce(world, last, createClient(world, last)));
    world.actors.splice(0, world.actors.length, last);
    for (let call = 0; call < 8; call += 1) {
      let result = await this.#runAlone(last, last.act());
      if (result instanceof PaymentInDoubtError && result.reason === 'ambiguous') {
        const force = world.truth === 'not_paid';
        // The operator has waited until the platform shows what it has.
        world.time = Math.max(world.time, ...world.payments.map(({ shownFrom }) => shownFrom));
        const decided = decideAs(createClient(world, last), world.truth, force);
        result = await this.#runAlone(last, decided);
        if (!(result instanceof Error)) continue;
      }
      if (world.payments.length > 1) return `${world.payments.length} transfers in the end`;
      if (!(result instanceof Error)) {
        return result === world.truth ? undefined : `resolved to ${String(result)}`;
      }
      if (!(result instanceof PaymentInDoubtError) || result.retryAfterMs === undefined) {
        return `stuck with ${result.message}`;
      }
      world.time += Math.max(result.retryAfterMs, ...world.findWaits(last));
    }
    return 'no call ever ends it';
  }

  async #runAlone(actor: Actor, call: Promise<unknown>): Promise<unknown> {
    let result: unknown;
    actor.isActive = true;
    const done = call
      .then(
        (value) => (result = value ?? 'done'),
        (error: unknown) => (result = error),
      )
      .finally(() => (actor.isActive = false));
    for (let steps = 0; result === undefined; steps += 1) {
      // A planted mistake may make a call wait for ever.
      if (steps > 1_000) return new Error('a call that never ends');
      await this.world.settle();
      if (result === undefined) this.world.takeStep();
    }
    await done;
    return result;
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof PaymentsError)) return String(error);
  return `${error.name} ${error.retryAfterMs ?? ''} ${error.outcome}`;
}

/** Plays one run, until its end or until `isSeen`. Returns what the run violates, if anything. */
async function play(run: Run, isSeen: (key: string) => boolean): Promise<string | undefined> {
  // The ids of claims are the same in each run, and nobody reads the stacks of its many errors.
  const { randomUUID } = crypto;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  let ids = 0;
  crypto.randomUUID = () => `0-0-0-0-${(ids += 1)}`;
  try {
    const { world } = run;
    for (;;) {
      await world.settle();
      if (world.payments.length > 1) return `${world.payments.length} transfers`;
      if (world.violation !== undefined) return world.violation;
      if (world.actors.some(({ isDead }) => isDead)) {
        run.bury();
        continue;
      }
      if (world.choices.isNew && isSeen(world.key)) return undefined;
      if (run.disturbJournal()) continue;
      if (world.takeStep()) continue;
      return world.actors.some(({ isActive }) => isActive)
        ? 'a call that never ends'
        : await run.finish();
    }
  } finally {
    crypto.randomUUID = randomUUID;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** What an exploration has found. */
export interface Exploration {
  readonly states: number;
  readonly runs: number;
  readonly violation: Violation | undefined;
}

/** Explores all runs within the bounds, or until a violation. */
export async function explore(bounds: Bounds): Promise<Exploration> {
  const seen = new Set<string>();
  const isSeen = (key: string): boolean => {
    const { size } = seen.add(hashOf(key));
    const isKnown = size === states;
    states = size;
    return isKnown;
  };
  let [runs, states] = [0, 0];
  for (let prefix: number[] | undefined = []; prefix !== undefined;) {
    const choices: GivenChoices = new GivenChoices(prefix);
    runs += 1;
    const what = await play(new Run(choices, bounds), isSeen);
    if (what !== undefined) return { states, runs, violation: { what, choices: choices.taken } };
    prefix = choices.next();
  }
  return { states, runs, violation: undefined };
}

/** Plays runs at random, which `seed` repeats, or until a violation. */
export async function walk(bounds: Bounds, count: number, seed: number): Promise<Exploration> {
  const seen = new Set<string>();
  for (let run = 1; run <= count; run += 1) {
    const choices = new RandomChoices(seed * 1_000_003 + run);
    const what = await play(new Run(choices, bounds), (key) => {
      seen.add(hashOf(key));
      return false;
    });
    if (what !== undefined) {
      return { states: seen.size, runs: run, violation: { what, choices: choices.taken } };
    }
  }
  return { states: seen.size, runs: count, violation: undefined };
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
  const given = new GivenChoices(choices);
  const run = new Run(given, bounds);
  const what = await play(run, () => false);
  return { what, trace: run.world.trace, counts: given.counts };
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

/** 128 bits, so that two states never count as one in practice. */
const hashOf = (key: string): string => hash('md5', key, 'base64');
