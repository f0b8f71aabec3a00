import { fieldOf, messageOf } from './foreign-error.ts';
import type { Transfer } from '../schemas/transfer.ts';

/** What is known about the whole call: the worst outcome of its attempts. */
export type Outcome = 'not_sent' | 'rejected' | 'unknown';

/** One attempt of a call that failed. */
export interface Attempt {
  /** What is proven about this attempt alone. */
  readonly outcome: Outcome;
  /** The HTTP status, when an answer began to arrive. */
  readonly status?: number | undefined;
  /** The platform's id of the request, when the answer carried one. */
  readonly requestId?: string | undefined;
  /** Milliseconds from dispatch to failure. */
  readonly durationMs: number;
  /** What happened, in a few words: `status 503`, `ECONNRESET`, `timeout (headers)`. */
  readonly reason: string;
}

/** One thing that was wrong with an argument or an answer. */
export interface Issue {
  /** Where: `amount`, `actionArguments.refuelERC20.fee.token`, or empty for the whole value. */
  readonly path: string;
  /** What was expected, and what to do. */
  readonly message: string;
}

/**
 * Where a list stopped; continue with `list({ cursor, limit })`. How long a cursor stays valid is
 * not documented: docs/gaps.md, row 55.
 */
export interface ResumePoint {
  /**
   * Asks for the page that failed; on a {@link PaginationError} for the last page that arrived.
   * Undefined stands for the first page. For `transactions.list` it is the `skip`, as text.
   */
  readonly cursor: string | undefined;
  /** The page size in use; undefined when none was sent. */
  readonly limit: number | undefined;
  /**
   * Items handed out so far. On a {@link PaginationError} those of the page that `cursor` asks for
   * are among them.
   */
  readonly itemsYielded: number;
}

/** Which call an error belongs to. */
export interface CallIdentity {
  /** The SDK's name of the call, such as `transfers.create`. */
  readonly operation: string;
  readonly method: string;
  /** The path as a template, without ids: `/transfers/{id}`. Of `request`, the path as given. */
  readonly path: string;
}

/** What every error is made from. */
export interface ErrorFacts extends Partial<CallIdentity> {
  readonly outcome: Outcome;
  readonly attempts?: readonly Attempt[] | undefined;
  readonly retryable?: boolean | undefined;
  readonly startedAt?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly cause?: unknown;
}

/*
 * `instanceof` must agree between the ESM and the CommonJS copy of this package in one process, so
 * it asks for a brand on the prototype chain instead of the constructor's identity. A subclass of
 * the user's own has no brand and keeps the ordinary meaning.
 */
const brand = Symbol.for('payments-platform-sdk.error');

function brandClass(constructor: { prototype: object }, name: string): void {
  Object.defineProperty(constructor.prototype, 'name', { value: name, configurable: true });
  Object.defineProperty(constructor.prototype, brand, { value: name });
}

const ownBrand = (prototype: object): unknown =>
  Object.getOwnPropertyDescriptor(prototype, brand)?.value;

function hasBrand(value: unknown, wanted: unknown): boolean {
  for (
    let link: unknown = value;
    typeof link === 'object' && link !== null;
    link = Object.getPrototypeOf(link)
  ) {
    if (ownBrand(link) === wanted) return true;
  }
  return false;
}

/**
 * The base of every error that this package throws. `outcome` tells whether the call took effect.
 *
 * @example
 * ```ts
 * import { isOutcomeUnknown, PaymentsError } from 'payments-platform-sdk';
 *
 * try {
 *   await payments.transfers.create(input);
 * } catch (error) {
 *   if (isOutcomeUnknown(error)) console.log('look before you send again');
 *   else if (error instanceof PaymentsError) console.log('no money moved', error.outcome);
 *   else throw error;
 * }
 * ```
 */
