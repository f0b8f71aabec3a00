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
import { faultNamed, type CallPlan, type KeySource, type Operation, type Plan } from './plans.ts';
import { replayTo } from './replaying.ts';
import { nonceHeader, type FaultPlatform } from './server.ts';

/** The package, or a copy of it with something broken on purpose. */
export type Sdk = typeof package_;

export interface Limits {
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
}
/** Short, so that thousands of lost answers can be waited for. */
export const impatient: Limits = { timeout: 150, totalTimeout: 1_000, maxRetries: 2 };
/** What calls of createOnce take until one of them knows. */
const patient: Limits = { timeout: 150, totalTimeout: 15_000, maxRetries: 60 };
/** A machine that is busy may be late; a call that is not bounded is later than this. */
export const slack = 2_000;

export const canary = 'CANARYq7Zx';
const jwt = `eyJhbGciOiJub25lIn0.eyJzdWIiOiJ${canary}.c2ln`;

/** How a call ended, as the caller saw it. */
type Ending =
  | { readonly result: 'ok'; readonly data: unknown }
  | { readonly result: 'error'; readonly error: unknown }
  | { readonly result: 'never' };

/** What happened to one call. */
export interface Played {
  readonly plan: CallPlan;
  readonly limits: Limits;
  readonly nonce: string;
  readonly ending: Ending;
  readonly elapsed: number;
  /** The moments at which its requests went out, since it began. */
  readonly sent: readonly number[];
  /** Listeners that are still on the caller's signal. */
  readonly listeners: number;
  /** What was noticed while it ran. */
  readonly remarks: readonly string[];
}

/** What calls are made with, and on. */
interface Setting {
  readonly client: PaymentsClient;
  readonly platform: FaultPlatform;
  readonly limits: Limits;
}

/** Until when the clients of one address may send nothing, and since when they know it. */
interface Hold {
  readonly knownAt: number;
  readonly until: number;
}

let calls = 0;

/** Plays one plan on a platform, all calls at once, and returns what became of each. */
export async function play(
  plan: Plan,
  sdk: Sdk,
  platform: FaultPlatform,
  replays: boolean,
  limits: Limits = impatient,
): Promise<Played[]> {
  const client = new sdk.PaymentsClient({
    baseUrl: platform.shared.baseUrl,
    apiKey: keyFrom(plan.key),
    jwt,
    ...limits,
    ...(plan.keyed ? { idempotencyHeader: 'Idempotency-Key' } : {}),
  });
  // The two APIs of the platform throttle apart from each other.
  const holds: { versioned: Hold[]; root: Hold[] } = { versioned: [], root: [] };
  return Promise.all(
    plan.calls.map(async (call) => {
      calls += 1;
      const nonce = `n${calls}`;
      await pause(call.begins);
      const setting = { client, platform, limits };
      const planned = call.faults.map(faultNamed);
      return planned.some((fault) => fault.door !== undefined)
        ? atOwnDoor(call, planned, nonce, setting, replays)
        : one(
            call,
            planned,
            nonce,
            setting,
            holds[call.operation === 'search' ? 'root' : 'versioned'],
          );
    }),
  );
}

/** For what two readings of one clock may differ by. */
const tolerance = 25;
/** When this process last had a turn. */
let beat = performance.now();
setInterval(() => {
  beat = performance.now();
}, 5).unref();

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

function keyFrom(source: KeySource): NonNullable<ClientOptions['apiKey']> {
  if (source === 'text') return `sk_${canary}`;
  let asked = 0;
  return () => {
    asked += 1;
    if (source === 'fails' || (source === 'fails when renewed' && asked > 1)) {
      throw new Error(`the vault does not give out sk_${canary}${asked}`);
    }
    return source === 'hangs when renewed' && asked > 1
      ? new Promise(() => undefined)
      : Promise.resolve(`sk_${canary}${asked}`);
  };
}

/** For faults of the connection itself: a port that nobody else calls, opened and shut on the way. */
async function atOwnDoor(
  call: CallPlan,
  planned: readonly Fault[],
  nonce: string,
  setting: Setting,
  replays: boolean,
): Promise<Played> {
  const { client, platform } = setting;
  const door = await platform.ownDoor();
  const stopReplay = replays ? replayTo(door) : () => undefined;
  const meet = (attempt: number): void => {
    const wanted = planned[attempt - 1]?.door;
    door.mode = wanted === 'fin' || wanted === 'rst' ? wanted : 'serve';
    if (wanted === 'refused') door.shut();
  };
  meet(1);
  try {
    const own = client.withOptions({ baseUrl: door.baseUrl });
    return await one(call, planned, nonce, { ...setting, client: own }, [], {
      onRequest: meet,
      onRetry: (attempt) => {
        if (planned[attempt - 1]?.door !== 'refused') void door.open();
      },
    });
  } finally {
    stopReplay();
    door.shut();
  }
}

