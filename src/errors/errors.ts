import type { Issue } from '../internal/issues.ts';
import { dropUndefined, isObject } from '../internal/objects.ts';
import { fieldOf } from '../internal/thrown.ts';
import { causeInJson, factsOf, restoreCause, toPlainData, type JsonValue } from './json.ts';
import { worstOutcome, type Outcome } from './outcome.ts';
import { describePublicly } from './public-message.ts';
import type { Transfer } from '../schemas/transfer.ts';

export type { Outcome } from './outcome.ts';

/** One failed attempt (one request) of a call. */
export interface Attempt {
  /** Whether this attempt took effect, whatever the other attempts did. */
  readonly outcome: Outcome;
  /** The HTTP status; absent if no response started to arrive. */
  readonly status?: number | undefined;
  /** The platform's id of the request, when the response carried one. */
  readonly requestId?: string | undefined;
  /** Milliseconds from sending the request to the failure. */
  readonly durationMs: number;
  /** Why the attempt failed, in a few words: `status 503`, `ECONNRESET`, `timeout (headers)`. */
  readonly reason: string;
}

export type { Issue } from '../internal/issues.ts';

/** The place where a list stopped. To continue the list, call `list({ cursor, limit })`. */
export type ResumePoint = {
  /**
   * Pass this cursor to get the failed page, or on {@link PaginationError} the last page that
   * arrived; `undefined` gets the first page. If the cursor is refused, begin without it. For
   * `transactions.list` the cursor is `skip` as text.
   */
  readonly cursor: string | undefined; // The API reference does not say how long a cursor stays valid: docs/gaps.md, row 55
  /** The page size (`limit`) that the SDK sent; undefined if it sent none. */
  readonly limit: number | undefined;
  /**
   * How many items the list has returned so far. On a {@link PaginationError} the number includes
   * the items of the page that `cursor` asks for.
   */
  readonly itemsYielded: number;
};

/** The call that an error belongs to. */
export interface CallIdentity {
  /** The SDK's name of the call, such as `transfers.create`. */
  readonly operation: string;
  readonly method: string;
  /** The path, with `{id}` for each id. For `request`, the path as you passed it. */
  readonly path: string;
}

/** The fields of a {@link PaymentsError}. */
export interface ErrorFacts extends Partial<CallIdentity> {
  readonly outcome: Outcome;
  readonly attempts?: readonly Attempt[] | undefined;
  readonly retryable?: boolean | undefined;
  readonly startedAt?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly reference?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly retryAt?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The base of the errors of a client. `outcome` shows whether the call took effect.
 * @example
 * ```ts
 * import { isOutcomeUnknown, PaymentsClient, PaymentsError } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 *
 * const payments = new PaymentsClient(new Sandbox().clientOptions);
 * try {
 *   await payments.entities.create({ email: 'ada@example.com' });
 * } catch (error) {
 *   if (isOutcomeUnknown(error)) console.log('check before you send again');
 *   else if (error instanceof PaymentsError) console.log('no money moved', error.outcome);
 *   else throw error;
 * }
 * ```
 */
export class PaymentsError extends Error {
  /**
   * `not_sent`: nothing reached the platform. `rejected`: the platform rejected the call.
   * `unknown`: the call may have taken effect. After several attempts this is the worst outcome.
   */
  declare readonly outcome: Outcome;
  /** The SDK's name of the call, such as `transfers.create`; absent when no call was involved. */
  declare readonly operation: string | undefined;
  /** The HTTP method; absent when no call was involved. */
  declare readonly method: string | undefined;
  /** The path, with `{id}` for each id. For `request`, the path as you passed it. */
  declare readonly path: string | undefined;
  /** The failed attempts of the call, in order. */
  declare readonly attempts: readonly Attempt[];
  /**
   * Whether the same call may succeed later. Always false for a `create` with an unknown outcome.
   * After an update or deletion with an unknown outcome, check the current state first.
   */
  declare readonly retryable: boolean;
  /**
   * When the call started, in ISO 8601. Pass this time as `since` to `transfers.reconcile`, unless
   * an earlier call tried the same payment. Absent if the call never started.
   */
  declare readonly startedAt?: string;
  /** The idempotency key of every attempt. Only set with `platform.idempotencyHeader`. */
  declare readonly idempotencyKey?: string;
  /**
   * How many milliseconds to wait before you call again: the platform's `Retry-After`, or the time
   * until another call may decide a payment in doubt. Undefined if nothing asks you to wait.
   */
  declare readonly retryAfterMs: number | undefined;
  /** When to rerun the batch that gave up on this payment, in milliseconds since 1970. Absent if no batch gave up. */
  declare readonly retryAt?: number;
  /**
   * The reference of the payment, with credentials redacted. Set on errors of `createOnce`, of
   * `decide` and of a payment in a batch, unless the reference itself is invalid.
   */
  declare readonly reference?: string;
  /** The place where a list stopped. Only set if the error was thrown while reading a list. */
  declare readonly resume?: ResumePoint;
  /**
   * The accounts that `reconcileAll` or `waitForAll` could not read: an error for each, with its
   * `accountId`. Only set if that was the only problem; the rows of all other accounts came before.
   */
  declare readonly errors?: readonly PaymentsError[];
  /** The account that could not be read. Only set on the `errors` of another error. */
  declare readonly accountId?: string;

