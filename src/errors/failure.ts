import { innermostMessageOf, oneLine } from '../internal/text.ts';
import type { Issue, Problem } from '../internal/issues.ts';
import type { InvalidResponseReason, Outcome, TimeoutPhase } from './errors.ts';
import { requestIdOf, type FailedResponse } from './failed-response.ts';
import type { Verdict } from './outcome.ts';
import { redactAndCut, type Redact } from './redact.ts';

/** Why an attempt, or the wait between two attempts, has no result. */
export type Failure =
  | RejectedFailure
  | HeldBackFailure
  | UnusableFailure
  | DisconnectedFailure
  | TimeoutFailure
  | AbortedFailure
  | NoCredentialFailure
  | UnexpectedFailure;

/** What all failures have. */
interface FailureFacts {
  /** What is proven about the attempt. */
  readonly outcome: Outcome;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  /** A few words for the log of attempts. */
  readonly reason: string;
  /** Whether the same request may succeed later. */
  readonly transient: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** The platform, or a proxy in front of it, responded with a status other than 2xx. */
export interface RejectedFailure extends FailureFacts {
  readonly type: 'rejected';
  readonly status: number;
  readonly response: FailedResponse;
  /** The JSON of the body, if it is any. */
  readonly body: unknown;
  /** Whether the body is an Error body, which only the platform writes. */
  readonly isPlatforms: boolean;
}

/** Nothing was sent, because the platform has asked this client to slow down. */
export interface HeldBackFailure extends FailureFacts {
  readonly type: 'heldBack';
  readonly retryAfterMs: number;
  readonly rejection: RejectedFailure;
}

/** A 2xx response that cannot be used. */
export interface UnusableFailure extends FailureFacts {
  readonly type: 'unusable';
  readonly status: number;
  readonly response: FailedResponse;
  readonly invalid: InvalidResponseReason;
  /** Follows the status in the message. */
  readonly explanation: string;
  readonly issues: readonly Issue[];
}

/** The connection failed before a response arrived. */
export interface DisconnectedFailure extends FailureFacts {
  readonly type: 'disconnected';
  readonly connectTimedOut: boolean;
  readonly obstacle: Verdict['obstacle'];
  /** The proxy that the environment names, with its variable. */
  readonly proxy: string | undefined;
  /** The system's code. */
  readonly code: string | undefined;
  /** The system's message. */
  readonly reported: string;
  readonly error: unknown;
}

/** The time of an attempt or of the whole call ran out. */
export interface TimeoutFailure extends FailureFacts {
  readonly type: 'timedOut';
  readonly phase: TimeoutPhase;
  readonly ms: number;
  readonly hint: string | undefined;
}

/** The caller's signal was aborted. */
export interface AbortedFailure extends FailureFacts {
  readonly type: 'aborted';
  readonly cause: unknown;
}

/** The function of an option returned no credential. */
export interface NoCredentialFailure extends FailureFacts {
  readonly type: 'noCredential';
  readonly option: string;
  readonly error: unknown;
  /** What it returned instead; undefined when it threw. */
  readonly problem: Problem | undefined;
}

/** An error that should not happen, such as one that the caller's clock throws. */
export interface UnexpectedFailure extends FailureFacts {
  readonly type: 'unexpected';
  readonly error: unknown;
}

export const rejectedFailure = (
  response: FailedResponse,
  body: unknown,
  facts: Pick<RejectedFailure, 'outcome' | 'transient' | 'retryAfterMs' | 'isPlatforms'>,
  redact: Redact,
): RejectedFailure => ({
  ...facts,
  type: 'rejected',
  status: response.status,
  requestId: requestIdOf(response.headers, redact),
  reason: `status ${response.status}`,
  response,
  body,
});

export const heldBackFailure = (rejection: RejectedFailure, ms: number): HeldBackFailure => ({
  type: 'heldBack',
  outcome: 'not_sent',
  reason: 'held back after a 429',
  transient: true,
  retryAfterMs: Math.ceil(ms),
  rejection,
});

export const unusableFailure = (
  response: FailedResponse,
  invalid: InvalidResponseReason,
  explanation: string,
  redact: Redact,
  issues: readonly Issue[] = [],
): UnusableFailure => ({
  type: 'unusable',
  outcome: 'unknown',
  status: response.status,
  requestId: requestIdOf(response.headers, redact),
  reason: `status ${response.status} with an unusable body (${invalid})`,
  // A body that was cut off is a broken connection; one that is wrong will be wrong again.
  transient: invalid === 'truncated',
  response,
  invalid,
  explanation,
  issues,
});

/** A request that did not even reach the transport will not reach it the next time. */
export function disconnectedFailure(
  error: unknown,
  verdict: Verdict,
  wasDispatched: boolean,
  redact: Redact,
  proxy: { readonly address: string; readonly variable: string } | undefined,
): DisconnectedFailure {
  const { outcome, connectTimedOut, obstacle } = verdict;
  const code = verdict.code === undefined ? undefined : oneLine(redact(verdict.code));
  const message = error instanceof Error ? innermostMessageOf(error) : '';
  const reported =
    obstacle === 'no_tls' ? 'the port does not speak TLS' : oneLine(redactAndCut(message, redact));
  const connectionFailed = ['connection failed', reported].filter(Boolean).join(': ');
  return {
    type: 'disconnected',
    outcome,
    reason: code ?? connectionFailed,
    transient: verdict.transient && wasDispatched,
    connectTimedOut,
    obstacle,
    proxy: proxy && `the proxy ${redact(proxy.address)} (environment variable ${proxy.variable})`,
    code,
    reported,
    error,
  };
}

export const timeoutFailure = (
  phase: TimeoutPhase,
  ms: number,
  facts: Partial<Pick<FailureFacts, 'outcome' | 'status' | 'requestId'>> = {},
  hint?: string,
): TimeoutFailure => ({
  outcome: 'not_sent',
  ...facts,
  type: 'timedOut',
  reason: `timeout (${phase})`,
  transient: true,
  phase,
  ms,
  hint,
});

export const abortedFailure = (
  cause: unknown,
  outcome: Outcome = 'not_sent',
  status?: number,
): AbortedFailure => ({
  type: 'aborted',
  outcome,
  status,
  reason: 'aborted by the caller',
  transient: false,
  cause,
});

export const noCredentialFailure = (
  option: string,
  error: unknown,
  problem?: Problem,
): NoCredentialFailure => ({
  type: 'noCredential',
  outcome: 'not_sent',
  reason: 'no credential',
  transient: false,
  option,
  error,
  problem,
});

/** Once an attempt has started, the call may have taken effect. */
export const unexpectedFailure = (error: unknown, hasStarted: boolean): UnexpectedFailure => ({
  type: 'unexpected',
  outcome: hasStarted ? 'unknown' : 'not_sent',
  reason: 'unexpected error',
  transient: false,
  error,
});
