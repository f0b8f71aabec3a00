import { invalidArguments } from '../calls/arguments.ts';
import type { Clock } from '../calls/clock.ts';
import { Deadline, Stopped } from '../calls/deadline.ts';
import { callOptionsRules, copied, type RequestOptions } from '../calls/request-options.ts';
import {
  checkOptions,
  hasFunctions,
  milliseconds,
  ruled,
  type Rule,
  type Rules,
} from '../calls/rules.ts';
import {
  AbortError,
  ConfigurationError,
  TimeoutError,
  ValidationError,
  type CallIdentity,
  type Issue,
  type UnsettledReason,
} from '../errors/errors.ts';
import type { Redact } from '../errors/redact.ts';
import type { Journal } from '../journals/journal.ts';
import type { AccountId } from '../schemas/account.ts';
import { isPlain } from '../schemas/primitives.ts';
import {
  isTransferId,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferId,
} from '../schemas/transfer.ts';
import { GuardedJournal, unsettled, type OnceSettings } from './guarded-journal.ts';
import { payOnce, type OnceInput } from './payment.ts';
import type { Reconciliation } from './reconcile.ts';

/** Options of `transfers.createOnce` and `transfers.settleOnce`. */
export interface OnceOptions extends RequestOptions {
  /** Where the call writes down what it is about to do. Default: the client's. */
  journal?: Journal | undefined;
  /**
   * How long a request that has left may still take effect and appear in the list, in milliseconds.
   * Default: the client's.
   */
  settle?: number | undefined;
}

/** What the client says of every such call. */
export interface OnceDefaults {
  readonly journal: Journal | undefined;
  readonly settle: number;
  readonly totalTimeout: number;
}

/** The platform, as far as a payment made once needs it. */
export interface OnceWays {
  readonly clock: Required<Clock>;
  readonly defaults: OnceDefaults;
  readonly redact: Redact;
  readonly redactOwn: Redact;
  /** Throws what `create` would before it sends. */
  check(input: TransferCreateInput, options: RequestOptions): void;
  create(
    input: TransferCreateInput,
    options: RequestOptions,
    notAfter: number,
  ): Promise<TransferCreated>;
  reconcile(input: TransferCreateInput, options: RequestOptions): Promise<Reconciliation>;
  get(id: TransferId, options: RequestOptions): Promise<Transfer>;
}

const creating: CallIdentity = {
  operation: 'transfers.createOnce',
  method: 'POST',
  path: '/transfers',
};
const settling: CallIdentity = {
  operation: 'transfers.settleOnce',
  method: 'GET',
  path: '/transfers/{id}',
};

export const journalRule = (): Rule =>
  ruled('expected a journal, such as sqliteJournal(path)', (value) =>
    hasFunctions(value, ['read', 'swap', 'now']),
  );

const onceOptionsRules = (): Rules<OnceOptions> => ({
  journal: journalRule(),
  settle: milliseconds,
  ...callOptionsRules(),
});

/** A reference that a platform which keeps only letters and digits still shows. */
const isReference = (value: unknown): value is string =>
  typeof value === 'string' && /[\p{L}\p{N}]/u.test(value);
const referenceRule =
  'expected a reference with a letter or digit, which no other payment ever has';

/** Makes a payment once. */
export async function createOnce(
  ways: OnceWays,
  wanted: OnceInput,
  options: OnceOptions | undefined,
): Promise<TransferCreated> {
  // The caller may use his object for the next payment while this one is made.
  const input = copied(wanted);
  const issues: Issue[] = [];
  const { journal, settle, ...given } = checkOptions(onceOptionsRules, options, issues);
  const own = copied(given);
  const wrong = issues.length;
  try {
    ways.check(input, own);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues.filter(({ path }) => wrong === 0 || !path.startsWith('options')));
  }
  if (!isReference(isPlain(input) && input.description) && !issues.some(isOfDescription)) {
    issues.push({ path: 'description', message: referenceRule });
  }
  if (issues.length > 0) throw invalidArguments(creating, issues, ways.redact);
  // What is said of the request in particular is not said of the looks.
  const { query: _, body: __, ...reading } = own;
  const settings = settingsOf(ways, creating, { ...own, journal, settle });
  return await payOnce(
    {
      create: (left, notAfter) =>
        // What is no time at all is no valid option; `notAfter` keeps it from being sent.
        ways.create(input, { ...own, totalTimeout: Math.max(left, 1) }, notAfter),
      look: () => looked(ways, input, reading, settings),
      get: (id) => ways.get(id, reading),
    },
    input,
    settings,
  );
}

