import type * as package_ from '../../src/index.ts';
import type {
  ClientOptions,
  OnceInput,
  PaymentsClient,
  RequestOptions,
  PaymentInDoubtError,
} from '../../src/index.ts';
import { memoryJournal } from '../../src/journals/index.ts';
import { accountId } from './bodies.ts';
import type { Fault } from './faults.ts';
import { findFault, type CallPlan, type KeySource, type Operation, type Plan } from './plans.ts';
import { replayTo } from './replaying.ts';
import { nonceHeader, type FaultPlatform } from './server.ts';

/** The package, or a copy with a mistake. */
export type Sdk = typeof package_;

export interface Limits {
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
}
/** Short, because thousands of calls wait for a lost response. */
export const impatient: Limits = { timeout: 150, totalTimeout: 1_000, maxRetries: 2 };
/** Long enough for createOnce to resolve an unknown outcome. */
const patient: Limits = { timeout: 150, totalTimeout: 15_000, maxRetries: 60 };
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
}

/** A time in which a client may send nothing, and when the client received it. */
interface Hold {
  readonly knownAt: number;
  readonly until: number;
}

let calls = 0;

/** Makes all calls of a plan at once, and returns the facts of each. */
export async function play(
  plan: Plan,
  sdk: Sdk,
  platform: FaultPlatform,
  replays: boolean,
  limits: Limits = impatient,
): Promise<Played[]> {
  const client = new sdk.PaymentsClient({
    baseUrl: platform.shared.baseUrl,
    apiKey: createKey(plan.key),
    jwt,
    ...limits,
    ...(plan.keyed ? { idempotencyHeader: 'Idempotency-Key' } : {}),
  });
  // The two APIs of the platform throttle separately.
  const holds: { versioned: Hold[]; root: Hold[] } = { versioned: [], root: [] };
  return Promise.all(
    plan.calls.map(async (call) => {
      calls += 1;
      const nonce = `n${calls}`;
      await pause(call.startsAt);
      const setting = { client, platform, limits };
      const planned = call.faults.map(findFault);
      if (planned.some((fault) => fault.endpoint !== undefined)) {
        return playOnEndpoint(call, planned, nonce, setting, replays);
      }
      const api = call.operation === 'search' ? 'root' : 'versioned';
      return makeCall(call, planned, nonce, setting, holds[api]);
    }),
  );
}

/** The difference in milliseconds that two readings of one clock may have. */
const tolerance = 25;
/** When this process last ran. */
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

/** Makes one call on a separate endpoint, which opens and closes for faults of the connection. */
async function playOnEndpoint(
  call: CallPlan,
  planned: readonly Fault[],
  nonce: string,
  setting: Setting,
  replays: boolean,
): Promise<Played> {
  const { client, platform } = setting;
  const endpoint = await platform.openEndpoint();
  const stopReplay = replays ? replayTo(endpoint) : () => undefined;
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
    stopReplay();
    endpoint.close();
  }
}

type AtAttempt = (attempt: number) => void;

async function makeCall(
  plan: CallPlan,
  planned: readonly Fault[],
  nonce: string,
  { client: shared, platform, limits: planLimits }: Setting,
  holds: Hold[],
  callbacks: { readonly onRequest?: AtAttempt; readonly onRetry?: AtAttempt } = {},
): Promise<Played> {
  const limits = plan.operation === 'once' ? patient : planLimits;
  const served = planned.filter(
    ({ endpoint }) => endpoint === undefined || endpoint === 'separate',
  );
  platform.plan(nonce, served);
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
        // The process may have been suspended since the SDK read the clock.
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
        const fault = served[platform.arrivalsOf(nonce) - 1];
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
  const ending = await awaitEnding(
    start(plan, client, nonce, { signal: caller.signal, headers: { [nonceHeader]: nonce } }),
    limits.totalTimeout + slack,
  );
  clearTimeout(timer);
  const elapsed = performance.now() - startedAt;
  return { plan, limits, nonce, ending, elapsed, sent, listeners: listeners(), remarks };
}

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
  if (operation === 'once') return payOnce(client, nonce, options);
  const call = startCall(operation, client, nonce, options);
  return asksForResponse ? call.withResponse().then(({ data }) => data) : call;
}

const paymentInput = (nonce: string): OnceInput => ({
  sourceAccountId: accountId,
  destinationAccountId: 'acc_2',
  amount: '1.00',
  description: nonce,
});

/** Repeats createOnce, also after an abort, until the payment is made or rejected. */
async function payOnce(
  client: PaymentsClient,
  nonce: string,
  { signal, headers }: RequestOptions,
): Promise<unknown> {
  // Late effects happen within `gracePeriod`.
  const limits = { totalTimeout: 400, gracePeriod: 800 };
  const payments = client.withOptions({ ...limits, journal: memoryJournal() });
  let caller = signal;
  for (let calls = 1; ; calls += 1) {
    try {
      return await payments.transfers.createOnce(paymentInput(nonce), { headers, signal: caller });
    } catch (error) {
      const doubt = error as Partial<PaymentInDoubtError>;
      if (doubt.outcome !== 'unknown' || doubt.retryable !== true || calls === 8) throw error;
      caller = undefined;
      await pause(Math.min(doubt.retryAfterMs ?? 50, 1_000));
    }
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
