import { journalKey } from './formats.ts';
import { onExit, warn } from './runtime.ts';
import { countOf } from './text.ts';

/** A payment that calls in this process are making, or have left in doubt. */
export interface Doubt {
  readonly key: string;
  /** The reference for a line on stderr, without credentials. */
  readonly reference: string;
  /** Where the payment is recorded: in a journal, in memory until this process ends, or nowhere. */
  readonly keptBy: 'journal' | 'memory' | 'nothing';
  /** The batch that makes the payment. Two rows of a batch with equal terms are two payments. */
  batch: symbol | undefined;
  /** How many calls in this process are making the payment. */
  calls: number;
  /** How many of these calls have begun to send the payment. */
  requests: number;
  /** Whether a call has ended without knowing whether the payment was made. */
  isInDoubt: boolean;
  /** The terms of the payment, to notice a second payment with equal terms; undefined if no request may have paid. */
  termsKey: string | undefined;
  /** When a `create` ended without a known outcome, by the wall clock of its client. */
  endedAt?: number;
  /** When the latest error asked to call again, by the monotonic clock of the client. */
  retryAt: number;
  /** How many calls have come before `retryAt`. */
  earlyCalls: number;
  /** Whether the line about a payment with equal terms was printed. */
  isSaid: boolean;
}

interface Registry {
  /** The payments by platform and reference, the oldest first. */
  readonly payments: Map<string, Doubt>;
  /** The payments that a request may have made, by their terms. */
  readonly inDoubt: Map<string, Set<Doubt>>;
  /** The header `date` of the latest successful response of each platform. */
  readonly dates: Map<string, string>;
  /** How many calls of each operation have not started, because nobody awaited or iterated them. */
  readonly unstarted: Map<string, number>;
}

/** All copies of this package in the process share one registry, so the key is global. */
const registryKey = Symbol.for('payments-platform-sdk:doubts');
let ownRegistry: Registry | undefined;

export function openRegistry(): Registry {
  // If the global object is sealed, each copy of the package keeps a registry of its own.
  const shared = (Reflect.get(globalThis, registryKey) as Registry | undefined) ?? ownRegistry;
  if (shared !== undefined) return shared;
  const registry: Registry = {
    payments: new Map(),
    inDoubt: new Map(),
    dates: new Map(),
    unstarted: new Map(),
  };
  Reflect.defineProperty(globalThis, registryKey, { value: registry, configurable: true });
  ownRegistry = registry;
  onExit(() => {
    report(registry);
  });
  return registry;
}

const hints: Readonly<Record<Doubt['keptBy'], string>> = {
  journal:
    'Call createOnce again with the same reference; payments-journal list shows what is open.',
  memory:
    'The journal was in memory, so the next process pays again: look in the list of transfers first.',
  nothing: 'Before you send it again, ask transfers.reconcile.',
};

/** Warns at the exit of calls that never started and of payments that may have been made, and says how to find out. */
function report({ payments, unstarted }: Registry): void {
  for (const [operation, count] of unstarted) {
    if (count === 0) continue;
    warn(
      `payments-platform-sdk: ${countOf(count, 'call')} of ${operation} did nothing, because the result was not awaited or iterated. Write: await ${operation}(inputs).`,
    );
  }
  const open = [...payments.values()].filter(
    ({ requests, termsKey }) => requests > 0 || termsKey !== undefined,
  );
  for (const [keptBy, hint] of Object.entries(hints)) {
    const { length } = open.filter((doubt) => doubt.keptBy === keptBy);
    if (length === 0) continue;
    warn(
      `payments-platform-sdk: this process ends without knowing whether ${countOf(length, 'payment')} took effect. ${hint}`,
    );
  }
}

/** Returns the key of a payment in the registry. Upper and lower case in the reference do not count. */
export const doubtKey = (platform: string, reference: string): string =>
  `${platform} ${journalKey(reference)}`;

/** Forgets a payment, unless a later call has begun a new record for its reference. */
export function forgetDoubt(doubt: Doubt): void {
  const { payments, inDoubt } = openRegistry();
  if (payments.get(doubt.key) === doubt) payments.delete(doubt.key);
  if (doubt.termsKey === undefined) return;
  const equals = inDoubt.get(doubt.termsKey);
  equals?.delete(doubt);
  if (equals?.size === 0) inDoubt.delete(doubt.termsKey);
}

/** Forgets the time and all payments of a platform, because a new sandbox has the same base URL. */
export function forgetPlatform(platform: string): void {
  openRegistry().dates.delete(platform);
  for (const doubt of openRegistry().payments.values()) {
    if (doubt.key.startsWith(`${platform} `)) forgetDoubt(doubt);
  }
}
