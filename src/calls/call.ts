import { isObject } from '../internal/objects.ts';
import type { Argument, Path, Validator } from './arguments.ts';
import { ConfigurationError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { createError } from '../errors/message.ts';
import type { Kind } from '../errors/outcome.ts';
import type { ResolvedCallOptions } from './options.ts';

/** What the SDK sends in a call, without what it expects in response. */
export interface CallRequest {
  /** The SDK's name of the call, such as `transfers.create`. */
  readonly operation: string;
  readonly kind: Kind;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: Path;
  readonly query?: Argument<object>;
  readonly body?: Argument<unknown>;
  /** Fields that `options.query` and `options.body` may not set, each with its error message. */
  readonly belongsIn?: Readonly<Record<string, string>>;
  /** Option names, for a hint if one is passed as a field. Default: those of `RequestOptions`. */
  readonly optionNames?: () => readonly string[];
  /**
   * The key that a call sends in the header of the option idempotencyHeader. The key does not make
   * this call repeatable, because the platform may ignore the header and `createOnce` searches
   * instead.
   */
  readonly idempotencyKey?: string | undefined;
  /** For writes: what may have happened when the outcome is unknown, and how to find out. */
  readonly ifUnknown?: string;
}

/** Reports to `hooks.onDrift` what differs from the documented shape of a response. */
export type ReportDrift = (issues: readonly Issue[]) => void;

/** The headers of a success, which are created when they are first read. */
export type Head = Readonly<Pick<Response, 'headers'>>;

/** Checks the body of a success. */
export interface ResponseCheck<A> extends Validator<A> {
  /** Whether a read can be used although it differs from the schema; absent if it never can. */
  readonly isUsable?: (response: unknown) => boolean;
  /** Whether a success may have no body, with undefined as its result. */
  readonly acceptsNoBody?: boolean;
}

/** A call as a resource method declares it. `A` is the type of the response, `T` of the result. */
export interface Call<T, A = T> extends CallRequest {
  /** `nothing` if the body of a success has no meaning: docs/gaps.md, row 29. */
  readonly response: ResponseCheck<A> | 'nothing';
  /** For writes, whether a success counts whatever its other fields are: docs/gaps.md, row 36. */
  readonly acceptIf?: (response: unknown) => boolean;
  /** Converts the response to the result; absent if they are the same. */
  readonly transform?: (response: A, head: Head, reportDrift: ReportDrift) => T;
}

/** A call with checked arguments, ready to be sent as often as retries allow. */
export interface PreparedRequest {
  readonly baseUrl: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  readonly options: ResolvedCallOptions;
  readonly idempotencyKey: string | undefined;
}

/** For writes: whether a response has the id of the new resource, to look it up by. */
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

/** Identifies a call in errors and hooks. */
export const identity = (
  call: Pick<CallRequest, 'operation' | 'method' | 'path'>,
): CallIdentity => ({
  operation: call.operation,
  method: call.method,
  path: call.path.template,
});
