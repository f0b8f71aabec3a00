import { clockFrom } from '../../src/calls/time.ts';
import { PaymentInDoubtError, PaymentsError, type Outcome } from '../../src/errors/errors.ts';
import type { Journal } from '../../src/journals/journal.ts';
import type { ClientContext } from '../../src/once/context.ts';
import { createAllOnce } from '../../src/once/create-all-once.ts';
import { createOnce } from '../../src/once/create-once.ts';
import { createCallOf } from '../../src/once/creation.ts';
import { decide } from '../../src/once/decide.ts';
import { LastSearches } from '../../src/once/last-searches.ts';
import type { Transfer, TransferCreated } from '../../src/schemas/transfer.ts';
import { ListOrder } from '../../src/search/list-order.ts';
import { TransferSearch } from '../../src/search/search.ts';
import {
  earlierInput,
  gracePeriod,
  input,
  otherInput,
  totalTimeout,
  type Actor,
  type World,
} from './world.ts';

/*
 * The client of each caller: the code of src/once and src/search, on stand-ins for the pipeline of
 * requests and for the store. Each request and each use of the store is a step of the world.
 */

const ended = (outcome: Outcome): PaymentsError => new PaymentsError(outcome, { outcome });
const trace = { reference: undefined, isReported: false, attempts: 0, requestId: undefined };

/** A store in which only the payment under test takes steps. */
function createJournal(world: World, actor: Actor): Journal {
  const others = new Map<string, Awaited<ReturnType<Journal['read']>>>();
  const isOurs = (reference: string): boolean => reference === input.description;
  const fail = (fault: string): void => {
    if (fault === 'fails' || fault === 'hangs') throw new Error(fault);
  };
  const step = <T>(name: string, act: () => T): Promise<T> =>
    world.step(
      actor,
      name,
      () => ['fails', 'hangs'],
      (fault) => {
        fail(fault);
        return act();
      },
    );
  return {
    // The earlier payment of the process takes no steps.
    get searchFirst() {
      return world.bounds.searchesFirst === true && !actor.isPayingEarlier ? 'always' : 'never';
    },
    read: async (reference) =>
      isOurs(reference) ? step('read', () => world.readEntry(actor)) : others.get(reference),
    swap: async (reference, before, after) => {
      if (!isOurs(reference)) {
        others.set(reference, after);
        return true;
      }
      const isWon = await step('swap', () => world.writeEntry(actor, before, after));
      return world.step(
        actor,
        'written',
        () => ['fails', 'hangs', 'says lost'],
        (fault) => {
          fail(fault);
          // A driver that repeats a command after a lost reply reports that another caller won.
          return fault === 'says lost' ? false : isWon;
        },
      );
    },
    now: async (reference) => {
      if (!isOurs(reference)) return world.journalTime;
      return step('now', () => {
        actor.clockReadAt = world.time;
        const mayBeAhead = world.bounds.isAhead === true && world.entry === undefined;
        if (!mayBeAhead || world.happened.has('ahead')) return world.journalTime;
        const lead = world.choices.take([0, 10_000_000]);
        if (lead > 0) world.happened.add('ahead');
        return world.journalTime + lead;
      });
    },
    find: (_, id) => {
      const { entry } = world;
      const isIts = entry?.state === 'paid' && entry.transferId === id;
      return Promise.resolve(isIts ? input.description : undefined);
    },
  };
}

type ListPage = ReturnType<World['readPage']>;

/** Reads pages of the platform's list. */
function listOf(world: World, actor: Actor, timeLeft: (() => number) | undefined, limit: number) {
  return async function* pages(onHead: (date: string) => void) {
    let cursor: string | undefined;
    let hasShown = false;
    for (;;) {
      // Only one scan misses a payment that moves: A6.
      const given: string | undefined = cursor;
      const isAhead: boolean = given !== undefined && !hasShown;
      const mayMove = (): boolean => isAhead && world.isPaid && !world.happened.has('move');
      const kinds = (): string[] => (mayMove() ? ['breaks', 'the payment moves'] : ['breaks']);
      const page: ListPage = await world.step(
        actor,
        'page',
        kinds,
        (fault): ListPage => {
          if (fault === 'breaks' || (timeLeft?.() ?? 1) <= 0) throw ended('unknown');
          if (fault === 'the payment moves') world.happened.add('move');
          actor.platformTime = world.time;
          return world.readPage(limit, given, fault === 'the payment moves');
        },
        ({ data, hasMore }) => `${data.map(({ id }) => id).join()} ${hasMore}`,
      );
      hasShown ||= page.data.some(({ description }) => description === input.description);
      onHead(new Date(world.time).toUTCString());
      yield page;
      if (page.nextCursor === null) return;
      cursor = page.nextCursor;
    }
  };
}

type Api = ClientContext['api'];

function createApi(world: World, actor: Actor): Api {
  const list: Api['list'] = (query, _options, search) => {
    const pages = listOf(world, actor, search?.timeLeft, query?.limit ?? 100);
    const onHead = (date: string): void => {
      search?.onHead({ headers: new Headers({ date }) } as never, () => undefined);
    };
    return { pages: () => pages(onHead) } as unknown as ReturnType<Api['list']>;
  };
  const get = async (id: string): Promise<Transfer> =>
    world.step(
      actor,
      'get',
      () => ['breaks'],
      (fault) => {
        if (fault === 'breaks') throw ended('unknown');
        const found = world.rowsMade.find((row) => row.id === id);
        if (found === undefined) throw ended('rejected');
        return found;
      },
    );
  return { isFiltered: true, list, get, getAccount: async () => ({}) } as unknown as Api;
}

