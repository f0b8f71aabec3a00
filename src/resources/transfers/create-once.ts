import { cloneInput } from '../../internal/clone.ts';
import { detailedIssuesOf, invalidArguments } from '../../calls/arguments.ts';
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
  type TransferCreated,
  type TransferId,
} from '../../schemas/transfer.ts';
import { creationCall } from './creation-call.ts';
import type { OnceContext } from './once-context.ts';
import { Payment, type SendPayment } from './payment.ts';
import { isReference, referenceProblem } from '../../internal/reference.ts';

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

/** The names of the options of `create` and `createOnce`. */
export const onceOptionNames = (): string[] => Object.keys(onceOptionChecks());

const resolveOptionChecks = (): OptionChecks<ResolveOptions> => ({
  by: optionalCheck('a name', (value) => typeof value === 'string' && value !== ''),
  force: optionalCheck('true or false', (value) => typeof value === 'boolean'),
  ...onceOptionChecks(),
});

const checkReference = /* @__PURE__ */ checkBy((value) =>
  isReference(value) ? undefined : referenceProblem,
);
const checkVerdict = /* @__PURE__ */ checkBy((value) =>
  value === 'not_paid' || isTransferId(value)
    ? undefined
    : { expected: `the id of a Transfer, or 'not_paid'` },
);

/** Makes a payment once. */
export async function createOnce(
  context: OnceContext,
  callerInput: OnceInput,
  options: OnceOptions | undefined,
): Promise<TransferCreated> {
  // The caller may use the object for the next payment while this one is made.
  const input = cloneInput(callerInput);
  const issues: Issue[] = [];
  const { journal, gracePeriod, ...callOptions } = checkOptions(onceOptionChecks, options, issues);
  const hasValidOptions = issues.length === 0;
  const reference = (input as Partial<OnceInput> | undefined)?.description;
  checkReference(reference, 'description', issues);
  let send: SendPayment | undefined;
  try {
    const idempotencyKey = isReference(reference) ? reference : undefined;
    send = prepareSend(context, input, hasValidOptions ? callOptions : undefined, idempotencyKey);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    // The check of the reference includes that of the description.
    issues.push(
      ...detailedIssuesOf(error).filter(
        ({ path }) => path !== 'description' || isReference(reference),
      ),
    );
  }
  if (send === undefined || issues.length > 0) {
    throw invalidArguments(createCall, issues, context.pipeline.redact);
  }
  const onceOptions = { ...callOptions, journal, gracePeriod };
  const payment = new Payment(createCall, input.description, applyOptions(context, onceOptions));
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
  const { by, force, ...onceOptions } = checkOptions(resolveOptionChecks, options, issues);
  checkReference(reference, 'reference', issues);
  checkVerdict(verdict, 'verdict', issues);
  if (issues.length > 0) throw invalidArguments(resolveCall, issues, context.pipeline.redact);
  const payment = new Payment(resolveCall, reference, applyOptions(context, onceOptions));
  await payment.resolve(verdict, { by, force });
}

/** Checks the creation before anything is sent; returns the function that sends it. */
function prepareSend(
  { pipeline }: OnceContext,
  input: OnceInput,
  options: RequestOptions | undefined,
  idempotencyKey: string | undefined,
): SendPayment {
  const ifUnknown = 'the transfer may have taken effect. Call createOnce again to find out.';
  const optionNames = onceOptionNames;
  const call = { ...creationCall(input), ifUnknown, idempotencyKey, optionNames };
  const prepared = pipeline.check(call, options);
  return (totalTimeout, notAfter) => {
    const callOptions = { ...prepared.options, totalTimeout };
    const sentCall = { ...call, notAfter, prepared: { ...prepared, options: callOptions } };
    return pipeline.call(sentCall, undefined);
  };
}

/** The options of the call over the client's. */
function applyOptions(
  context: OnceContext,
  { journal, gracePeriod, ...callOptions }: OnceOptions,
): OnceContext {
  // Extra fields are meant for the creation.
  const readOptions = { ...callOptions, query: undefined, body: undefined };
  return {
    ...context,
    journal: journal ?? context.journal,
    gracePeriod: gracePeriod ?? context.gracePeriod,
    totalTimeout: callOptions.totalTimeout ?? context.totalTimeout,
    signal: callOptions.signal,
    search: (input, options) => context.search(input, { ...readOptions, ...options }),
    get: (id) => context.get(id, readOptions),
  };
}