type AtAttempt = (attempt: number) => void;

async function one(
  plan: CallPlan,
  planned: readonly Fault[],
  nonce: string,
  { client: shared, platform, limits: given }: Setting,
  holds: Hold[],
  also: { readonly onRequest?: AtAttempt; readonly onRetry?: AtAttempt } = {},
): Promise<Played> {
  const limits = plan.operation === 'once' ? patient : given;
  const served = planned.filter(({ door }) => door === undefined || door === 'own');
  platform.expect(nonce, served);
  const remarks: string[] = [];
  const sent: number[] = [];
  let begun = 0;
  const caller = new AbortController();
  const listeners = counted(caller.signal);
  const { leave } = plan;
  const leaveAt = (when: string, attempt: number): void => {
    if (leave?.when === when && 'attempt' in leave && leave.attempt === attempt)
      caller.abort('left');
  };
  const seen = (event: unknown): void => {
    if (JSON.stringify(event).includes(canary)) remarks.push('a hook was shown a credential');
  };
  const client = shared.withOptions({
    hooks: {
      onRequest: (event) => {
        seen(event);
        const now = performance.now();
        sent.push(now - begun);
        // Between its look at the time and this one, the whole process may have stood still.
        if (now - begun > limits.totalTimeout + tolerance + (now - beat)) {
          remarks.push(`sent ${Math.round(now - begun)} ms after it began`);
        }
        const early = holds.find(
          ({ knownAt, until }) => now > knownAt + tolerance && now < until - tolerance,
        );
        if (early !== undefined) {
          remarks.push(`sent ${Math.round(early.until - now)} ms before a 429 allows it`);
        }
        also.onRequest?.(plan.operation === 'once' ? sent.length : event.attempt);
        leaveAt('onRequest', event.attempt);
      },
      onResponse: (event) => {
        seen(event);
        const met = served[platform.arrivalsOf(nonce) - 1];
        if (event.status === 429 && met?.holds !== undefined && met.holds > 0) {
          const knownAt = performance.now();
          holds.push({ knownAt, until: knownAt + met.holds });
        }
        leaveAt('onResponse', event.attempt);
      },
      onRetry: (event) => {
        seen(event);
        also.onRetry?.(plan.operation === 'once' ? sent.length + 1 : event.attempt);
        leaveAt('onRetry', event.attempt);
      },
    },
  });
  if (leave?.when === 'before') caller.abort('left');
  const timer =
    leave?.when === 'after'
      ? setTimeout(() => {
          caller.abort('left');
        }, leave.ms)
      : undefined;
  begun = performance.now();
  const ending = await endOf(
    start(plan, client, nonce, { signal: caller.signal, headers: { [nonceHeader]: nonce } }),
    limits.totalTimeout + slack,
  );
  clearTimeout(timer);
  const elapsed = performance.now() - begun;
  return { plan, limits, nonce, ending, elapsed, sent, listeners: listeners(), remarks };
}

/** Counts the listeners that are on a signal. */
function counted(signal: AbortSignal): () => number {
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
  if (operation === 'once') return settled(client, nonce, options);
  const call = callOf(operation, client, nonce, options);
  return asksForResponse ? call.withResponse().then(({ data }) => data) : call;
}

const paymentOf = (nonce: string): OnceInput => ({
  sourceAccountId: accountId,
  destinationAccountId: 'acc_2',
  amount: '1.00',
  description: nonce,
});

/** Calls createOnce, also after its caller has left, until the payment is made or is refused for certain. */
async function settled(
  client: PaymentsClient,
  nonce: string,
  { signal, headers }: RequestOptions,
): Promise<unknown> {
  // What a request does late, it does in `gracePeriod`.
  const limits = { totalTimeout: 400, gracePeriod: 800 };
  const payments = client.withOptions({ ...limits, journal: memoryJournal() });
  let caller = signal;
  for (let calls = 1; ; calls += 1) {
    try {
      return await payments.transfers.createOnce(paymentOf(nonce), { headers, signal: caller });
    } catch (error) {
      const told = error as Partial<PaymentInDoubtError>;
      if (told.outcome !== 'unknown' || told.retryable !== true || calls === 8) throw error;
      caller = undefined;
      await pause(Math.min(told.retryAfterMs ?? 50, 1_000));
    }
  }
}

function callOf(
  operation: Exclude<Operation, 'once'>,
  client: PaymentsClient,
  nonce: string,
  options: RequestOptions,
): Promise<unknown> & { withResponse(): Promise<{ readonly data: unknown }> } {
  switch (operation) {
    case 'create':
      return client.transfers.create(paymentOf(nonce), options);
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

async function endOf(call: Promise<unknown>, patience: number): Promise<Ending> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const never = new Promise<Ending>((resolve) => {
    timer = setTimeout(() => {
      resolve({ result: 'never' });
    }, patience);
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
