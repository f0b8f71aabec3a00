import type { DetailedIssue } from '../internal/issues.ts';
import { fieldOf } from '../internal/thrown.ts';
import { decorate, type PaymentsError } from './errors.ts';

/** The parts of an error's message, in the order of its lines. */
export interface MessageParts {
  /** What failed, and what the SDK expected instead. */
  readonly what: string;
  /** What the reader of the error should do. */
  readonly hint?: string | undefined;
  /** A message from the platform, the system or a callback, if it gets a line of its own. */
  readonly reported?: string | undefined;
  readonly notes?: readonly (string | false)[] | undefined;
  /** A sentence that says whether a write took effect. */
  readonly consequence?: string | false | undefined;
  readonly request?: string | undefined;
  /** The problems of a ValidationError, with each hint in a field of its own. */
  readonly issues?: readonly DetailedIssue[] | undefined;
}

/** Joins the parts of an error's message, one line for each part. */
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

// The parts of a message are kept outside the error, because logs print all fields of an error.
const partsByError = new WeakMap<object, MessageParts>();

export const messagePartsOf = (error: PaymentsError): MessageParts =>
  partsByError.get(error) ?? { what: error.message };

/** What failed, what to do and what was reported, without the rest of an error's message. */
export const summaryOf = (error: PaymentsError): string => {
  const { what, hint, reported } = messagePartsOf(error);
  return formatMessage({ what, hint, reported });
};

/** Creates an error from the parts of its message. {@link messagePartsOf} finds the parts again. */
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
 * Rewrites the error of one request, so that it names the method that the user called. The sentence
 * on whether the request took effect is removed, because it says nothing about the method.
 */
export function reattribute(
  error: PaymentsError,
  { what, hint }: Pick<MessageParts, 'what' | 'hint'>,
  facts: Pick<PaymentsError, 'operation' | 'outcome' | 'retryable' | 'startedAt'>,
): PaymentsError {
  const inner = formatMessage({ ...messagePartsOf(error), consequence: undefined });
  const parts = { what, hint, notes: [inner] };
  const message = formatMessage(parts);
  // Replace the message in the stack, too, because a stack starts with the message.
  const stack = fieldOf(error, 'stack');
  const isText = typeof stack === 'string';
  return decorate(error, {
    ...facts,
    ...(isText && { stack: stack.replace(error.message, () => message) }),
    message,
  });
}
