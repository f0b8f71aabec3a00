import { isOutcomeUnknown, PaymentInDoubtError } from '../errors/errors.ts';
import { onExit, warn } from '../internal/runtime.ts';

/** The payments that this process is making or has left in doubt, by platform and reference. */
const undecided = new Set<string>();
/** If more payments than this are undecided, the warning at the process's exit counts too few. */
const maxUndecided = 10_000;
/** Whether `report` runs when the process exits. */
let hasExitListener = false;

function report(): void {
  const { size } = undecided;
  if (size === 0) return;
  const payments = size === 1 ? '1 payment' : `${size} payments`;
  warn(
    `payments-platform-sdk: this process ends without knowing whether ${payments} took effect. Call createOnce again with the same reference; payments-journal list shows what is open.`,
  );
}

/**
 * Makes a payment. If the payment is still in doubt when the process exits, a warning is printed,
 * because the caller may have swallowed the error.
 */
export async function watchPayment<T>(
  platform: string,
  reference: string,
  run: () => Promise<T>,
): Promise<T> {
  if (!hasExitListener) onExit(report);
  hasExitListener = true;
  const key = `${platform} ${reference}`;
  const wasUndecided = undecided.has(key);
  if (undecided.size < maxUndecided) undecided.add(key);
  try {
    const made = await run();
    undecided.delete(key);
    return made;
  } catch (error) {
    // A call with other terms says nothing about the payment that has the reference.
    const isConflict = error instanceof PaymentInDoubtError && error.reason === 'conflict';
    const staysUndecided = isConflict ? wasUndecided : isOutcomeUnknown(error);
    if (!staysUndecided) undecided.delete(key);
    throw error;
  }
}
