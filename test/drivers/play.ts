import type * as package_ from '../../src/index.ts';
import type {
  ClientOptions,
  OnceInput,
  OnceOptions,
  PaymentsClient,
  RequestOptions,
  PaymentInDoubtError,
} from '../../src/index.ts';
import { memoryJournal, type Journal } from '../../src/journals/index.ts';
import { accountId } from './bodies.ts';
import type { Fault } from './faults.ts';
import {
  findFault,
  type CallPlan,
  type KeySource,
  type Operation,
  type Plan,
  type SearchPlan,
} from './plans.ts';
import { nonceHeader, type FaultPlatform } from './server.ts';

/** The package, or a copy with a planted mistake. */
export type Sdk = typeof package_;

export interface Limits {
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
}
/** Limits of most calls. Short, because thousands of calls wait for a lost response. */
export const impatient: Limits = { timeout: 150, totalTimeout: 1_000, maxRetries: 2 };
/** Limits of createOnce. Long enough to resolve an unknown outcome. */
const patient: Limits = { timeout: 150, totalTimeout: 15_000, maxRetries: 60 };
/** Limits of createAllOnce. Longer still, because the retries of a batch wait for each other. */
const collective: Limits = { timeout: 150, totalTimeout: 40_000, maxRetries: 300 };
/** How late a call may end on a busy machine. */
export const slack = 2_000;

export const canary = 'CANARYq7Zx';
const jwt = `eyJhbGciOiJub25lIn0.eyJzdWIiOiJ${canary}.c2ln`;

/** How a call ended for its caller. */
type Ending =
  | { readonly result: 'ok'; readonly data: unknown }
  | { readonly result: 'error'; readonly error: unknown }
  | { readonly result: 'never' };

/** The facts of one call. */
export interface Played {
  readonly plan: CallPlan;
  readonly limits: Limits;
  readonly nonce: string;
  readonly ending: Ending;
  readonly elapsed: number;
  /** When its requests were sent, in milliseconds since its start. */
  readonly sent: readonly number[];
  /** The number of listeners that remain on the caller's signal. */
  readonly listeners: number;
  /** Violations that were found during the call. */
  readonly remarks: readonly string[];
}

/** The client and the platform of a call. */
interface Setting {
  readonly client: PaymentsClient;
  readonly platform: FaultPlatform;
  readonly limits: Limits;
  readonly search: SearchPlan;
  /** The value of `since`; undefined in plans without it. */
  readonly since: Date | undefined;
}

/** The list and the assertions of the caller in plans without `search`. */
const usualSearch: SearchPlan = {
  order: 'oldest_first',
  isBusy: false,
  transfersNewestFirst: false,
  hasSince: false,
  forgets: false,
};

/** A time in which a client may send nothing, and when the client learned of that. */
interface Hold {
  readonly knownAt: number;
  readonly until: number;
}

let nonces = 0;

/** Makes a nonce. No nonce is a part of another, because nonces are references of payments. */
function createNonce(): string {
  nonces += 1;
  return `n${String(nonces).padStart(8, '0')}`;
}

/** Makes all calls of a plan at once. Returns the facts of each call or payment of a batch. */
export async function play(
  plan: Plan,
  sdk: Sdk,
  platform: FaultPlatform,
  limits: Limits = impatient,
): Promise<Played[]> {
  const { search = usualSearch } = plan;
  const since = search.hasSince ? new Date() : undefined;
  const client = new sdk.PaymentsClient({
    baseUrl: platform.shared.baseUrl,
    apiKey: createKey(plan.key),
    jwt,
    ...limits,
    platform: {
      transfersNewestFirst: search.transfersNewestFirst,
      ...(plan.keyed ? { idempotencyHeader: 'Idempotency-Key' } : {}),
    },
  });
  // The two APIs of the platform throttle separately.
  const holds: { versioned: Hold[]; root: Hold[] } = { versioned: [], root: [] };
  const played = await Promise.all(
    plan.calls.map(async (call) => {
      const nonce = createNonce();
      await pause(call.startsAt);
      const setting = { client, platform, limits, search, since };
      const planned = call.faults.map(findFault);
      if (planned.some((fault) => fault.endpoint !== undefined)) {
        return playOnEndpoint(call, planned, nonce, setting);
      }
      const api = call.operation === 'search' ? 'root' : 'versioned';
      return makeCall(call, planned, nonce, setting, holds[api]);
    }),
  );
  return played.flat();
}

/** The difference in milliseconds that two readings of one clock may have. */
const tolerance = 25;
/** When the event loop of this process last ran. */
let beat = performance.now();
setInterval(() => {
  beat = performance.now();
}, 5).unref();

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

function createKey(source: KeySource): NonNullable<ClientOptions['apiKey']> {
  if (source === 'text') return `sk_${canary}`;
  let keyCount = 0;
  return () => {
    keyCount += 1;
    if (source === 'fails' || (source === 'fails when renewed' && keyCount > 1)) {
      throw new Error(`the vault does not return sk_${canary}${keyCount}`);
    }
    return source === 'hangs when renewed' && keyCount > 1
      ? new Promise(() => undefined)
      : Promise.resolve(`sk_${canary}${keyCount}`);
  };
}

