import type { Clock } from '../calls/time.ts';
import { isOutcomeUnknown } from '../errors/errors.ts';
import type { Redact } from '../errors/redact.ts';
import { doubtKey, forgetDoubt, openRegistry, type Doubt } from '../internal/doubt-registry.ts';
import { isReference } from '../internal/formats.ts';
import { warn } from '../internal/runtime.ts';
import { termsOf } from '../internal/terms.ts';
import { fieldOf } from '../internal/thrown.ts';
import type { TransferCreateInput } from '../schemas/transfer.ts';
import type { Terms } from './entries.ts';

/*
 * Remembers the payments that this process is making or has left in doubt. A `create` with such a
 * reference is rejected, and a payment with the terms of a payment in doubt prints a warning.
 */

/** The most payments to remember. If there are more, the oldest are forgotten. */
const maxPayments = 10_000;

/** Returns what is remembered of a payment. If nothing is, begins to remember the payment. */
function openDoubt(key: string, known: Pick<Doubt, 'reference' | 'keptBy' | 'batch'>): Doubt {
  const { payments } = openRegistry();
  const doubt = payments.get(key) ?? {
    key,
    ...known,
    calls: 0,
    requests: 0,
    isInDoubt: false,
    termsKey: undefined,
    retryAt: 0,
    earlyCalls: 0,
    isSaid: false,
  };
  doubt.batch = known.batch;
  payments.set(key, doubt);
  const [oldest] = payments.values();
  if (payments.size > maxPayments && oldest !== undefined) forgetDoubt(oldest);
  return doubt;
}

function addToTerms(doubt: Doubt, platform: string, input: TransferCreateInput): void {
  const { inDoubt } = openRegistry();
  doubt.termsKey ??= termsOf(platform, input);
  inDoubt.set(doubt.termsKey, (inDoubt.get(doubt.termsKey) ?? new Set()).add(doubt));
}

/** Remembers a `create` that may have paid, because a retry library may send the payment again. */
export function addCreation(
  platform: string,
  input: TransferCreateInput,
  redact: Redact,
  now: number,
): void {
  const reference = redact(input.description ?? '');
  // The key is random, because `create` has no reference to find it by. References' keys have no capitals.
  const key = `${platform} CREATE ${Math.random()}`;
  const doubt = openDoubt(key, { reference, keptBy: 'nothing', batch: undefined });
  doubt.isInDoubt = true;
  doubt.endedAt = now;
  addToTerms(doubt, platform, input);
}

/** Forgets each `create` with these terms that ended by `before`, because a search has decided its payment. */
export function forgetCreations(
  platform: string,
  input: TransferCreateInput,
  before: number,
): void {
  for (const doubt of openRegistry().inDoubt.get(termsOf(platform, input)) ?? []) {
    if ((doubt.endedAt ?? Number.POSITIVE_INFINITY) <= before) forgetDoubt(doubt);
  }
}

/** What one call of createOnce adds to what the process remembers of its payment. */
export class CallDoubt {
  readonly #doubt: Doubt;
  readonly #terms: Terms;
  readonly #clock: Pick<Required<Clock>, 'elapsed'>;
  #mayHavePaid = false;
  #isSending = false;

  constructor(
    terms: Terms,
    redact: Redact,
    clock: Pick<Required<Clock>, 'elapsed'>,
    isInMemory = false,
    batch?: symbol,
  ) {
    const { platform, input } = terms;
    const doubt = openDoubt(doubtKey(platform, input.description), {
      reference: redact(input.description),
      keptBy: isInMemory ? 'memory' : 'journal',
      batch,
    });
    doubt.calls += 1;
    if (clock.elapsed() < doubt.retryAt) {
      doubt.earlyCalls += 1;
      if (doubt.earlyCalls === 3) warn(tooEarly);
    }
    this.#doubt = doubt;
    this.#terms = terms;
    this.#clock = clock;
  }

  /** Notes that a request may have paid: that of this call, or that of a claim in the journal. */
  addClaim(): void {
    this.#mayHavePaid = true;
  }

  /** Notes that the call begins to send the payment. */
  addRequest(): void {
    this.#isSending = true;
    this.#doubt.requests += 1;
  }