  static override [Symbol.hasInstance](value: unknown): boolean {
    const brand = brandOf(this);
    if (brand === undefined) return super[Symbol.hasInstance](value);
    return fieldOf(value, brand) === true;
  }

  /** @hidden */
  constructor(message: string, facts: ErrorFacts) {
    // Set the class's name first, because the stack that super() captures starts with it.
    brandOf(undefined);
    const { cause, operation, method, path, startedAt, idempotencyKey, reference, ...fields } =
      facts;
    super(message, cause === undefined ? undefined : { cause });
    const attempts = Object.freeze([...(facts.attempts ?? [])]);
    // Leave out undefined fields, so that logs do not print them.
    Object.assign(this, {
      ...fields,
      ...dropUndefined({ operation, method, path, startedAt, idempotencyKey, reference }),
      attempts,
      retryable: facts.retryable ?? false,
    });
  }

  /**
   * A message that you can show to your own customers, because it contains no value of the call.
   * Keep `message` to yourself, because `message` may show a balance, an id or a URL.
   */
  get publicMessage(): string {
    return describePublicly(this);
  }

  /** Returns the fields of the error for a log, as plain data. A bigint becomes a string. */
  toJSON(): { readonly [name: string]: JsonValue } {
    const { cause, ...facts } = this as PaymentsError & { cause?: unknown };
    const { name, message } = this;
    const all = Object.assign({ name, message }, facts, { cause: causeInJson(cause) });
    const entries = Object.entries(all).map(([key, fact]) => [key, toPlainData(fact)] as const);
    return Object.fromEntries(
      entries.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
    );
  }
}

/**
 * The options or the credentials cannot be used. Nothing was sent, unless your credential function
 * failed before a retry, so check `outcome`.
 */
export class ConfigurationError extends PaymentsError {}

/**
 * An argument is invalid; `issues` lists which and why. This call sent nothing, but `outcome` is
 * `unknown` if an earlier call leaves the payment in doubt.
 */
export class ValidationError extends PaymentsError {
  /** The problems with the arguments, not only the first. */
  declare readonly issues: readonly Issue[];