/** Makes one call on a separate port, which opens and closes to play faults of the connection. */
async function playOnEndpoint(
  call: CallPlan,
  planned: readonly Fault[],
  nonce: string,
  setting: Setting,
): Promise<Played[]> {
  const { client, platform } = setting;
  const endpoint = await platform.openEndpoint();
  const applyMode = (attempt: number): void => {
    const mode = planned[attempt - 1]?.endpoint;
    endpoint.mode = mode === 'fin' || mode === 'rst' ? mode : 'serve';
    if (mode === 'closed') endpoint.close();
  };
  applyMode(1);
  try {
    const endpointClient = client.withOptions({ baseUrl: endpoint.baseUrl });
    return await makeCall(call, planned, nonce, { ...setting, client: endpointClient }, [], {
      onRequest: applyMode,
      onRetry: (attempt) => {
        if (planned[attempt - 1]?.endpoint !== 'closed') void endpoint.open();
      },
    });
  } finally {
    endpoint.close();
  }
}

type AtAttempt = (attempt: number) => void;

async function makeCall(
  plan: CallPlan,
  planned: readonly Fault[],
  nonce: string,
  { client: shared, platform, limits: planLimits, search, since }: Setting,
  holds: Hold[],
  callbacks: { readonly onRequest?: AtAttempt; readonly onRetry?: AtAttempt } = {},
): Promise<Played[]> {
  const batch = Array.from({ length: plan.payments ?? 0 }, createNonce);
  const isBatch = batch.length > 0;
  const onceLimits = isBatch ? collective : patient;
  const limits = plan.operation === 'once' ? onceLimits : planLimits;
  const served = planned.filter(
    ({ endpoint }) => endpoint === undefined || endpoint === 'separate',
  );
  const payments = isBatch ? batch : [nonce];
  platform.plan(
    nonce,
    served,
    plan.operation === 'once' ? { payments, listing: search } : undefined,
  );
  const remarks: string[] = [];
  const sent: number[] = [];
  let startedAt = 0;
  const caller = new AbortController();
  const listeners = countListeners(caller.signal);
  const { abort } = plan;
  const abortAt = (when: string, attempt: number): void => {
    if (abort?.when === when && 'attempt' in abort && abort.attempt === attempt)
      caller.abort('aborted');
  };
  const checkEvent = (event: unknown): void => {
    if (JSON.stringify(event).includes(canary)) remarks.push('a hook received a credential');
  };
  const client = shared.withOptions({
    hooks: {
      onRequest: (event) => {
        checkEvent(event);
        const now = performance.now();
        sent.push(now - startedAt);
        // Adds the time since `beat`, because this process may have been suspended.
        if (now - startedAt > limits.totalTimeout + tolerance + (now - beat)) {
          remarks.push(`sent ${Math.round(now - startedAt)} ms after its start`);
        }
        const hold = holds.find(
          ({ knownAt, until }) => now > knownAt + tolerance && now < until - tolerance,
        );
        if (hold !== undefined) {
          remarks.push(`sent ${Math.round(hold.until - now)} ms before a 429 allowed it`);
        }
        callbacks.onRequest?.(plan.operation === 'once' ? sent.length : event.attempt);
        abortAt('onRequest', event.attempt);
      },
      onResponse: (event) => {
        checkEvent(event);
        // Requests of a batch overlap, so the last one that arrived may have another response.
        const fault = isBatch ? undefined : served[platform.arrivalsOf(nonce) - 1];
        if (event.status === 429 && fault?.holds !== undefined && fault.holds > 0) {
          const knownAt = performance.now();
          holds.push({ knownAt, until: knownAt + fault.holds });
        }
        abortAt('onResponse', event.attempt);
      },
      onRetry: (event) => {
        checkEvent(event);
        callbacks.onRetry?.(plan.operation === 'once' ? sent.length + 1 : event.attempt);
        abortAt('onRetry', event.attempt);
      },
    },
  });
  if (abort?.when === 'before') caller.abort('aborted');
  const timer =
    abort?.when === 'after'
      ? setTimeout(() => {
          caller.abort('aborted');
        }, abort.ms)
      : undefined;
  startedAt = performance.now();
  const options = { signal: caller.signal, headers: { [nonceHeader]: nonce } };
  const onceOptions = { ...options, ...onceTimes, since, journal: createJournal(search) };
  const call = ((): Promise<unknown> => {
    if (plan.operation !== 'once') return start(plan, client, nonce, options);
    return isBatch ? payAllOnce(client, batch, onceOptions) : payOnce(client, nonce, onceOptions);
  })();
  const ending = await awaitEnding(call, limits.totalTimeout + slack);
  clearTimeout(timer);
  const elapsed = performance.now() - startedAt;
  const facts = { plan, limits, elapsed, sent, listeners: listeners(), remarks };
  if (!isBatch) return [{ ...facts, nonce, ending }];
  const endings = ending.result === 'ok' ? (ending.data as ReadonlyMap<string, Ending>) : undefined;
  return batch.map((payment) => ({
    ...facts,
    nonce: payment,
    ending: endings?.get(payment) ?? ending,
  }));
}

