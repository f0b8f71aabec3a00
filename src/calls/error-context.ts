import type { Attempt, CallIdentity, ErrorFacts, Outcome } from '../errors/errors.ts';
import type { Kind } from '../errors/outcome.ts';

/** What an error tells of the call it ends. */
export interface ErrorContext extends CallIdentity {
  readonly kind: Kind;
  /** What may have happened, and how to find out: for a write whose outcome is unknown. */
  readonly ifUnknown: string;
  readonly attempts: readonly Attempt[];
  readonly outcome: Outcome;
  readonly startedAt: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Why the call was not sent again although the failure might pass. */
  readonly gaveUp: string | undefined;
}

/** What every error that ends a call has. */
export const factsOf = (context: ErrorContext, transient: boolean): ErrorFacts => ({
  outcome: context.outcome,
  operation: context.operation,
  method: context.method,
  path: context.path,
  attempts: context.attempts,
  // A creation whose outcome is unknown must not be sent again, by us or by the caller.
  retryable: transient && !(context.kind === 'once' && context.outcome === 'unknown'),
  startedAt: context.startedAt,
  idempotencyKey: context.idempotencyKey,
});

/** A sentence, then what was asked, then what to do. */
export function composeMessage(
  sentence: string,
  context: ErrorContext,
  remedy: string,
  requestId?: string,
): string {
  const count = context.attempts.length;
  const asked = [
    `${context.method} ${context.path} (${context.operation})`,
    ...(count > 1 ? [`${count} attempts`] : []),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ].join(', ');
  const consequence =
    context.kind === 'safe'
      ? ''
      : context.outcome === 'unknown'
        ? `Outcome unknown: ${context.ifUnknown}${context.startedAt === undefined ? '' : ` This call began at ${context.startedAt}.`}`
        : context.outcome === 'rejected'
          ? 'It did not take effect.'
          : 'Nothing was sent.';
  return [sentence, `Request: ${asked}.`, remedy, context.gaveUp ?? '', consequence]
    .filter((part) => part !== '')
    .join('\n');
}
