import { isObject } from '../internal/objects.ts';
import type { Argument, Path, Validator } from './arguments.ts';
import { ConfigurationError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { createError } from '../errors/message.ts';
import type { Kind } from '../errors/outcome.ts';
import type { TransferCreateInput } from '../schemas/transfer.ts';
import type { ResolvedCallOptions } from './options.ts';
import type { ValueFinder } from './undocumented-values.ts';

/** A payment in the journal with the terms of a proposed payment. The two may be the same payment. */
export interface SimilarPayment {
  /** The reference of the payment. */
  readonly reference: string;
  /** `paid`, or still open: `sending` or `ambiguous`. */
  readonly state: 'sending' | 'ambiguous' | 'paid';
  /** When the payment was first claimed, in ISO 8601 by the journal's clock. */
  readonly at: string;
  /** The id of the transfer, if the payment was made. */
  readonly transferId?: string | undefined;
}

/** What the SDK sends in a call. {@link Call} adds how to read the response. */
export interface CallRequest {
  /** The SDK's name of the call, such as `transfers.create`. */
  readonly operation: string;
  readonly kind: Kind;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: Path;
  readonly query?: Argument<object>;
  readonly body?: Argument<unknown>;
  /**
   * Field names that `options.query` and `options.body` may not set, each with an error message.
   */
  readonly belongsIn?: Readonly<Record<string, string>>;
  /** The names of the method's options. The error gives a hint if the input has such a field. */
  readonly optionNames?: () => readonly string[];
  /**
   * The idempotency key of a `createOnce`. The POST is still not retried, because the platform may
   * ignore the key; `createOnce` searches the list of transfers instead.
   */
  readonly idempotencyKey?: string | undefined;
  /** Called with the body just before each attempt, after the waits. May throw. */
  readonly beforeSending?: (body: string) => void;
  /** Called with the body when the call ends, and nobody knows whether it took effect. */
  readonly onUnknown?: (body: string) => void;
  /** For payments: lists the journal's payments with the terms of an input, if the journal can. */
  readonly findSimilar?: ((input: TransferCreateInput) => Promise<SimilarPayment[]>) | undefined;
  /** For writes: a sentence for the error when nobody knows whether the write took effect. */
  readonly ifUnknown?: string;
}

/** Reports to `hooks.onDrift` what differs from the documented shape of a response. */
export type ReportDrift = (issues: readonly Issue[]) => void;

/** The headers of a successful response. Read them only if necessary, because the first access creates them. */
export type Head = Readonly<Pick<Response, 'headers'>>;

/** Checks the body of a successful response. */
export interface ResponseCheck<A> extends Validator<A> {
  /** Whether a read may return a response that differs from the schema; absent if never. */
  readonly isUsable?: (response: unknown) => boolean;
  /** Finds undocumented values of enums; absent if the response has no enum. */
  readonly findUndocumented?: ValueFinder | undefined;
  /** Whether a successful response may have an empty body. The result is then undefined. */
  readonly acceptsNoBody?: boolean;
}

/** A call as a method declares it. `A` is the type of the response, `T` of the method's result. */
export interface Call<T, A = T> extends CallRequest {
  /** How to check the response body; `nothing` if the body has no meaning: docs/gaps.md, row 29. */
  readonly response: ResponseCheck<A> | 'nothing';
  /** For writes: whether a response is a success, even if other fields are wrong: docs/gaps.md, row 36. */
  readonly acceptIf?: (response: unknown) => boolean;
  /** For creations: whether a response shows another record than the call has asked for. */
  readonly isOther?: (response: unknown) => boolean;
  /** Converts the response body to the method's result; absent if the body is the result. */
  readonly transform?: (response: A, head: Head, reportDrift: ReportDrift) => T;
}

/** The request of a call whose arguments are valid. Retries send the same request, perhaps with a new token. */
export interface PreparedRequest {
  readonly baseUrl: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  readonly options: ResolvedCallOptions;
  readonly idempotencyKey: string | undefined;
}

/** Whether the response to a creation has the new resource's id, by which users can find it. */
export const hasId =
  (id: Validator<string>) =>
  (response: unknown): boolean =>
    isObject(response) && id.safeParse(Reflect.get(response, 'id')).success;

/** Creates the error of a call that this client cannot send, for example without a credential. */
export const cannotSend = (call: CallIdentity, why: string, hint: string): ConfigurationError =>
  createError(
    ConfigurationError,
    { what: `${call.operation} ${why}`, hint, consequence: 'Nothing was sent.' },
    { ...call, outcome: 'not_sent' },
  );

/** Returns the operation, method and path by which errors and hooks identify a call. */
export const identity = (
  call: Pick<CallRequest, 'operation' | 'method' | 'path'>,
): CallIdentity => ({
  operation: call.operation,
  method: call.method,
  path: call.path.template,
});