const createJournal = ({ forgets }: SearchPlan): Journal => ({
  ...memoryJournal(),
  searchFirst: forgets ? 'always' : 'never',
});

/** Counts the listeners on a signal. */
function countListeners(signal: AbortSignal): () => number {
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof add>) => {
      count += 1;
      add(...args);
    },
    removeEventListener: (...args: Parameters<typeof remove>) => {
      count -= 1;
      remove(...args);
    },
  });
  return () => count;
}

function start(
  { operation, asksForResponse }: CallPlan,
  client: PaymentsClient,
  nonce: string,
  options: RequestOptions,
): Promise<unknown> {
  if (operation === 'once') throw new Error('createOnce returns no call');
  const call = startCall(operation, client, nonce, options);
  return asksForResponse ? call.withResponse().then(({ data }) => data) : call;
}

const paymentInput = (nonce: string): OnceInput => ({
  sourceAccountId: accountId,
  destinationAccountId: 'acc_2',
  amount: '1.00',
  description: nonce,
});

/** The platform plays late effects within this `gracePeriod`. */
const onceTimes = { totalTimeout: 400, gracePeriod: 800 };
/** How often a caller tries to make payments. */
const maxTries = 5;

/** Repeats createOnce, also after an abort, until the payment is made or rejected. */
async function payOnce(
  client: PaymentsClient,
  nonce: string,
  { signal, ...options }: OnceOptions,
): Promise<unknown> {
  let caller = signal;
  for (let calls = 1; ; calls += 1) {
    try {
      return await client.transfers.createOnce(paymentInput(nonce), { ...options, signal: caller });
    } catch (error) {
      if (!isOpen(error) || calls === maxTries) throw error;
      caller = undefined;
      await pause(retryDelayOf(error));
    }
  }
}

/** Whether another call may settle what became of a payment. */
const isOpen = (error: unknown): boolean => {
  const { outcome, retryable } = Object(error) as Partial<PaymentInDoubtError>;
  return outcome === 'unknown' && retryable === true;
};
const retryDelayOf = (error: unknown): number =>
  Math.min((error as Partial<PaymentInDoubtError>).retryAfterMs ?? 50, 500);

/**
 * Runs createAllOnce with the same inputs, also after an abort or a 401, until each payment is made
 * or rejected. Resolves to the ending of each payment.
 */
async function payAllOnce(
  client: PaymentsClient,
  nonces: readonly string[],
  { signal, ...options }: OnceOptions,
): Promise<ReadonlyMap<string, Ending>> {
  const inputs = nonces.map(paymentInput);
  const endings = new Map<string, Ending>();
  let caller = signal;
  for (let tries = 1; ; tries += 1) {
    const open = new Set(nonces);
    let delayMs = 50;
    try {
      const batchOptions = { ...options, signal: caller, retryTimeout: 2_000 };
      for await (const { input, transferId, transfer, error } of client.transfers.createAllOnce(
        inputs,
        batchOptions,
      )) {
        const { description: nonce } = input;
        if (!isOpen(error)) open.delete(nonce);
        if (error === undefined) {
          endings.set(nonce, { result: 'ok', data: transfer ?? { id: transferId } });
        } else {
          endings.set(nonce, { result: 'error', error });
          delayMs = Math.max(delayMs, retryDelayOf(error));
        }
      }
    } catch (error) {
      // A batch ends early with an abort or a 401.
      if (tries === maxTries || !('outcome' in Object(error))) throw error;
    }
    if (open.size === 0 || tries === maxTries) return endings;
    caller = undefined;
    await pause(delayMs);
  }
}

function startCall(
  operation: Exclude<Operation, 'once'>,
  client: PaymentsClient,
  nonce: string,
  options: RequestOptions,
): Promise<unknown> & { withResponse(): Promise<{ readonly data: unknown }> } {
  switch (operation) {
    case 'create':
      return client.transfers.create(paymentInput(nonce), options);
    case 'update':
      return client.accounts.update(accountId, { metadata: { nonce } }, options);
    case 'remove':
      return client.counterparties.delete('cpty_1', options);
    case 'get':
      return client.transfers.get(`txfr_of_${nonce}`, options);
    case 'search':
      return client.instructions.list({ address: `0x${'1'.repeat(40)}` }, options);
  }
}

async function awaitEnding(call: Promise<unknown>, maxWaitMs: number): Promise<Ending> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const never = new Promise<Ending>((resolve) => {
    timer = setTimeout(() => {
      resolve({ result: 'never' });
    }, maxWaitMs);
  });
  const ended = call.then(
    (data): Ending => ({ result: 'ok', data }),
    (error: unknown): Ending => ({ result: 'error', error }),
  );
  try {
    return await Promise.race([ended, never]);
  } finally {
    clearTimeout(timer);
  }
}
