import type { Attempt, CallIdentity, ErrorFacts, Outcome } from './errors.ts';
import type { Kind } from './outcome.ts';

/** What an error tells of the call it ends. */
export interface Story extends CallIdentity {
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
export const factsOf = (story: Story, transient: boolean): ErrorFacts => ({
  outcome: story.outcome,
  operation: story.operation,
  method: story.method,
  path: story.path,
  attempts: story.attempts,
  // A creation whose outcome is unknown must not be sent again, by us or by the caller.
  retryable: transient && !(story.kind === 'once' && story.outcome === 'unknown'),
  startedAt: story.startedAt,
  idempotencyKey: story.idempotencyKey,
});

/** A sentence, then what was asked, then what to do. */
export function compose(
  sentence: string,
  story: Story,
  remedy: string,
  requestId?: string,
): string {
  const count = story.attempts.length;
  const asked = [
    `${story.method} ${story.path} (${story.operation})`,
    ...(count > 1 ? [`${count} attempts`] : []),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ].join(', ');
  const consequence =
    story.kind === 'safe'
      ? ''
      : story.outcome === 'unknown'
        ? `Outcome unknown: ${story.ifUnknown}`
        : story.outcome === 'rejected'
          ? 'It did not take effect.'
          : 'Nothing was sent.';
  return [sentence, `Request: ${asked}.`, remedy, story.gaveUp ?? '', consequence]
    .filter((part) => part !== '')
    .join('\n');
}