  /** @hidden */
  constructor(message: string, facts: ErrorFacts & Pick<ValidationError, 'issues'>) {
    super(message, facts);
  }
}

/** The fields of an {@link ApiError}. */
export type ApiErrorFacts = ErrorFacts &
  Pick<ApiError, 'status' | 'code' | 'details' | 'requestId' | 'headers' | 'body'>;

/** The platform responded with a status other than 2xx. */
export class ApiError extends PaymentsError {
  /** The HTTP status of the response. */
  declare readonly status: number;
  /** The `code` in the platform's Error body; undefined if the response had no such body. */
  declare readonly code: string | undefined; // The API reference does not list the error codes: docs/gaps.md, row 46
  /**
   * The `details` in the platform's Error body; undefined if the response had no such body. An
   * integer beyond 2^53 - 1 is a string.
   */
  declare readonly details: unknown;
  /** The platform's id of the request, for questions to the platform's support. */
  declare readonly requestId: string | undefined;
  /**
   * The response's headers by lower-case name, without cookies, `cache-control`, and those of the
   * connection and the body, because frameworks copy this field onto your own response.
   */
  declare readonly headers: Readonly<Record<string, string>>;
  /** The first 2,048 characters of the response body, credentials redacted. */
  declare readonly body: string;

  /** @hidden */
  constructor(message: string, facts: ApiErrorFacts) {
    super(message, facts);
  }
}

/** 400: the platform could not understand the request. */
export class BadRequestError extends ApiError {}

/** 401: the credential is missing, wrong or expired. */
export class AuthenticationError extends ApiError {}

/** 403: the credential does not allow this call. */
export class PermissionDeniedError extends ApiError {} // The API reference says nothing about scopes: docs/gaps.md, row 45

/** 404: no resource with this id or path. */
export class NotFoundError extends ApiError {}

/** 409: the request conflicts with the current state. */
export class ConflictError extends ApiError {}

/** 422: the platform understood the request and rejected it. */
export class UnprocessableEntityError extends ApiError {}

/** 429: too many requests. `retryAfterMs` is set when the response has a `Retry-After` header. */
export class RateLimitError extends ApiError {}

/**
 * 500 or above: the platform, or a proxy in front of it, failed. A write may have taken effect,
 * except after 501 and 505.
 */
export class ServerError extends ApiError {}

/** The connection failed. `code` shows how, and `outcome` whether the request may have arrived. */
export class ConnectionError extends PaymentsError {
  /** The error code of the system, such as `ECONNREFUSED`, `ENOTFOUND` or `ECONNRESET`. */
  declare readonly code: string | undefined;

  /** @hidden */
  constructor(message: string, facts: ErrorFacts & Partial<Pick<ConnectionError, 'code'>>) {
    super(message, facts);
  }
}

/** What a call was doing when its time ran out. */
export type TimeoutPhase = 'credential' | 'connect' | 'headers' | 'body' | 'total';

/** A call or an attempt timed out. `phase` shows what the SDK was waiting for. */
export class TimeoutError extends ConnectionError {
  /**
   * `credential`: your credential function did not return. `connect`, `headers`, `body`: one
   * attempt took longer than `timeout`, or its connection longer than the runtime allows (`code` is
   * then the runtime's, such as `UND_ERR_CONNECT_TIMEOUT`). `total`: the call took longer than
   * `totalTimeout`.
   */
  declare readonly phase: TimeoutPhase;

  /** @hidden */
  constructor(
    message: string,
    facts: ErrorFacts & Pick<TimeoutError, 'phase'> & Partial<Pick<TimeoutError, 'code'>>,
  ) {
    super(message, { ...facts, code: facts.code ?? 'ETIMEDOUT' });
  }
}

/** Your signal aborted the call. `cause` is the reason of the signal. */
export class AbortError extends PaymentsError {}

/**
 * Why a response cannot be used. `truncated`: cut off. `shape`: fields differ from the documented
 * ones, or an id belongs to another call. `too_large`: over 16 MiB, or over 64 levels deep.
 */
export type InvalidResponseReason = 'empty' | 'not_json' | 'truncated' | 'shape' | 'too_large';

/** The platform responded with 2xx, but the response cannot be used. */
export class InvalidResponseError extends PaymentsError {
  /** Why the response cannot be used. */
  declare readonly reason: InvalidResponseReason;
  /** The HTTP status of the response. */
  declare readonly status: number;
  /** The platform's id of the request, for questions to the platform's support. */
  declare readonly requestId: string | undefined;
  /** The start of the response body. */
  declare readonly body: string;
  /** For reason `shape`: what differs from the documented shape. */
  declare readonly issues: readonly Issue[];