const isOfDescription = ({ path }: Issue): boolean => path === 'description';

/** Looks for the Transfer, all of it within `totalTimeout`. */
async function looked(
  ways: OnceWays,
  input: TransferCreateInput,
  reading: RequestOptions,
  { clock, totalTimeout, startedAt }: OnceSettings,
): Promise<Reconciliation> {
  const deadline = new Deadline(clock, totalTimeout, 'total', { signals: [reading.signal] });
  try {
    return await deadline.race(ways.reconcile(input, { ...reading, signal: deadline.signal }));
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const facts = { ...creating, outcome: 'unknown', startedAt } as const;
    if (error.why.by === 'caller') {
      throw new AbortError('The search was aborted.', { ...facts, cause: error.why.reason });
    }
    const sentence = `The list was not searched within ${totalTimeout} ms (totalTimeout).`;
    throw new TimeoutError(sentence, { ...facts, phase: 'total' });
  } finally {
    deadline.close();
  }
}

/** A person's word on a payment that nobody else can decide. */
export async function settleOnce(
  ways: OnceWays,
  reference: string,
  verdict: TransferId | 'not_paid',
  options: OnceOptions | undefined,
): Promise<void> {
  const issues: Issue[] = [];
  const { journal: given, settle, ...own } = checkOptions(onceOptionsRules, options, issues);
  if (!isReference(reference)) issues.push({ path: 'reference', message: referenceRule });
  if (verdict !== 'not_paid' && !isTransferId(verdict)) {
    issues.push({ path: 'verdict', message: `expected the id of a Transfer, or 'not_paid'` });
  }
  if (issues.length > 0) throw invalidArguments(settling, issues, ways.redact);
  const settings = settingsOf(ways, settling, { ...own, journal: given, settle });
  const journal = new GuardedJournal(reference, settings);
  const refused = (reason: UnsettledReason, sentence: string, retryAfterMs?: number): Error =>
    unsettled(settings, reference, reason, sentence, { retryAfterMs });
  try {
    const before = await journal.read(reference);
    if (before?.state === 'paid') {
      if (before.transferId === verdict) return;
      throw refused(
        'conflict',
        `The journal has it that this payment was made (${before.transferId})`,
      );
    }
    if (verdict !== 'not_paid') {
      // An id that does not exist, or is another's, would hide the payment for ever.
      const transfer = await ways.get(verdict, own);
      const input = before?.input ?? inputOf(transfer, reference);
      const paid = { state: 'paid', transferId: transfer.id, input } as const;
      if (await journal.swap(before, paid)) return;
    } else {
      if (before === undefined || before.state === 'not_paid') return;
      const { input } = before;
      if (await journal.swap(before, { state: 'not_paid', input })) return;
    }
    throw refused('in_progress', 'Another call has changed the entry meanwhile', 1_000);
  } finally {
    journal.close();
  }
}

/** What would have made a Transfer. */
const inputOf = (
  { sourceAccountId, destinationAccountId, counterpartyId, amount, currency }: Transfer,
  description: string,
): TransferCreateInput => {
  const terms = { sourceAccountId, amount, currency, description };
  return counterpartyId
    ? { ...terms, counterpartyId }
    : { ...terms, destinationAccountId: destinationAccountId as AccountId };
};

/** The options of the call over the client's. */
function settingsOf(
  { clock, defaults, redact, redactOwn }: OnceWays,
  call: CallIdentity,
  options: OnceOptions,
): OnceSettings {
  const { journal = defaults.journal, settle, totalTimeout, signal } = options;
  if (journal === undefined) {
    throw new ConfigurationError(
      `${call.operation} needs the option journal: sqliteJournal(path), postgresJournal(query), redisJournal(command) or, for tests, memoryJournal(), from payments-platform-sdk/journals.`,
      { ...call, outcome: 'not_sent' },
    );
  }
  return {
    journal,
    settle: settle ?? defaults.settle,
    totalTimeout: totalTimeout ?? defaults.totalTimeout,
    signal,
    clock,
    call,
    startedAt: new Date(clock.now()).toISOString(),
    redact,
    redactOwn,
  };
}
