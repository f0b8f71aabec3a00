import { isObject } from '../internal/guards.ts';
import type { Argument, Path, Validator } from './arguments.ts';
import type { Prepared } from './prepare.ts';
import { ConfigurationError, type CallIdentity } from '../errors/errors.ts';
import { createError } from '../errors/message.ts';
import type { Kind } from '../errors/outcome.ts';

/** What a call asks for, whatever it is answered. */
export interface CallRequest {
  /** The SDK's name of the call, such as `transfers.create`. */
  readonly operation: string;
  readonly kind: Kind;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: Path;
  readonly query?: Argument<object>;
  readonly body?: Argument<unknown>;
  /**
   * Fields that neither `options.query` nor `options.body` may set, each with a sentence that says what
   * it belongs in.
   */
  readonly belongsIn?: Readonly<Record<string, string>>;
  /**
   * The key of the option idempotencyHeader. A call that has its own is not sent again for having one:
   * the platform may ignore the header, and `createOnce` searches instead.
   */
  readonly idempotencyKey?: string | undefined;
  /** For writes: what may have happened when the outcome is unknown, and how to find out. */
  readonly ifUnknown?: string;
}

/** A call as a resource method states it. `A` is the answer's shape, `T` what the caller gets. */
export interface Call<T, A = T> extends CallRequest {
  /** The shape of a success; `nothing` where it has no meaning: docs/gaps.md, row 29. */
  readonly response: Validator<A> | 'nothing';
  /** Whether a success without a body is a result too: undefined. */
  readonly emptyIsResult?: boolean;
  /** Whether a success of another shape can be handed out all the same: docs/gaps.md, row 36. */
  readonly acceptIf?: (response: unknown) => boolean;
  /** Makes of the answer what the caller gets; absent when it is the same. */
  readonly transform?: (response: A) => T;
  /**
   * Shown the text of a success before it is read; true when it has asked for more, which then
   * goes out first. For pages of a walk.
   */
  readonly askAhead?: ((text: string) => boolean) | undefined;
  /** When its arguments have been checked before. */
  readonly prepared?: Prepared | undefined;
  /** Nothing leaves after this time of the wall clock. */
  readonly notAfter?: number | undefined;
  /** Shown the headers of each success. */
  readonly onHeaders?: ((headers: Headers) => void) | undefined;
}

/** For writes: the answer names what was written, so that it can be looked up. */
export const hasId =
  (id: Validator<string>) =>
  (response: unknown): boolean =>
    isObject(response) && id.safeParse(Reflect.get(response, 'id')).success;

/** The error of a call that this client cannot make. */
export const cannotSend = (call: CallIdentity, why: string, hint: string): ConfigurationError =>
  createError(
    ConfigurationError,
    { what: `${call.operation} ${why}`, hint, consequence: 'Nothing was sent.' },
    { ...call, outcome: 'not_sent' },
  );

/** What errors and hooks call it. */
export const identity = (
  call: Pick<CallRequest, 'operation' | 'method' | 'path'>,
): CallIdentity => ({
  operation: call.operation,
  method: call.method,
  path: call.path.template,
});