  /** @hidden */
  constructor(
    message: string,
    facts: ErrorFacts &
      Pick<InvalidResponseError, 'reason' | 'status' | 'requestId' | 'body' | 'issues'>,
  ) {
    super(message, facts);
  }
}

/** The SDK cannot read the next page of a list. The items that you have so far are valid. */
export class PaginationError extends PaymentsError {
  /**
   * `missing_cursor`: `hasMore` is true, but there is no usable `nextCursor`. `cursor_loop`: a
   * cursor came twice, or too many pages in a row brought no new item.
   */
  declare readonly reason: 'missing_cursor' | 'cursor_loop';
  /** The place where the list stopped. Continuing there gets the same page again. */
  declare readonly resume: ResumePoint;

  /** @hidden */
  constructor(message: string, facts: ErrorFacts & Pick<PaginationError, 'reason' | 'resume'>) {
    super(message, facts);
  }
}

/** `transfers.waitFor` ended before the transfer reached the expected status. */
export class WaitError extends PaymentsError {
  /** The latest Transfer that the platform returned; undefined if no poll has returned one. */
  declare readonly last: Transfer | undefined;
  /**
   * `failed`: the transfer failed or was cancelled. `timeout`: time ran out, or five polls in a row
   * failed, so the money may still move. `regressed`: a transfer that had ended is open again.
   */
  declare readonly reason: 'timeout' | 'failed' | 'regressed';

