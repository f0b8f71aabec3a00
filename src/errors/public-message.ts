/** The fields of an error that decide which message a customer may read. */
interface PublicFacts {
  readonly name: string;
  readonly outcome: string;
  readonly operation?: string | undefined;
  readonly method?: string | undefined;
  readonly retryable: boolean;
  readonly reason?: string | undefined;
}

const readOperation = /\.(get|list|build|listUndecided|reconcile|reconcileAll|waitFor)$/;

/** Whether a call only reads. The HTTP method does not show this: `createOnce` also sends GETs. */
export const isReading = ({ operation = '', method }: Pick<PublicFacts, 'operation' | 'method'>) =>
  readOperation.test(operation) || (operation === 'request' && method === 'GET');

/** Writes a message for customers, without any balance, id, URL or reference of the call. */
export function describePublicly(error: PublicFacts): string {
  const { name, operation = '', outcome, retryable, reason } = error;
  if (operation === 'transfers.waitFor') {
    return outcome === 'rejected'
      ? 'The payment failed: the payee does not have the money.'
      : 'The payment is not confirmed yet. Please look again later.';
  }
  if (isReading(error)) {
    return `The information is not available.${retryable ? ' Please try again later.' : ''}`;
  }
  const isPayment = operation.startsWith('transfers.');
  if (reason === 'conflict') return 'This reference belongs to a payment with other terms.';
  if (outcome === 'unknown') {
    const [event, mistake] = isPayment
      ? ['payment was made', 'start another one']
      : ['request took effect', 'repeat it'];
    return `It is not known yet whether the ${event}. Please do not ${mistake}: it is being checked.`;
  }
  const retryHint = retryable ? ' Please try again later.' : '';
  if (outcome === 'rejected') {
    return `The ${isPayment ? 'payment was rejected, and no money was moved' : 'request was rejected'}.${retryHint}`;
  }
  // An earlier call may have made the payment, so the message speaks only of this attempt.
  const what = `${isPayment ? 'No payment was made' : 'Nothing was changed'} by this attempt.`;
  return what + (name === 'ValidationError' ? ' Please check what was entered.' : retryHint);
}
