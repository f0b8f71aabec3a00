import {
  PaymentInDoubtError,
  PaymentsClient,
  type ClientOptions,
  type OnceInput,
} from 'payments-platform-sdk';
import { memoryJournal, type Journal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import type { Transfer } from '../../src/schemas/transfer.ts';
import { failureOf } from '../support/clients.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

export const minute = 60_000;
export const start = Date.UTC(2026, 10, 28, 2);
export const [totalTimeout, gracePeriod] = [2 * minute, 15 * minute];
export const input: OnceInput = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
  description: 'payroll-2026-11-employee-0017',
};
export const inDoubtErrorOf = (call: PromiseLike<unknown>) => failureOf(call, PaymentInDoubtError);

/** A platform with two accounts, whose list a test may change, and a client with a journal. */
export function setup(
  {
    show = (data) => ({ data }),
    list,
    journalOptions = {},
  }: {
    /** Changes a page of the sandbox's list. */
    readonly show?: (data: Transfer[], url: URL, sandbox: Sandbox) => object;
    /** Responds with a page in place of the sandbox. */
    readonly list?: (url: URL, sandbox: Sandbox) => object;
    readonly journalOptions?: Partial<Journal>;
  } = {},
  options: ClientOptions = {},
) {
  const clock = new VirtualClock(start);
  /** The platform's clock is always right. */
  const trueTime = (): number => start + clock.passed;
  const sandbox = new Sandbox({ clock: trueTime, listOrder: 'newest_first' });
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  for (const name of ['Source', 'Destination']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund(input.sourceAccountId, '1000000');
  let isListDown = false;
  const counts = { lists: 0 };
  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const isList = request.method === 'GET' && url.pathname.endsWith('/transfers');
    const date = { headers: { date: new Date(trueTime()).toUTCString() } };
    if (isList && isListDown) return Response.json({}, { status: 503, ...date });
    if (isList) counts.lists += 1;
    if (isList && list !== undefined) return Response.json(list(url, sandbox), date);
    const response = await sandbox.fetch(request);
    const body = (await response.json()) as { data: Transfer[] };
    const shown = isList ? { ...body, ...show(body.data, url, sandbox) } : body;
    return Response.json(shown, { status: response.status, ...date });
  };
  const journal: Journal = { ...memoryJournal({ now: () => clock.now() }), ...journalOptions };
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    validation: 'report',
    fetch,
    clock,
    journal,
    totalTimeout,
    gracePeriod,
    maxRetries: 0,
    ...options,
  });
  const run = <T>(call: PromiseLike<T>) =>
    clock.runTimersDuring(Promise.resolve(call), undefined, 200);
  const pay = (changes: Partial<OnceInput> = {}) =>
    run(payments.transfers.createOnce({ ...input, ...changes } as OnceInput));
  /** Pays, and loses the response of a request that had an effect, or none. */
  const leaveInDoubt = async (
    when: 'before_commit' | 'after_commit' = 'after_commit',
    changes: Partial<OnceInput> = {},
  ) => {
    sandbox.faults.add({ operation: 'transfers.create', fault: { kind: 'reset', when } });
    isListDown = true;
    await inDoubtErrorOf(pay(changes));
    isListDown = false;
  };
  const payOthers = async (count: number, ms: number, amount = '1.00') => {
    for (let at = 0; at < count; at += 1) {
      await clock.advance(ms);
      sandbox.transfers.create({ ...input, amount, description: `other ${at}` });
    }
  };
  const made = () =>
    sandbox.transfers.list().filter((each) => each.description === input.description);
  /** Sets this machine's clock, which the journal uses, too, ahead of the true time. */
  const shiftMachine = (ms: number): void => {
    clock.shiftWall(ms + trueTime() - clock.now());
  };
  return {
    counts,
    clock,
    sandbox,
    journal,
    payments,
    run,
    pay,
    leaveInDoubt,
    payOthers,
    made,
    shiftMachine,
  };
}
