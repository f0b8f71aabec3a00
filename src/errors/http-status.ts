import {
  AbortError,
  AuthenticationError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PaymentInDoubtError,
  PaymentsError,
  PermissionDeniedError,
  RateLimitError,
  TimeoutError,
  UnprocessableEntityError,
  ValidationError,
  WaitError,
} from './errors.ts';

type ErrorClass = abstract new (...args: never) => PaymentsError;

/** The first class that matches decides; any other error is a response that cannot be used. */
const statuses: readonly (readonly [ErrorClass, number])[] = [
  [ValidationError, 400],
  [BadRequestError, 422],
  [UnprocessableEntityError, 422],
  [ConflictError, 409],
  [ConfigurationError, 500],
  [AuthenticationError, 500],
  [PermissionDeniedError, 500],
  [RateLimitError, 503],
  [AbortError, 503],
  [TimeoutError, 504],
  [ConnectionError, 503],
];

/**
 * Maps an error to a status for the response of your own service: 202 while a payment is in doubt, 409 if an
 * operator decides, 500 for other values. Never throws.
 * @example
 * ```ts
 * import { httpStatusOf, PaymentsClient } from 'payments-platform-sdk';
 *
 * const payments = new PaymentsClient();
 * const response = await payments.transfers.get('txfr_unknown').then(
 *   (transfer) => Response.json(transfer),
 *   (error: unknown) => new Response(null, { status: httpStatusOf(error) }),
 * );
 * console.log(response.status); // 404
 * ```
 */
export function httpStatusOf(error: unknown): number {
  if (!(error instanceof PaymentsError)) return 500;
  if (error instanceof WaitError) return error.reason === 'failed' ? 422 : 202;
  const isRead = isReading(error);
  if (!isRead && error.outcome === 'unknown') {
    return error instanceof PaymentInDoubtError && !error.retryable ? 409 : 202;
  }
  if (error instanceof NotFoundError) return findNotFoundStatus(error, isRead);
  return statuses.find(([errorClass]) => error instanceof errorClass)?.[1] ?? 502;
}

const readOperation = /\.(get|list|build|openOnce|reconcile)$/;

/** A GET of `createOnce` fails for the payment, so the method alone does not decide. */
const isReading = ({ operation = '', method }: PaymentsError): boolean =>
  readOperation.test(operation) || (operation === 'request' && method === 'GET');

/** A write names what does not exist in its input; without a `code`, the 404 may be that of a wrong base URL. */
function findNotFoundStatus({ code }: NotFoundError, isRead: boolean): number {
  if (!isRead) return 422;
  return code === undefined ? 502 : 404;
}
