import { cloneInput } from '../../internal/clone.ts';
import { detailedIssuesOf, invalidArguments } from '../../calls/arguments.ts';
import { cannotSend } from '../../calls/call.ts';
import type { Clock } from '../../calls/clock.ts';
import { callOptionChecks, type RequestOptions } from '../../calls/request-options.ts';
import {
  checkOptions,
  hasFunctions,
  checkBy,
  milliseconds,
  optionalCheck,
  type OptionCheck,
  type OptionChecks,
} from '../../calls/option-checks.ts';
import { ValidationError, type CallIdentity, type Issue } from '../../errors/errors.ts';
import type { Journal } from '../../journals/journal.ts';
import {
  isTransferId,
  type OnceInput,
  type Transfer,
  type TransferCreated,
  type TransferCreateInput,
  type TransferId,
} from '../../schemas/transfer.ts';
import type { OnceSettings } from './guarded-journal.ts';
import { Payment, type PaymentApi, type SendPayment } from './payment.ts';
import type { Reconciliation } from './reconcile.ts';
import { isReference, referenceRule } from './reference.ts';

/** Options of `transfers.createOnce`. */
export interface OnceOptions extends RequestOptions {
  /** Where the call records what it is about to do. Default: the client's. */
  journal?: Journal | undefined;
  /**
   * How long after its deadline a request may still take effect and appear in the list, in
   * milliseconds. Default: the client's.
   */
  gracePeriod?: number | undefined;
}

/** Options of `transfers.resolveOnce`. */
export interface ResolveOptions extends OnceOptions {
  /** Who decides; kept in the journal's entry. */
  by?: string | undefined;
  /**
   * Accepts `'not_paid'` before the claim has expired, although the list shows the payment, and for
   * an entry of another platform. @default false
   */
  force?: boolean | undefined;
}

/** The client's defaults of every such call. */
export interface OnceDefaults {
  readonly journal: Journal | undefined;
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly baseUrl: string;
  readonly clock: Required<Clock>;
}

/** The platform, as far as a payment made once needs it. */
export interface OnceContext extends OnceDefaults, Pick<OnceSettings, 'api'> {
  readonly transfers: {
    reconcile(input: TransferCreateInput, options: RequestOptions): Promise<Reconciliation>;
    get(id: TransferId, options: RequestOptions): Promise<Transfer>;
  };
  /** Throws what `create` would throw before it sends; the result sends. */
  prepareCreate(
    input: TransferCreateInput,
    options: RequestOptions | undefined,
    idempotencyKey: string | undefined,
  ): SendPayment;
}

const createCall: CallIdentity = {
  operation: 'transfers.createOnce',
  method: 'POST',
  path: '/transfers',
};
const resolveCall: CallIdentity = {
  operation: 'transfers.resolveOnce',
  method: 'GET',
  path: '/transfers/{id}',
};

export const journalCheck = (): OptionCheck =>
  optionalCheck('a journal, such as sqliteJournal(path)', (value) =>
    hasFunctions(value, ['read', 'swap', 'now']),
  );

const onceOptionChecks = (): OptionChecks<OnceOptions> => ({
  journal: journalCheck(),
  gracePeriod: milliseconds,
  ...callOptionChecks(),
});

const resolveOptionChecks = (): OptionChecks<ResolveOptions> => ({
  by: optionalCheck('a name', (value) => typeof value === 'string' && value !== ''),
  force: optionalCheck('true or false', (value) => typeof value === 'boolean'),
  ...onceOptionChecks(),
});

const checkReference = checkBy((value) => (isReference(value) ? undefined : referenceRule));
const checkVerdict = checkBy((value) =>
  value === 'not_paid' || isTransferId(value)
    ? undefined
    : { expected: `the id of a Transfer, or 'not_paid'` },
);

/** Makes a payment once. */
export async function createOnce(
  context: OnceContext,
  givenInput: OnceInput,
  options: OnceOptions | undefined,
): Promise<TransferCreated> {
  // The caller may use the object for the next payment while this one is made.
  const input = cloneInput(givenInput);
  const issues: Issue[] = [];
  const { journal, gracePeriod, ...callOptions } = checkOptions(onceOptionChecks, options, issues);
  const hasValidOptions = issues.length === 0;
  const reference = (input as Partial<OnceInput> | undefined)?.description;
  checkReference(reference, 'description', issues);
  let send: SendPayment | undefined;
  try {
    const idempotencyKey = isReference(reference) ? reference : undefined;
    send = context.prepareCreate(input, hasValidOptions ? callOptions : undefined, idempotencyKey);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    // The rule of a reference says all that the rule of a description does.
    issues.push(
      ...detailedIssuesOf(error).filter(
        ({ path }) => path !== 'description' || isReference(reference),
      ),
    );
  }
  if (send === undefined || issues.length > 0) {
    throw invalidArguments(createCall, issues, context.api.redact);
  }
  const settings = settingsOf(context, createCall, { ...callOptions, journal, gracePeriod });
  const payment = new Payment(apiOf(context, callOptions), input.description, settings);
  return await payment.make(input, send);
}

/** Records an operator's decision on a payment. */
export async function resolveOnce(
  context: OnceContext,
  reference: string,
  verdict: TransferId | 'not_paid',
  options: ResolveOptions | undefined,
): Promise<void> {
  const issues: Issue[] = [];
  const { journal, gracePeriod, by, force, ...callOptions } = checkOptions(
    resolveOptionChecks,
    options,
    issues,
  );
  checkReference(reference, 'reference', issues);
  checkVerdict(verdict, 'verdict', issues);
  if (issues.length > 0) throw invalidArguments(resolveCall, issues, context.api.redact);
  const settings = settingsOf(context, resolveCall, { ...callOptions, journal, gracePeriod });
  const payment = new Payment(apiOf(context, callOptions), reference, settings);
  await payment.resolve(verdict, { by, force });
}

function apiOf(context: OnceContext, callOptions: RequestOptions): PaymentApi {
  // Extra fields are meant for the creation.
  const readOptions = { ...callOptions, query: undefined, body: undefined };
  return {
    search: (input, signal) => context.transfers.reconcile(input, { ...readOptions, signal }),
    get: (id) => context.transfers.get(id, readOptions),
  };
}

/** The options of the call over the client's. */
function settingsOf(context: OnceContext, call: CallIdentity, options: OnceOptions): OnceSettings {
  const { journal = context.journal, signal } = options;
  if (journal === undefined) {
    throw cannotSend(
      call,
      'needs a journal; this client has none',
      'Pass the option journal: sqliteJournal, postgresJournal, redisJournal or, for tests, memoryJournal, from payments-platform-sdk/journals.',
    );
  }
  const { gracePeriod = context.gracePeriod, totalTimeout = context.totalTimeout } = options;
  return { ...context, call, journal, signal, gracePeriod, totalTimeout };
}