export class PaymentsError extends Error {
  /**
   * `not_sent`: nothing reached the platform. `rejected`: the platform refused it. `unknown`: it
   * may have taken effect. The worst over all attempts.
   */
  readonly outcome: Outcome;
  /** The SDK's name of the call, such as `transfers.create`; absent when no call was involved. */
  readonly operation: string | undefined;
  /** The HTTP method; absent when no call was involved. */
  readonly method: string | undefined;
  /** The path as a template, without ids: `/transfers/{id}`. Of `request`, the path as given. */
  readonly path: string | undefined;
  /** Every attempt, in order. */
  readonly attempts: readonly Attempt[];
  /**
   * Whether the same call may succeed later. Always false for a creation that is `unknown`; after
   * an `unknown` update or deletion, check the current state first.
   */
  readonly retryable: boolean;
  /**
   * When the call began, by this machine's clock, as ISO 8601 text: pass it to
   * `transfers.reconcile` as `since`, unless the payment was tried before. Absent if the call never
   * began; from `reconcile` itself it is the `since` of that search, 1970 if there was none.
   */
  declare readonly startedAt?: string;
  /** The key that every attempt carried; only with the option `idempotencyHeader`. */
  declare readonly idempotencyKey?: string;
  /** Where a list broke off; only on errors thrown while paging. */
  declare resume?: ResumePoint;

  static {
    brandClass(this, 'PaymentsError');
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    const wanted = ownBrand(this.prototype);
    if (wanted !== undefined) return hasBrand(value, wanted);
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }

  /** @hidden */
  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.outcome = facts.outcome;
    this.operation = facts.operation;
    this.method = facts.method;
    this.path = facts.path;
    this.attempts = Object.freeze([...(facts.attempts ?? [])]);
    this.retryable = facts.retryable ?? false;
    if (facts.startedAt !== undefined) this.startedAt = facts.startedAt;
    if (facts.idempotencyKey !== undefined) this.idempotencyKey = facts.idempotencyKey;
  }

  /** Everything that a log needs, as plain data; bigints become strings. */
  toJSON(): Record<string, unknown> {
    const { cause, ...facts } = this as PaymentsError & { cause?: unknown };
    return {
      name: this.name,
      message: this.message,
      ...(plain(facts) as Record<string, unknown>),
      ...(cause === undefined ? {} : { cause: describeCause(cause) }),
    };
  }
}

/**
 * Options or credentials cannot be used. Nothing was sent, except when a credential function fails
 * before a retry: `outcome` and `attempts` then describe the earlier attempts.
 */
export class ConfigurationError extends PaymentsError {
  static {
    brandClass(this, 'ConfigurationError');
  }
}

/**
 * An argument is invalid; `issues` says which and why. Nothing was sent. From `transfers.reconcile`
 * its `outcome` is `unknown`, because the payment is still in doubt.
 */
export class ValidationError extends PaymentsError {
  /** Everything that was wrong, not only the first. */
  readonly issues: readonly Issue[];

  static {
    brandClass(this, 'ValidationError');
  }

  /** @hidden */
  constructor(message: string, facts: ErrorFacts & { readonly issues: readonly Issue[] }) {
    super(message, facts);
    this.issues = facts.issues;
  }
}

/** What an {@link ApiError} is made from. */
export interface ApiErrorFacts extends ErrorFacts {
  readonly status: number;
  readonly code: string | undefined;
  readonly details: unknown;
  readonly requestId: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly retryAfterMs: number | undefined;
}

/** The platform answered with a status other than success. */
export class ApiError extends PaymentsError {
  /** The HTTP status. */
  readonly status: number;
  /** The platform's code, when the answer carried an Error body: docs/gaps.md, row 46. */
  readonly code: string | undefined;
  /** The platform's additional context, when the answer carried an Error body. */
  readonly details: unknown;
  /** The platform's id of the request; quote it when you contact support. */
  readonly requestId: string | undefined;
  /** The answer's headers by lower-case name, without cookies. */
  readonly headers: Readonly<Record<string, string>>;
  /** The response body as text: its first 2,048 characters, credentials redacted. */
  readonly body: string;
  /** From `Retry-After`: how long to wait, in milliseconds; undefined if not sent. */
  readonly retryAfterMs: number | undefined;

  static {
    brandClass(this, 'ApiError');
  }

