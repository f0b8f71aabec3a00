import * as fc from 'fast-check';
import type { Fault } from './faults.ts';
import type { Listing } from './listing.ts';
import { faults } from './status-faults.ts';

/*
 * Random plans for chaos.ts. A plan names its faults, so that you can read a counterexample and
 * repeat it with `--plan`.
 */

/** `once` is createOnce or createAllOnce, and `search` is a GET with a body. */
export type Operation = 'create' | 'once' | 'update' | 'remove' | 'get' | 'search';

/** When the caller aborts. */
type Abort =
  | { readonly when: 'before' }
  | { readonly when: 'after'; readonly ms: number }
  | { readonly when: 'onRequest' | 'onResponse' | 'onRetry'; readonly attempt: number };

export interface CallPlan {
  readonly operation: Operation;
  /** The faults that the requests of the call meet, in order. */
  readonly faults: readonly string[];
  /** Milliseconds after the start of the plan. */
  readonly startsAt: number;
  readonly abort: Abort | null;
  readonly asksForResponse: boolean;
  /** How many payments createAllOnce makes, if `once`. @default one payment by createOnce */
  readonly payments?: number;
}

/** The source of the API key. */
export type KeySource = 'text' | 'function' | 'fails when renewed' | 'hangs when renewed' | 'fails';

/** Calls that run side by side on one client. */
export interface Plan {
  readonly calls: readonly CallPlan[];
  readonly key: KeySource;
  /** Whether the platform honours an idempotency key, and the client sends one. */
  readonly keyed: boolean;
  /** How the platform lists transfers, and what the caller asserts, for `once`. */
  readonly search?: SearchPlan;
}

/** A list of transfers, and what the caller asserts about it and about the journal. */
export interface SearchPlan extends Listing {
  /** Whether the caller asserts that the list is newest first, truly or not. */
  readonly transfersNewestFirst: boolean;
  /** Whether `since` is the start of the plan. */
  readonly hasSince: boolean;
  readonly forgets: boolean;
}

const byName = new Map(faults.map((fault) => [fault.name, fault]));

/** Finds a fault by its name, and throws if there is none. */
export function findFault(name: string): Fault {
  const fault = byName.get(name);
  if (fault === undefined) throw new Error(`There is no fault called ${name}.`);
  return fault;
}

const findNames = (isWanted: (fault: Fault) => boolean): string[] =>
  faults.filter(isWanted).map(({ name }) => name);

const drawFault = (isAllowed: (fault: Fault) => boolean): fc.Arbitrary<string> =>
  fc.oneof(
    // Prefers faults that cause a second request, so that the later faults of a plan are used.
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        ...findNames((fault) => isAllowed(fault) && fault.once === 'resent'),
      ),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        ...findNames((fault) => isAllowed(fault) && fault.endpoint !== undefined),
      ),
    },
    {
      weight: 30,
      arbitrary: fc.constantFrom(
        ...findNames(
          (fault) => isAllowed(fault) && fault.heavy !== true && (fault.holds ?? 0) < 1_000,
        ),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ...findNames((fault) => fault.heavy === true || fault.holds === 60_000),
      ),
    },
  );

const aborts: fc.Arbitrary<Abort | null> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constant<Abort>({ when: 'before' }) },
  { weight: 3, arbitrary: fc.record({ when: fc.constant('after' as const), ms: fc.nat(250) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      when: fc.constantFrom('onRequest' as const, 'onResponse' as const, 'onRetry' as const),
      attempt: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

const calls: fc.Arbitrary<CallPlan> = fc
  .constantFrom<Operation>(
    'create',
    'create',
    'create',
    'once',
    'update',
    'remove',
    'get',
    'search',
  )
  .chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      // A DELETE cannot detect a 2xx without an effect.
      faults: fc.array(
        drawFault(({ lies }) => operation !== 'remove' || lies !== true),
        { maxLength: 4 },
      ),
      startsAt: fc.nat(60),
      abort: aborts,
      asksForResponse: fc.boolean(),
      ...(operation === 'once' ? { payments: fc.constantFrom(0, 0, 2, 4) } : {}),
    }),
  );

export const plans: fc.Arbitrary<Plan> = fc.record({
  calls: fc.array(calls, { minLength: 1, maxLength: 6 }),
  key: fc.oneof(
    { weight: 18, arbitrary: fc.constant<KeySource>('text') },
    { weight: 15, arbitrary: fc.constant<KeySource>('function') },
    { weight: 3, arbitrary: fc.constant<KeySource>('fails when renewed') },
    { weight: 3, arbitrary: fc.constant<KeySource>('hangs when renewed') },
    { weight: 1, arbitrary: fc.constant<KeySource>('fails') },
  ),
  keyed: fc.oneof(
    { weight: 4, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  search: fc.record({
    order: fc.constantFrom('oldest_first', 'newest_first', 'shuffled'),
    isBusy: fc.boolean(),
    transfersNewestFirst: fc.oneof(
      { weight: 3, arbitrary: fc.constant(true) },
      { weight: 1, arbitrary: fc.constant(false) },
    ),
    hasSince: fc.boolean(),
    forgets: fc.constantFrom(false, false, true),
  }),
});

const operations: readonly Operation[] = ['create', 'update', 'remove', 'get', 'search'];

/** Every fault with every operation, because a random run may miss some. */
export const sweep: readonly Plan[] = faults.flatMap(({ name, lies }): Plan[] => [
  {
    calls: operations
      .filter((operation) => operation !== 'remove' || lies !== true)
      .map((operation) => ({
        operation,
        faults: [name],
        startsAt: 0,
        abort: null,
        asksForResponse: false,
      })),
    key: 'text',
    keyed: false,
  },
]);
