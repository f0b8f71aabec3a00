import { isError } from '../../internal/thrown.ts';
import type { ErrorBody } from '../../schemas/error-body.ts';

/** A problem in the sandbox, with the code and the status of the error response. */
export interface SandboxProblem {
  /**
   * A code for programs, such as `insufficient_funds`, made up because the platform's own codes are
   * not documented.
   */
  code: string;
  /** The HTTP status of the response to an API call with this problem. */
  status: number;
  /** Facts about the problem, such as the invalid fields. */
  details?: Record<string, unknown> | undefined;
  /** The error that caused the problem. */
  cause?: unknown;
}

/**
 * The error of a sandbox method, such as funding an Account that does not exist. An API call with
 * the same problem gets a response with `status` and an error body.
 */
export class SandboxError extends Error {
  /** Distinguishes a SandboxError from other errors, also in a log. */
  override readonly name = 'SandboxError';
  /** A code for programs, such as `insufficient_funds`. */
  readonly code: string;
  /** The HTTP status of the response to an API call with this problem. */
  readonly status: number;
  /** Facts about the problem, such as the invalid fields; null if there are none. */
  readonly details: Record<string, unknown> | null;

  constructor(message: string, { code, status, details, cause }: SandboxProblem) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.details = details ?? null;
  }
}

/** Creates the documented error body of a failed API call. */
export const toErrorBody = ({ message, code, details }: SandboxError): ErrorBody => ({
  error: message,
  code,
  details,
});

/** Creates the error for the id of a record that does not exist, or was deleted. */
export const notFound = (noun: string, id: string, prefix: string): SandboxError =>
  new SandboxError(
    id.startsWith(prefix)
      ? `No ${noun} "${truncate(id)}" exists on this Platform.`
      : `No ${noun} "${truncate(id)}" exists on this Platform: its id would start with "${prefix}".`,
    { code: `${noun}_not_found`, status: 404 },
  );

/** Creates the error for well-formed fields that contradict the data of the Platform. */
export const unprocessable = (code: string, message: string, details?: Record<string, unknown>) =>
  new SandboxError(message, { code, status: 422, details });

/** Creates the error for a step that the present state of a record does not allow. */
export const conflict = (code: string, message: string): SandboxError =>
  new SandboxError(message, { code, status: 409 });

const truncate = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** Returns the message of any thrown value. */
export const getMessage = (cause: unknown): string =>
  isError(cause) ? cause.message : String(cause);
