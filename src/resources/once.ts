import { invalidArguments } from '../calls/arguments.ts';
import { cannotSend } from '../calls/call.ts';
import type { Clock } from '../calls/clock.ts';
import { callOptionsRules, copied, type RequestOptions } from '../calls/request-options.ts';
import {
  checkOptions,
  hasFunctions,
  judged,
  milliseconds,
  ruled,
  type Rule,
  type Rules,
} from '../calls/rules.ts';
import { ValidationError, type CallIdentity, type Issue } from '../errors/errors.ts';
import type { Journal, JournalEntry } from '../journals/journal.ts';
import type { AccountId } from '../schemas/account.ts';
import {
  isTransferId,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferId,
} from '../schemas/transfer.ts';
import { isAnother } from './compare-transfer.ts';
import { GuardedJournal, soon, type OnceSettings } from './guarded-journal.ts';
import { Payment, type OnceApi, type OnceInput } from './payment.ts';
import type { Reconciliation } from './reconcile.ts';

/** Options of `transfers.createOnce` and `transfers.resolveOnce`. */
export interface OnceOptions extends RequestOptions {
  /** Where the call writes down what it is about to do. Default: the client's. */
  journal?: Journal | undefined;
  /**
   * How long a request that has left may still take effect and appear in the list, in milliseconds.
   * Default: the client's.
   */
  gracePeriod?: number | undefined;
}

/** What the client says of every such call. */
export interface OnceDefaults {
  readonly journal: Journal | undefined;
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly clock: Required<Clock>;
}

/** The platform, as far as a payment made once needs it. */
export interface OnceWays extends OnceDefaults, Pick<OnceSettings, 'api'> {
  readonly transfers: {
    reconcile(input: TransferCreateInput, options: RequestOptions): Promise<Reconciliation>;
    get(id: TransferId, options: RequestOptions): Promise<Transfer>;
  };
  /** Throws what `create` would before it sends; what it returns sends. */
  ready(input: TransferCreateInput, options: RequestOptions | undefined): OnceApi['create'];
}

const creating: CallIdentity = {
  operation: 'transfers.createOnce',
  method: 'POST',
  path: '/transfers',
};
const settling: CallIdentity = {
  operation: 'transfers.resolveOnce',
  method: 'GET',
  path: '/transfers/{id}',
};

export const journalRule = (): Rule =>
  ruled('expected a journal, such as sqliteJournal(path)', (value) =>
    hasFunctions(value, ['read', 'swap', 'now']),
  );

const onceOptionsRules = (): Rules<OnceOptions> => ({
  journal: journalRule(),
  gracePeriod: milliseconds,
  ...callOptionsRules(),
});

/** A reference that a platform which keeps only letters and digits still shows. */
const isReference = (value: unknown): value is string =>
  typeof value === 'string' && /[\p{L}\p{N}]/u.test(value);
const referenceRule =
  'expected a reference of this payment alone. Say the same one at every try, with a letter or digit: another one pays again';

/** Makes a payment once. */
export async function createOnce(
  ways: OnceWays,
  wanted: OnceInput,
  options: OnceOptions | undefined,
): Promise<TransferCreated> {
  // The caller may use his object for the next payment while this one is made.
  const input = copied(wanted);
  const issues: Issue[] = [];
  const { journal, gracePeriod, ...own } = checkOptions(onceOptionsRules, options, issues);
  let create: OnceApi['create'] | undefined;
  try {
    create = ways.ready(input, issues.length === 0 ? own : undefined);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues);
  }
  const reference = (input as Partial<OnceInput> | undefined)?.description;
  if (!isReference(reference)) {
    judged(() => referenceRule)(reference, 'description', issues);
  }
  if (create === undefined || issues.length > 0) {
    throw invalidArguments(creating, issues, ways.api.redact);
  }
  // What is said of the request in particular is not said of the looks.
  const reading = { ...own, query: undefined, body: undefined };
  const api: OnceApi = {
    create,
    look: (signal) => ways.transfers.reconcile(input, { ...reading, signal }),
    get: (id) => ways.transfers.get(id, reading),
  };
  const settings = settingsOf(ways, creating, { ...own, journal, gracePeriod });
  return await new Payment(api, input, settings).make();
}

/** A person's word on a payment that nobody else can decide. */
export async function resolveOnce(
  ways: OnceWays,
  reference: string,
  verdict: TransferId | 'not_paid',
  options: OnceOptions | undefined,
): Promise<void> {
  const issues: Issue[] = [];
  const { journal: given, gracePeriod, ...own } = checkOptions(onceOptionsRules, options, issues);
  if (!isReference(reference)) judged(() => referenceRule)(reference, 'reference', issues);
  if (verdict !== 'not_paid' && !isTransferId(verdict)) {
    judged(() => `expected the id of a Transfer, or 'not_paid'`)(verdict, 'verdict', issues);
  }
  if (issues.length > 0) throw invalidArguments(settling, issues, ways.api.redact);
  const settings = settingsOf(ways, settling, { ...own, journal: given, gracePeriod });
  const journal = new GuardedJournal(reference, settings);
  try {
    const before = await journal.read();
    if (before?.state === 'paid') {
      if (before.transferId === verdict) return;
      throw journal.inDoubtError('conflict', `The payment was made (${before.transferId})`);
    }
    let after: JournalEntry;
    if (verdict === 'not_paid') {
      if (before?.state !== 'sending') return;
      after = { state: verdict, input: before.input };
    } else {
      // An id that does not exist, or is another payment's, would hide this one for ever.
      const transfer = await ways.transfers.get(verdict, own);
      const input = before?.input ?? { ...inputOf(transfer), description: reference };
      if (isAnother(transfer, input)) {
        throw journal.inDoubtError(
          'conflict',
          `${verdict} is another payment, by its terms and description`,
        );
      }
      after = { state: 'paid', transferId: verdict, input };
    }
    if (await journal.swap(before, after)) return;
    throw journal.inProgress(soon);
  } finally {
    journal.close();
  }
}

/** What would have made a Transfer. */
const inputOf = (transfer: Transfer): TransferCreateInput => {
  const { sourceAccountId, destinationAccountId, counterpartyId, amount, currency } = transfer;
  const terms = { sourceAccountId, amount, currency };
  return counterpartyId
    ? { ...terms, counterpartyId }
    : { ...terms, destinationAccountId: destinationAccountId as AccountId };
};

/** The options of the call over the client's. */
function settingsOf(ways: OnceWays, call: CallIdentity, options: OnceOptions): OnceSettings {
  const { journal = ways.journal, signal } = options;
  if (journal === undefined) {
    throw cannotSend(
      call,
      'needs a journal; this client was given none.\nPass the option journal: sqliteJournal, postgresJournal, redisJournal or, for tests, memoryJournal, from payments-platform-sdk/journals.',
    );
  }
  const { gracePeriod = ways.gracePeriod, totalTimeout = ways.totalTimeout } = options;
  return { ...ways, call, journal, signal, gracePeriod, totalTimeout };
}