  /** @hidden */
  constructor(message: string, facts: ErrorFacts & Pick<WaitError, 'last' | 'reason'>) {
    super(message, facts);
  }
}

/**
 * Why a payment is in doubt. `in_progress`: another call is making the payment. `in_doubt`: a
 * request may still take effect. `ambiguous`: an operator has to decide. `conflict`: journal,
 * platform and call disagree. `journal`: the journal failed.
 */
export type InDoubtReason = 'in_progress' | 'in_doubt' | 'ambiguous' | 'conflict' | 'journal';

/**
 * `transfers.createOnce` does not know whether this call or an earlier one made the payment. You
 * may repeat the same call at any time, because `createOnce` does not pay twice.
 */
export class PaymentInDoubtError extends PaymentsError {
  /** Why the payment is in doubt. */
  declare readonly reason: InDoubtReason;
  /** The reference of the payment, which is its description. */
  declare readonly reference: string;
  /** When a call claimed the payment in the journal, in ISO 8601; absent without a claim. */
  declare readonly claimedAt?: string;
  /** Until when an earlier request may still take effect, in ISO 8601; absent if it has no end. */
  declare readonly until?: string;
  /** For reason `ambiguous`: ids of the transfers that may be the payment, at most ten. */
  declare readonly candidates: readonly string[] | undefined;
}

/**
 * Your function {@link ClientOptions.authorize} vetoed the payment, which was not claimed or sent.
 * `cause` is what your function threw; absent if it returned anything other than true.
 */
export class PaymentVetoedError extends PaymentsError {}

/**
 * Finds or restores an error of this package: caught, wrapped by other code (`cause`, `errors`), or
 * copied from `toJSON()` or its fields, as workflow engines do. Of several, returns the error with
 * the worst outcome.
 * @example
 * ```ts
 * import { PaymentInDoubtError, paymentsErrorFrom, PaymentsClient } from 'payments-platform-sdk';
 * const payments = new PaymentsClient();
 * const kept = await payments.transfers.get('txfr_unknown').catch((error) => JSON.stringify(error));
 * const error = paymentsErrorFrom(JSON.parse(String(kept)));
 * console.log(error?.name, error instanceof PaymentInDoubtError); // NotFoundError false
 * ```
 */
export function paymentsErrorFrom(value: unknown): PaymentsError | undefined {
  const found: PaymentsError[] = [];
  let level = new Set([value]);
  for (let depth = 0; depth <= maxWrappers; depth += 1) {
    const inner = new Set<unknown>();
    for (const each of level) {
      const error = restoreError(each);
      if (error !== undefined) found.push(error);
      else for (const wrapped of wrappedIn(each)) inner.add(wrapped);
    }
    level = inner;
  }
  const outcome = worstOutcome(found);
  return found.find((error) => error.outcome === outcome) ?? found[0];
}

/** How many levels of wrapping errors {@link paymentsErrorFrom} looks through. */
const maxWrappers = 5;

/**
 * The fields in which other code keeps an error: GraphQL's `originalError`, the `reason` of
 * Promise.allSettled, the `suppressed` of `using`, and what loggers and results call it.
 */
const wrappingFields = ['cause', 'originalError', 'reason', 'error', 'suppressed', 'err'];

/** Returns the values that other code may have wrapped, including the items of `errors`. */
function wrappedIn(value: unknown): readonly unknown[] {
  const wrapped = wrappingFields.map((name) => fieldOf(value, name));
  const errors = fieldOf(value, 'errors');
  try {
    return Array.isArray(errors) ? [...wrapped, ...(errors as unknown[])] : wrapped;
  } catch {
    // A revoked Proxy throws, and so may a getter in an array.
    return wrapped;
  }
}

/** Restores an error of this package from the error itself or from a copy of its fields. */
function restoreError(value: unknown): PaymentsError | undefined {
  if (value instanceof PaymentsError) return value;
  // Read fields by name, because Object.entries misses inherited and non-enumerable fields.
  const names = ['name', 'message', 'stack', 'code', 'cause', 'attempts', 'outcome', 'operation'];
  const [name, message, stack, code, cause, attempts, outcome, operation] = names.map((field) =>
    fieldOf(value, field),
  );
  // Fills `classesByName`, because no error may have been created yet.
  brandOf(undefined);
  const NamedClass = classesByName.get(name);
  const isNamed = NamedClass !== undefined && typeof message === 'string';
  // Copying the fields of an error loses its message, and other code may give the copy its own name.
  const isCopy = typeof operation === 'string' && Array.isArray(attempts);
  if (!isOutcome(outcome) || !(isNamed || isCopy)) return undefined;
  const ErrorClass = NamedClass ?? classByFields(value);
  const error = new ErrorClass(typeof message === 'string' ? message : '', {
    ...factsOf(value, ErrorClass.prototype),
    outcome,
    ...(code !== undefined && { code }),
    attempts: Array.isArray(attempts) ? (attempts as Attempt[]).filter(isObject) : [],
    cause: restoreCause(cause),
  });
  // Keep the original stack, because it shows where the error was thrown.
  if (typeof stack === 'string') error.stack = stack;
  return error;
}

/** Finds the class of a copied error that has lost its name, by the fields that tell the classes apart. */
function classByFields(value: unknown): typeof PaymentsError {
  const [reason, status, phase, code, issues] = ['reason', 'status', 'phase', 'code', 'issues'].map(
    (field) => fieldOf(value, field),
  );
  const word = typeof reason === 'string' ? reason : '';
  const isApiStatus = typeof status === 'number' && status >= 300;
  const classes: readonly (readonly [unknown, unknown])[] = [
    [isApiStatus, apiErrorClass(isApiStatus ? status : 0)],
    [/^(in_progress|in_doubt|ambiguous|conflict|journal)$/.test(word), PaymentInDoubtError],
    [/^(timeout|failed|regressed)$/.test(word), WaitError],
    [phase, TimeoutError],
    [code, ConnectionError],
    [reason === undefined && issues, ValidationError],
  ];
  const [, found] = classes.find(([isOfClass]) => Boolean(isOfClass)) ?? [];
  return (found ?? PaymentsError) as typeof PaymentsError;
}

/**
 * Sets fields of an error if the error permits it, because a hook may have frozen the error and an
 * exception here would replace it.
 */
export function decorate<E extends object>(error: E, fields: object): E {
  for (const [name, value] of Object.entries(fields)) Reflect.set(error, name, value);
  return error;
}

/** Sets `reference` on the error of a call that makes or resolves a payment. */
export const withReference = <E>(error: E, reference: string | undefined): E =>
  error instanceof PaymentsError && reference !== undefined
    ? decorate(error, { reference })
    : error;

const isOutcome = (value: unknown): value is Outcome =>
  value === 'not_sent' || value === 'rejected' || value === 'unknown';

/**
 * Whether a value is, wraps or copies an error of this package, from any installed copy. To read
 * the fields, use the result of {@link paymentsErrorFrom}.
 */
export const isPaymentsError = (value: unknown): value is PaymentsError =>
  paymentsErrorFrom(value) !== undefined;

/**
 * Whether a value is, wraps or copies an {@link ApiError}, the error for a response with a status
 * other than 2xx. Reads what {@link paymentsErrorFrom} reads.
 */
export const isApiError = (value: unknown): value is ApiError =>
  paymentsErrorFrom(value) instanceof ApiError;

/**
 * Whether the failed call may have taken effect; if true, check before you send the call again.
 * Reads what {@link paymentsErrorFrom} reads, and false for another error proves nothing.
 */
export const isOutcomeUnknown = (
  value: unknown,
): value is PaymentsError & { readonly outcome: 'unknown'; readonly startedAt: string } =>
  paymentsErrorFrom(value)?.outcome === 'unknown';

// The API reference documents only 401 and 404 of these statuses: docs/gaps.md, row 47.
const statusClasses: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** Returns the error class for the HTTP status of an error response. */
export const apiErrorClass = (status: number): typeof ApiError =>
  statusClasses[status] ?? (status >= 500 ? ServerError : ApiError);

/*
 * The ESM and the CommonJS copy of this package may both be loaded in one process, and `instanceof`
 * must recognise the errors of both. So `instanceof` looks for a brand (a symbol) on the prototype
 * chain. A user's subclass has no brand, so `instanceof` keeps its ordinary meaning there.
 */
const brands = new Map<unknown, symbol>();
/** Error classes by name, typed so that {@link paymentsErrorFrom} can pass any fields to them. */
const classesByName = new Map<unknown, typeof PaymentsError>();

/**
 * Returns the brand of a class, or undefined if the class has none. The first call sets the brands
 * and names of all classes, because importing this module must have no effects.
 */
function brandOf(constructor: unknown): symbol | undefined {
  if (brands.size > 0) return brands.get(constructor);
  const classes = {
    PaymentsError,
    ConfigurationError,
    ValidationError,
    ApiError,
    BadRequestError,
    AuthenticationError,
    PermissionDeniedError,
    NotFoundError,
    ConflictError,
    UnprocessableEntityError,
    RateLimitError,
    ServerError,
    ConnectionError,
    TimeoutError,
    AbortError,
    InvalidResponseError,
    PaginationError,
    WaitError,
    PaymentInDoubtError,
    PaymentVetoedError,
  };
  for (const [name, { prototype }] of Object.entries(classes)) {
    const brand = Symbol.for(`payments-platform-sdk.${name}`);
    // Take the name from `classes`, because a minifier shortens the class's own name.
    Object.defineProperty(prototype, 'name', { value: name, configurable: true, writable: true });
    Object.defineProperty(prototype, brand, { value: true });
    brands.set(prototype.constructor, brand);
    classesByName.set(name, prototype.constructor as typeof PaymentsError);
  }
  return brands.get(constructor);
}
