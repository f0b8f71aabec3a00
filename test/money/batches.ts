import {
  PaymentsClient,
  type BatchOptions,
  type BatchResult,
  type ClientOptions,
  type OnceInput,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox, type SandboxOptions } from 'payments-platform-sdk/sandbox';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';
import { fixedTimes } from '../support/values.ts';

export const { gracePeriod, totalTimeout } = fixedTimes;
const company = 'acc_000001';
export const otherCompany = 'acc_000002';
const staff = 'acc_000003';

/** The payment with a number. No reference is a prefix of another. */
export const salaryOf = (number: number, sourceAccountId: OnceInput['sourceAccountId'] = company) =>
  ({
    sourceAccountId,
    destinationAccountId: staff,
    amount: '12.50',
    description: `salary ${String(number).padStart(6, '0')}`,
  }) as const;

export const createSalaries = (count: number, first = 1): OnceInput[] =>
  Array.from({ length: count }, (_, at) => salaryOf(first + at));

/** Waits long enough for a step, because a shared scan starts with a real timer of 0 ms. */
const waitForStep = async (): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  await flushPromises(8);
};

export interface BatchWorld {
  /** How many transfers of others the list shows before those of the batch. */
  readonly history?: number;
  readonly forgets?: boolean;
  readonly funds?: string;
  readonly sandboxOptions?: SandboxOptions;
  /** Runs before each request reaches the platform. */
  readonly onRequest?: ((request: Request) => unknown) | undefined;
  readonly wrapJournal?: (journal: Journal) => Partial<Journal>;
}

/** A platform with three accounts, a client with a journal, and a virtual clock. */
export function setupBatch(
  {
    history = 0,
    forgets = false,
    funds = '1000000',
    sandboxOptions,
    onRequest,
    wrapJournal,
  }: BatchWorld = {},
  options: ClientOptions = {},
) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const sandbox = new Sandbox({ clock: () => clock.now(), ...sandboxOptions });
  const { id: entityId } = sandbox.entities.create({ email: 'payroll@example.com' });
  for (const name of ['Company', 'Other', 'Staff']) sandbox.accounts.create({ entityId, name });
  for (const id of [company, otherCompany] as const) sandbox.accounts.fund(id, funds);
  for (let number = 1; number <= history; number += 1) {
    const others = { amount: '1.00', description: `invoice ${number}` };
    sandbox.transfers.create({ ...salaryOf(number), ...others });
  }
  clock.jump(history > 0 ? 3_600_000 : 0);
  let steps = 0;
  const memory = memoryJournal({ now: () => clock.now() });
  const inner: Journal = {
    ...memory,
    searchFirst: forgets ? 'always' : 'never',
    swap: (...call: Parameters<Journal['swap']>) => {
      steps += 1;
      return memory.swap(...call);
    },
  };
  const journal: Journal = { ...inner, ...wrapJournal?.(inner) };
  const fetch = async (request: Request): Promise<Response> => {
    steps += 1;
    await onRequest?.(request);
    steps += 1;
    return sandbox.fetch(request);
  };
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    ...fixedTimes,
    fetch,
    clock,
    journal,
    ...options,
  });
  /** Waits until only timers of the virtual clock are left. */
  const waitUntilIdle = async (): Promise<void> => {
    for (let seen = steps, turns = 0; turns < 3; turns += 1) {
      await waitForStep();
      if (seen !== steps) turns = 0;
      seen = steps;
    }
  };
  const run = <T>(promise: Promise<T>): Promise<T> =>
    clock.runTimersDuring(promise, waitUntilIdle, 1);
  /** Runs a batch on the virtual clock, and collects its results. */
  const payAll = (
    inputs: Parameters<PaymentsClient['transfers']['createAllOnce']>[0],
    batchOptions?: BatchOptions,
  ): Promise<BatchResult[]> => run(collect(payments.transfers.createAllOnce(inputs, batchOptions)));
  const operations = () => sandbox.log.map(({ operation }) => operation);
  return {
    clock,
    sandbox,
    journal,
    payments,
    payAll,
    run,
    waitUntilIdle,
    operations,
    count: (operation: string) => operations().filter((each) => each === operation).length,
    /** How many scans of a list were started. */
    countScans: () =>
      sandbox.log.filter(
        ({ operation, query }) => operation === 'transfers.list' && !('cursor' in query),
      ).length,
    /** The references that the ledger has, without the history. */
    paid: () =>
      sandbox.transfers
        .list()
        .map(({ description }) => description ?? '')
        .filter((description) => description.startsWith('salary')),
    /** Removes an entry, as a fail-over does. */
    lose: async (reference: string) =>
      inner.swap(reference, await inner.read(reference), undefined),
  };
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** The claim of a process that has died. */
export async function claimAsDead(
  { journal, clock, sandbox }: Pick<ReturnType<typeof setupBatch>, 'journal' | 'clock' | 'sandbox'>,
  input: OnceInput,
): Promise<void> {
  const claimedAt = clock.now();
  await journal.swap(input.description, undefined, {
    state: 'sending',
    claimId: `dead ${input.description}`,
    host: 'h-1',
    claimedAt,
    expiresAt: claimedAt + totalTimeout + gracePeriod,
    firstClaimedAt: claimedAt,
    platform: sandbox.clientOptions.baseUrl,
    input,
  });
}

/** The counts of a batch before its first result. */
export const noCounts = {
  created: 0,
  found: 0,
  recorded: 0,
  paid: 0,
  failed: 0,
  notPaid: 0,
  inDoubt: 0,
  waiting: 0,
};
