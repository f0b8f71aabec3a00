import * as fc from 'fast-check';
import type { Fault } from './faults.ts';
import { faults } from './status-faults.ts';

/*
 * What a run of the chaos suite draws. Faults are drawn by name, so that a counterexample can be
 * read, and pasted back.
 */

/** What is called: three writes, a creation by createOnce, and two reads, one of them a GET with a body. */
export type Operation = 'create' | 'once' | 'update' | 'remove' | 'get' | 'search';

/** When the caller leaves. */
type Leave =
  | { readonly when: 'before' }
  | { readonly when: 'after'; readonly ms: number }
  | { readonly when: 'onRequest' | 'onResponse' | 'onRetry'; readonly attempt: number };

export interface CallPlan {
  readonly operation: Operation;
  /** What its requests meet, in order. */
  readonly faults: readonly string[];
  /** Milliseconds after the start of the plan. */
  readonly begins: number;
  readonly leave: Leave | null;
  readonly asksForResponse: boolean;
}

/** How the client comes by its API key. */
export type KeySource = 'text' | 'function' | 'fails when renewed' | 'hangs when renewed' | 'fails';

/** Calls that run side by side on one client. */
export interface Plan {
  readonly calls: readonly CallPlan[];
  readonly key: KeySource;
  /** Whether the platform honours an idempotency key, and the client sends one. */
  readonly keyed: boolean;
}

const byName = new Map(faults.map((fault) => [fault.name, fault]));

/** A fault of the list. Throws for a name that is not on it. */
export function faultNamed(name: string): Fault {
  const found = byName.get(name);
  if (found === undefined) throw new Error(`There is no fault called ${name}.`);
  return found;
}

const namesOf = (wanted: (fault: Fault) => boolean): string[] =>
  faults.filter(wanted).map(({ name }) => name);

const drawnFrom = (allowed: (fault: Fault) => boolean): fc.Arbitrary<string> =>
  fc.oneof(
    // What leads to a second request, so that plans of several faults are played to their end.
    {
      weight: 4,
      arbitrary: fc.constantFrom(...namesOf((fault) => allowed(fault) && fault.once === 'resent')),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom(...namesOf((fault) => allowed(fault) && fault.door !== undefined)),
    },
    {
      weight: 30,
      arbitrary: fc.constantFrom(
        ...namesOf((fault) => allowed(fault) && fault.heavy !== true && (fault.holds ?? 0) < 1_000),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ...namesOf((fault) => fault.heavy === true || fault.holds === 60_000),
      ),
    },
  );

const leaves: fc.Arbitrary<Leave | null> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constant<Leave>({ when: 'before' }) },
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
      // A DELETE takes any 2xx for done, as it must: whoever says so and does not do it deceives it.
      faults: fc.array(
        drawnFrom(({ lies }) => operation !== 'remove' || lies !== true),
        { maxLength: 4 },
      ),
      begins: fc.nat(60),
      leave: leaves,
      asksForResponse: fc.boolean(),
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
});

const operations: readonly Operation[] = ['create', 'update', 'remove', 'get', 'search'];

/** Every fault on every operation, in small groups: what a random run may happen to leave out. */
export const sweep: readonly Plan[] = faults.flatMap(({ name, lies }): Plan[] => [
  {
    calls: operations
      .filter((operation) => operation !== 'remove' || lies !== true)
      .map((operation) => ({
        operation,
        faults: [name],
        begins: 0,
        leave: null,
        asksForResponse: false,
      })),
    key: 'text',
    keyed: false,
  },
]);
