import { isObject } from '../internal/objects.ts';
import type { Argument, Path, Validator } from './arguments.ts';
import { ConfigurationError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { createError } from '../errors/message.ts';
import type { Kind } from '../errors/outcome.ts';
import type { ResolvedCallOptions } from './options.ts';

/** A request of the SDK to the platform, whatever its response. */
export interface CallRequest {
  /** The SDK's name of the call, such as `transfers.create`. */
  readonly operation: string;
  readonly kind: Kind;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: Path;
  readonly query?: Argument<object>;
  readonly body?: Argument<unknown>;
  /** Fields that neither `options.query` nor `options.body` may set, each with the message of the error. */
  readonly belongsIn?: Readonly<Record<string, string>>;
  /** The names of the call's options, for a hint when one is among the fields. Default: `RequestOptions`. */
  readonly optionNames?: () => readonly string[];
  /**
   * The key for the option idempotencyHeader. A call with its own key is not repeated because of it: the
   * platform may ignore the header, and `createOnce` searches instead.
   */
  readonly idempotencyKey?: string | undefined;
  /** For writes: what may have happened when the outcome is unknown, and how to find out. */
  readonly ifUnknown?: string;
}

/** Reports by `hooks.onDrift` what differs in a response. */
export type ReportDrift = (issues: readonly Issue[]) => void;

/** What came with the body of a success; its headers are made when they are read. */
export type Head = Readonly<Pick<Response, 'headers'>>;

/** Checks the body of a success. */
export interface ResponseCheck<A> extends Validator<A> {
  /** Whether a read can be used although it differs; absent if it never can. */
  readonly isUsable?: (response: unknown) => boolean;
  /** Whether a success without a body is a result too: undefined. */
  readonly acceptsNoBody?: boolean;
}

/** A call as a resource method declares it. `A` is the type of the response, `T` that of the result. */
export interface Call<T, A = T> extends CallRequest {
  /** `nothing` where the body of a success has no meaning: docs/gaps.md, row 29. */
  readonly response: ResponseCheck<A> | 'nothing';
  /** Of a write: whether its success is accepted, whatever its shape: docs/gaps.md, row 36. */
  readonly acceptIf?: (response: unknown) => boolean;
  /** Converts the response to the result; absent when they are the same. */
  readonly transform?: (response: A, head: Head, reportDrift: ReportDrift) => T;
}

/** A call with checked arguments, ready to be sent as often as the policy allows. */
export interface PreparedRequest {
  /** The base URL of the API. */
  readonly baseUrl: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  readonly options: ResolvedCallOptions;
  readonly idempotencyKey: string | undefined;
}

/** For writes: the response has the id of the new resource, so that it can be looked up. */
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