  /** Ends the call. Without `error` the payment was made, so it is forgotten. */
  end(error?: unknown): void {
    const doubt = this.#doubt;
    doubt.calls -= 1;
    if (this.#isSending) doubt.requests -= 1;
    if (error !== undefined && isOutcomeUnknown(error)) {
      doubt.isInDoubt = true;
      doubt.retryAt = this.#clock.elapsed() + Number(fieldOf(error, 'retryAfterMs') ?? 0);
      // Another call may have found out meanwhile that the payment was made.
      const isOpen = openRegistry().payments.get(doubt.key) === doubt;
      if (this.#mayHavePaid && isOpen) addToTerms(doubt, this.#terms.platform, this.#terms.input);
      return;
    }
    // A certain failure of one call proves nothing about the requests of other calls.
    if (error === undefined || (doubt.calls === 0 && !doubt.isInDoubt)) forgetDoubt(doubt);
  }
}

/** Forgets a payment that an operator has decided. If a call is making the payment, only the doubt ends. */
export function forgetPayment(platform: string, reference: string): void {
  const doubt = openRegistry().payments.get(doubtKey(platform, reference));
  if (doubt === undefined) return;
  doubt.isInDoubt = false;
  if (doubt.calls === 0) forgetDoubt(doubt);
}

/** Whether this process is making the payment with a reference, or has left it in doubt. */
export const hasDoubt = (platform: string, reference: unknown): boolean =>
  typeof reference === 'string' && openRegistry().payments.has(doubtKey(platform, reference));

/** Whether an amount looks like a calculated number, such as 0.1 + 0.2: it has 16 digits or more. */
const isFloat = (amount: string): boolean =>
  /\.\d{9}/.test(amount) &&
  amount.replaceAll(/^[0.]+|\./g, '').length > 15 &&
  String(Number(amount)) === amount;

/**
 * Warns about a float amount, and once about each payment in doubt that this payment may repeat,
 * except rows of its `batch`. `isNew`: the journal has no entry of the payment.
 */
export function warnOfTerms(
  platform: string,
  input: TransferCreateInput,
  redact: Redact,
  { batch, isNew = false }: { readonly batch?: symbol | undefined; readonly isNew?: boolean } = {},
): void {
  if (isFloat(input.amount)) warn(floatWarning);
  const { inDoubt } = openRegistry();
  if (inDoubt.size === 0) return;
  const { description } = input;
  const key = doubtKey(platform, String(description));
  const name = isReference(description) ? redact(description) : 'a payment';
  const others: string[] = [];
  for (const doubt of inDoubt.get(termsOf(platform, input)) ?? []) {
    const isSame = doubt.key === key;
    const isRow = batch !== undefined && doubt.batch === batch;
    // A `create` with another description was another payment, but without a description may be this payment.
    const isOther =
      doubt.keptBy === 'nothing' && ![redact(description ?? ''), ''].includes(doubt.reference);
    if (doubt.isSaid || isOther || (isSame ? !isNew : isRow)) continue;
    doubt.isSaid = true;
    if (doubt.keptBy === 'nothing')
      warnOfCreation(doubt.reference || `a payment of ${input.amount}`);
    else if (isSame)
      warn(
        `payments-platform-sdk: ${name} is in doubt, and its journal has no claim of it: is it another journal?`,
      );
    else others.push(redact(doubt.reference));
  }
  const [first, ...more] = others;
  if (first === undefined) return;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
  warn(
    `payments-platform-sdk: ${name} is sent although ${first}${rest}, with the same terms, is in doubt. If it is a retry, both may pay: a retry keeps its reference.`,
  );
}

const warnOfCreation = (reference: string): void => {
  warn(
    `payments-platform-sdk: ${reference} is sent again although an earlier create with the same terms has an unknown outcome. If it is a retry, both may pay: createOnce pays once, and transfers.reconcile finds out.`,
  );
};
/** A loop or a retry library without a delay gives up long before the doubt ends. */
const tooEarly =
  'payments-platform-sdk: createOnce was called again three times before the retryAfterMs of its error was over. Until then nothing new can be known, and the payment may have been made.';
const floatWarning =
  'payments-platform-sdk: an amount of 16 digits or more is probably a sum or product of numbers, as 0.30000000000000004 is. Add amounts by sumAmounts, or calculate in the smallest unit.';
