import {
  AbortError,
  ApiError,
  decorate,
  PaymentsError,
  ValidationError,
  type CallIdentity,
} from '../errors/errors.ts';
import { createError, reattribute } from '../errors/message.ts';
import { warn } from '../internal/runtime.ts';
import { countOf, oneLine } from '../internal/text.ts';
import type { Redact } from '../errors/redact.ts';
import type { TransferSearch } from '../search/search.ts';

/** The limit of account ids in one message. The error's field `errors` has all of them. */
const maxNames = 10;

interface Context {
  readonly transferSearch: TransferSearch;
  readonly redact: Redact;
}

/**
 * The accounts whose transfers could not be read. Each is reported on stderr at once, and one error
 * for all of them is thrown after the other accounts were read.
 */
export class FailedAccounts {
  readonly #context: Context;
  readonly #call: CallIdentity;
  readonly startedAt: string;
  readonly #errors: PaymentsError[] = [];

  constructor(context: Context, call: CallIdentity) {
    this.#context = context;
    this.#call = call;
    this.startedAt = this.#now();
  }

  add(source: string, error: PaymentsError): void {
    const accountId = this.#context.redact(source);
    const [problem = ''] = error.message.split('\n');
    // The time makes each line unique, because `warn` prints no text twice.
    warn(
      `payments-platform-sdk: ${this.#now()} ${this.#method} could not read account ${accountId} and goes on with the others. ${oneLine(problem)}`,
    );
    const what = `The transfers of account ${accountId} could not be read`;
    const { retryable } = error;
    const facts = { operation: this.#call.operation, retryable, startedAt: this.startedAt };
    reattribute(error, { what }, { ...facts, outcome: 'unknown' });
    this.#errors.push(decorate(error, { accountId }));
  }

  throwIfAny(): void {
    const errors = this.#errors;
    if (errors.length === 0) return;
    const names = errors.slice(0, maxNames).map(({ accountId }) => accountId);
    const more = errors.length > maxNames ? ` and ${errors.length - maxNames} more` : '';
    const what = `The transfers of ${countOf(errors.length, 'account')} could not be read: ${names.join(', ')}${more}`;
    const hint = `All other accounts were read. Call ${this.#method} again: it sends no payment`;
    const waits = errors.map(({ retryAfterMs = 0 }) => retryAfterMs);
    const error = createError(
      PaymentsError,
      { what, hint, notes: errors.slice(0, maxNames).map(({ message }) => message) },
      {
        ...this.#call,
        outcome: 'unknown',
        retryable: errors.every(({ retryable }) => retryable),
        startedAt: this.startedAt,
        ...(Math.max(...waits) > 0 && { retryAfterMs: Math.max(...waits) }),
      },
    );
    throw decorate(error, { errors });
  }

  get #method(): string {
    return this.#call.operation.replace('transfers.', '');
  }

  #now = (): string => new Date(this.#context.transferSearch.now()).toISOString();
}

/** Returns an error that concerns only the account that was read. Throws any other error. */
export function requireOfOneAccount(error: unknown): PaymentsError {
  const concernsAll =
    !(error instanceof PaymentsError) ||
    error instanceof AbortError ||
    error instanceof ValidationError ||
    // A 401 concerns every account, because the accounts are read with one credential.
    (error instanceof ApiError && error.status === 401);
  if (concernsAll) throw error;
  return error;
}
