import type { DetailedIssue } from '../internal/issues.ts';
import type { PaymentsError } from './errors.ts';

/** The parts of an error's message, in the order of its lines. */
export interface MessageParts {
  /** What failed, and what was expected. */
  readonly what: string;
  /** What to do. */
  readonly hint?: string | undefined;
  /** A message of the platform, the system or a callback, if it gets a line of its own. */
  readonly reported?: string | undefined;
  readonly notes?: readonly (string | false)[] | undefined;
  /** The outcome of a write, as a sentence. */
  readonly consequence?: string | false | undefined;
  readonly request?: string | undefined;
  /** The issues of a ValidationError, with each hint in a field of its own. */
  readonly issues?: readonly DetailedIssue[] | undefined;
}

/** The message, one line for each part. */
export const formatMessage = (parts: MessageParts): string =>
  [
    endSentence(parts.what),
    parts.hint && endSentence(parts.hint),
    parts.reported && `Message: ${parts.reported}`,
    ...(parts.notes ?? []),
    parts.consequence,
    parts.request && endSentence(parts.request),
  ]
    .filter(Boolean)
    .join('\n');

const endSentence = (text: string): string => (/[.?:…]$/.test(text) ? text : `${text}.`);

// The parts are not a field of the error, because logs print all fields of an error.
const partsByError = new WeakMap<object, MessageParts>();

/** The parts from which the message of an error was made. */
export const messagePartsOf = (error: PaymentsError): MessageParts =>
  partsByError.get(error) ?? { what: error.message };

/** Makes an error, and keeps the parts of its message. */
export function createError<E extends PaymentsError, Facts>(
  ErrorClass: new (message: string, facts: Facts) => E,
  parts: MessageParts,
  facts: Facts,
): E {
  const error = new ErrorClass(formatMessage(parts), facts);
  partsByError.set(error, parts);
  return error;
}

/**
 * Rewrites an error in place, so that it names the method that the user called. The sentence on the
 * consequence of the inner request is removed, because it says nothing about that method.
 */
export function reattribute(
  error: PaymentsError,
  { what, hint }: Pick<MessageParts, 'what' | 'hint'>,
  facts: Pick<PaymentsError, 'operation' | 'outcome' | 'retryable' | 'startedAt'>,
): PaymentsError {
  const inner = formatMessage({ ...messagePartsOf(error), consequence: undefined });
  const parts = { what, hint, notes: [inner] };
  const message = formatMessage(parts);
  // The stack still starts with the old message.
  const stack = error.stack?.replace(error.message, () => message);
  Object.assign(error, facts, { message, stack });
  partsByError.set(error, parts);
  return error;
}