  /** @hidden */
  constructor(message: string, facts: ApiErrorFacts) {
    super(message, facts);
    this.status = facts.status;
    this.code = facts.code;
    this.details = facts.details;
    this.requestId = facts.requestId;
    this.headers = facts.headers;
    this.body = facts.body;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** 400: the platform could not make sense of the request. */
export class BadRequestError extends ApiError {
  static {
    brandClass(this, 'BadRequestError');
  }
}

/** 401: the credential is missing, wrong or expired. */
export class AuthenticationError extends ApiError {
  static {
    brandClass(this, 'AuthenticationError');
  }
}

/** 403: the credential does not allow this. Scopes are not documented: docs/gaps.md, row 45. */
export class PermissionDeniedError extends ApiError {
  static {
    brandClass(this, 'PermissionDeniedError');
  }
}

/** 404: no resource with this id or path. */
export class NotFoundError extends ApiError {
  static {
    brandClass(this, 'NotFoundError');
  }
}

/** 409: the request conflicts with the current state. */
export class ConflictError extends ApiError {
  static {
    brandClass(this, 'ConflictError');
  }
}

/** 422: the request was understood and refused. */
export class UnprocessableEntityError extends ApiError {
  static {
    brandClass(this, 'UnprocessableEntityError');
  }
}

/** 429: too many requests. `retryAfterMs` is set when the platform said how long to wait. */
export class RateLimitError extends ApiError {
  static {
    brandClass(this, 'RateLimitError');
  }
}

/**
 * 500 or above: the platform, or a proxy in front of it, failed. A write may have taken effect,
 * except after 501 and 505.
 */
export class ServerError extends ApiError {
  static {
    brandClass(this, 'ServerError');
  }
}

/** The connection failed; `code` says how, `outcome` whether the request may have arrived. */
export class ConnectionError extends PaymentsError {
  /** The system's code, such as `ECONNREFUSED`, `ENOTFOUND` or `ECONNRESET`. */
  readonly code: string | undefined;

  static {
    brandClass(this, 'ConnectionError');
  }

  /** @hidden */
  constructor(message: string, facts: ErrorFacts & { readonly code?: string | undefined }) {
    super(message, facts);
    this.code = facts.code;
  }
}

/** What a call was doing when its time ran out. */
export type TimeoutPhase = 'credential' | 'connect' | 'headers' | 'body' | 'total' | 'gate';

/** A call or attempt timed out; `phase` says during what. */
export class TimeoutError extends ConnectionError {
  /**
   * `credential`: your credential function did not answer. `connect`, `headers`, `body`: one
   * attempt took longer than `timeout`, or its connection longer than the runtime allows (`code` is
   * then the runtime's, such as `UND_ERR_CONNECT_TIMEOUT`). `total`: the call took longer than
   * `totalTimeout`. `gate`: after a 429, the call would have had to wait longer than its
   * `totalTimeout`, or too many calls are waiting already.
   */
  readonly phase: TimeoutPhase;
  /** For phase `gate`: how long until calls go out again, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  static {
    brandClass(this, 'TimeoutError');
  }

  /** @hidden */
  constructor(
    message: string,
    facts: ErrorFacts & {
      readonly phase: TimeoutPhase;
      readonly code?: string | undefined;
      readonly retryAfterMs?: number | undefined;
    },
  ) {
    super(message, { ...facts, code: facts.code ?? 'ETIMEDOUT' });
    this.phase = facts.phase;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The caller's signal was aborted; `cause` is its reason. */
export class AbortError extends PaymentsError {
  static {
    brandClass(this, 'AbortError');
  }
}

/**
 * Why an answer could not be used. `truncated`: cut off; `shape`: not the documented fields;
 * `too_large`: over 16 MiB, or nested more than 64 levels deep.
 */
export type InvalidResponseReason = 'empty' | 'not_json' | 'truncated' | 'shape' | 'too_large';

/** The platform answered with 2xx, but the response cannot be used. */
export class InvalidResponseError extends PaymentsError {
  /** Why it cannot be used. */
  readonly reason: InvalidResponseReason;
  /** The HTTP status. */
  readonly status: number;
  /** The platform's id of the request: quote it to support. */
  readonly requestId: string | undefined;
  /** The start of the answer's text. */
  readonly body: string;
  /** For reason `shape`: what differs from the documented shape. */
  readonly issues: readonly Issue[];

  static {
    brandClass(this, 'InvalidResponseError');
  }

  /** @hidden */
  constructor(
    message: string,
    facts: ErrorFacts & {
      readonly reason: InvalidResponseReason;
      readonly status: number;
      readonly requestId: string | undefined;
      readonly body: string;
      readonly issues?: readonly Issue[] | undefined;
    },
  ) {
    super(message, facts);
    this.reason = facts.reason;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.body = facts.body;
    this.issues = facts.issues ?? [];
  }
}

/** The list cannot be continued. Items returned so far are valid. */
export class PaginationError extends PaymentsError {
  /**
   * `missing_cursor`: `hasMore` is true, but there is no `nextCursor`, or one of more than 8,192
   * characters. `cursor_loop`: a cursor came twice, a thousand pages in a row were empty or ended with
   * the same item, or (`transactions.list`) ten were identical.
   */
  readonly reason: 'missing_cursor' | 'cursor_loop';
  /** Where the list broke off. */
  declare resume: ResumePoint;

  static {
    brandClass(this, 'PaginationError');
  }

  /** @hidden */
  constructor(
    message: string,
    facts: ErrorFacts & {
      readonly reason: 'missing_cursor' | 'cursor_loop';
      readonly resume: ResumePoint;
    },
  ) {
    super(message, facts);
    this.reason = facts.reason;
    this.resume = facts.resume;
  }
}

/** `transfers.waitFor` ended without reaching the wanted status. */
export class WaitError extends PaymentsError {
  /** What the platform last reported, if it ever did. */
  readonly last: Transfer | undefined;
  /**
   * `failed`: the transfer failed or was cancelled. `timeout`: time ran out, or five polls in a row
   * failed; the money may still move. `regressed`: its status went backwards, or left a final one.
   */
  readonly reason: 'timeout' | 'failed' | 'regressed';

  static {
    brandClass(this, 'WaitError');
  }

  /** @hidden */
  constructor(
    message: string,
    facts: ErrorFacts & {
      readonly last: Transfer | undefined;
      readonly reason: 'timeout' | 'failed' | 'regressed';
    },
  ) {
    super(message, facts);
    this.last = facts.last;
    this.reason = facts.reason;
  }
}

/**
 * Rewrites an error in place to name the method that the user called. Only for errors not yet
 * thrown to the user.
 */
export function reattribute(
  error: PaymentsError,
  facts: Pick<PaymentsError, 'operation' | 'message' | 'outcome' | 'retryable' | 'startedAt'>,
): PaymentsError {
  // The stack begins with the message as it was.
  const stack = error.stack?.replace(error.message, () => facts.message);
  return Object.assign(error, facts, { stack });
}

/** Tells whether a value is an error of this package, from whichever copy of it. */
export const isPaymentsError = (value: unknown): value is PaymentsError =>
  value instanceof PaymentsError;

/** Tells whether a value is an {@link ApiError}: a response with a status other than 2xx. */
export const isApiError = (value: unknown): value is ApiError => value instanceof ApiError;

/**
 * Tells whether a call may have taken effect: look before you send it again. Returns false for
 * errors from elsewhere, which prove nothing: around a payment, treat those as unknown. True for reads
 * as well, which move nothing: ask again. `startedAt` is always set when it returns true.
 */
export const isOutcomeUnknown = (
  value: unknown,
): value is PaymentsError & { readonly outcome: 'unknown'; readonly startedAt: string } =>
  value instanceof PaymentsError && value.outcome === 'unknown';

// Of these, only 401 and 404 are documented: docs/gaps.md, row 47.
const statusClasses = new Map<number, new (message: string, facts: ApiErrorFacts) => ApiError>([
  [400, BadRequestError],
  [401, AuthenticationError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [422, UnprocessableEntityError],
  [429, RateLimitError],
]);

/** The class that stands for a status. */
export const apiErrorClass = (
  status: number,
): new (message: string, facts: ApiErrorFacts) => ApiError =>
  statusClasses.get(status) ?? (status >= 500 ? ServerError : ApiError);

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

function describeCause(cause: unknown): unknown {
  if (!(cause instanceof Error)) return typeof cause === 'object' ? undefined : plain(cause);
  const [name, code] = [fieldOf(cause, 'name'), fieldOf(cause, 'code')];
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: messageOf(cause),
    ...(typeof code === 'string' ? { code } : {}),
  };
}