/** Sends the request of a payment, once. */
function createSend(world: World, actor: Actor): ClientContext['pipeline']['send'] {
  const [, later = gracePeriod] = world.bounds.gracePeriods ?? [];
  const lateness = Math.max(world.graceOf(actor), later);
  const send = async (
    call: { readonly beforeSending?: ((body: string) => void) | undefined },
    body: unknown,
    { timeLeft, notAfter }: { readonly timeLeft: number; readonly notAfter: number },
  ): Promise<TransferCreated> => {
    const { description, amount } = JSON.parse(String(body)) as typeof input;
    if (description === earlierInput.description) return { id: 'txfr_earlier' } as TransferCreated;
    if (description !== input.description) {
      const id = world.nextId;
      const made = { id, description, amount, at: world.time, shownFrom: world.time };
      world.ledger.push(made);
      return { id } as TransferCreated;
    }
    const clock = world.clockOf(actor);
    const endsAt = clock.elapsed() + timeLeft;
    const id = await world.step(
      actor,
      'send',
      () => [],
      () => {
        call.beforeSending?.(String(body));
        if (clock.elapsed() >= endsAt || clock.now() > notAfter) throw ended('not_sent');
        const chosen = world.choices.take([
          'paid',
          'rejected',
          'not sent',
          'lost',
          'paid, and listed late',
          'lost, and paid late',
        ]);
        world.trace.push(`the request is ${chosen}`);
        if (chosen === 'rejected') throw ended('rejected');
        if (chosen === 'not sent') throw ended('not_sent');
        if (chosen === 'lost') throw ended('unknown');
        const [id, at] = [world.nextId, world.time];
        // A2: a request takes effect, and is listed, by the end of its grace period at the latest.
        const latest = actor.clockReadAt + totalTimeout + lateness;
        if (chosen === 'lost, and paid late') {
          world.ledger.push({ id, description, amount, at: latest, shownFrom: latest });
          throw ended('unknown');
        }
        const shownFrom = chosen === 'paid' ? at : latest;
        world.ledger.push({ id, description, amount, at, shownFrom });
        return id;
      },
    );
    return world.step(
      actor,
      'response',
      () => [],
      () => {
        if (world.choices.take(['arrives', 'is lost']) === 'is lost') {
          world.trace.push('the response is lost');
          throw ended('unknown');
        }
        actor.platformTime = world.time;
        return { id } as TransferCreated;
      },
    );
  };
  return ((call: Parameters<typeof send>[0], prepared: unknown, _within: unknown, times: unknown) =>
    send(call, prepared, times as Parameters<typeof send>[2])) as never;
}

/** What the calls of an actor work with, as the client has it. */
export function createClient(world: World, actor: Actor): ClientContext {
  const clock = clockFrom(world.clockOf(actor));
  const api = createApi(world, actor);
  const redact = (text: string): string => text;
  const { isBusy = false, isMasked = false } = world.bounds;
  const listOrder = new ListOrder(isBusy);
  const knowsTime = isBusy || isMasked;
  // The process has had a response of the platform before.
  actor.platformTime ??= world.time;
  return {
    pipeline: {
      redact,
      redactOwn: redact,
      trace: (_call: unknown, _reference: unknown, run: (within: typeof trace) => unknown) =>
        run(trace),
      check: (call: { readonly body: { readonly value: unknown } }) =>
        JSON.stringify(call.body.value),
      authorize: () => Promise.resolve(),
      send: createSend(world, actor),
      platformTime: () => (knowsTime ? actor.platformTime : undefined),
    } as unknown as ClientContext['pipeline'],
    clock,
    baseUrl: 'https://api.example.com/v0',
    journal: createJournal(world, actor),
    gracePeriod: world.graceOf(actor),
    totalTimeout,
    timeout: totalTimeout,
    platform: { descriptions: undefined },
    hooks: {},
    api,
    transferSearch: new TransferSearch(api, { now: () => clock.now(), redact, listOrder }),
    lastSearches: new LastSearches(),
  };
}

/** The clients that have paid before. */
const hasPaid = new WeakSet<ClientContext>();

/** Makes the payment by `createOnce`. Returns the id of its transfer. */
export async function payOnce(world: World, actor: Actor, client: ClientContext): Promise<string> {
  const since = world.bounds.hasSince === true ? world.requestedAt : undefined;
  const options = since === undefined ? undefined : { since: new Date(since) };
  if (world.bounds.isFirstPayment !== true && !hasPaid.has(client)) {
    hasPaid.add(client);
    actor.isPayingEarlier = true;
    await createOnce(client, earlierInput, undefined);
    actor.isPayingEarlier = false;
  }
  return (await createOnce(client, input, options)).id;
}

/** Makes the payment in a batch, after another payment of the same account. */
export async function payInBatch(client: ClientContext): Promise<string> {
  const options = { concurrency: 1, retryTimeout: 10_000 };
  const batch = createAllOnce(client, [otherInput, input], options);
  let id = '';
  for await (const { reference, error, transferId } of batch) {
    if (error !== undefined) throw error;
    if (reference === input.description) id = transferId;
  }
  return id;
}

/** Sends the payment by `create`, as a fallback. Returns whether the SDK has sent it. */
export function fallBack(client: ClientContext): boolean {
  try {
    createCallOf(input, client).beforeSending(JSON.stringify(input));
    return true;
  } catch (error) {
    if (error instanceof PaymentInDoubtError) return false;
    throw error;
  }
}

/** An operator decides. */
export const decideAs = (client: ClientContext, verdict: string, force: boolean): Promise<void> =>
  decide(client, input.description, verdict, { force }, trace);
