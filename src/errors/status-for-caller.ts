import {
  NotFoundError,
  PaymentInDoubtError,
  paymentsErrorFrom,
  type PaymentsError,
  WaitError,
} from './errors.ts';
import { isReading } from './public-message.ts';

type CallerStatus = ReturnType<typeof httpStatusOf>;

/** The HTTP status by the name of the error's class; 502 for a class that is not in this table. */
const statuses: Readonly<Partial<Record<string, CallerStatus>>> = {
  ValidationError: 400,
  BadRequestError: 422,
  UnprocessableEntityError: 422,
  ConflictError: 409,
  PaymentVetoedError: 403,
  ConfigurationError: 500,
  AuthenticationError: 500,
  PermissionDeniedError: 500,
  RateLimitError: 503,
  AbortError: 503,
  TimeoutError: 504,
  ConnectionError: 503,
};

/**
 * Maps an error to an HTTP status for your own response, such as 202 while a payment is in doubt,
 * 409 if an operator has to decide, or 500 for other values. Pass what {@link paymentsErrorFrom}
 * takes.
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
export function httpStatusOf(
  value: unknown,
): 202 | 400 | 403 | 404 | 409 | 422 | 500 | 502 | 503 | 504 {
  const error = paymentsErrorFrom(value);
  if (error === undefined) return 500;
  if (error instanceof WaitError) return waitStatuses.get(error.reason) ?? 202;
  if (error instanceof PaymentInDoubtError && !error.retryable) return 409;
  if (error.outcome === 'unknown' && !isReading(error)) return 202;
  // A 404 whose Error body has no code may come from a wrong base URL.
  if (error instanceof NotFoundError && error.code !== undefined) {
    return isCreating(error) ? 422 : 404;
  }
  return statuses[error.name] ?? 502;
}

/** The HTTP status for each reason of a WaitError. Any other reason gives 202, like a timeout. */
const waitStatuses = /* @__PURE__ */ new Map<unknown, CallerStatus>([
  ['failed', 422],
  ['regressed', 409],
]);

/** Whether the call is a creation. A 404 then means that its input names a missing record. */
const isCreating = ({ operation = '' }: PaymentsError): boolean => operation.includes('.create');
