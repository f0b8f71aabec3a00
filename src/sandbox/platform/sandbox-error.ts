import type { ErrorBody } from '../../schemas/error-body.ts';

/** What went wrong, and how the platform words it. */
export interface SandboxProblem {
  /**
   * A code for programs, such as `insufficient_funds`. The platform's own values are not
   * documented.
   */
  code: string;
  /** The HTTP status that an API call is answered with. */
  status: number;
  /** Facts about the problem. */
  details?: Record<string, unknown> | undefined;
  /** The error that lies behind this one. */
  cause?: unknown;
}

/**
 * Thrown by the sandbox's own methods for what cannot be done, such as funding an Account that does
 * not exist. An API call that meets the same problem is answered with `status` and an error body.
 */
export class SandboxError extends Error {
  /** Tells it apart from other errors, in a log too. */
  override readonly name = 'SandboxError';
  /** A code for programs, such as `insufficient_funds`. */
  readonly code: string;
  /** The HTTP status that an API call is answered with. */
  readonly status: number;
  /** Facts about the problem, or null. */
  readonly details: Record<string, unknown> | null;

  constructor(message: string, { code, status, details, cause }: SandboxProblem) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.details = details ?? null;
  }
}

/** The documented error body of a problem. */
export const toErrorBody = ({ message, code, details }: SandboxError): ErrorBody => ({
  error: message,
  code,
  details,
});

/** Something that is not there, or is there no longer. */
export const notFound = (noun: string, id: string, prefix: string): SandboxError =>
  new SandboxError(
    id.startsWith(prefix)
      ? `No ${noun} "${truncate(id)}" exists on this Platform.`
      : `No ${noun} "${truncate(id)}" exists on this Platform: its id would start with "${prefix}".`,
    { code: `${noun}_not_found`, status: 404 },
  );

/** Fields of a body that are well formed on their own but do not fit the state of the Platform. */
export const unprocessable = (
  code: string,
  message: string,
  details?: Record<string, unknown>,
): SandboxError => new SandboxError(message, { code, status: 422, details });

/** A move that the present state does not allow. */
export const conflict = (code: string, message: string): SandboxError =>
  new SandboxError(message, { code, status: 409 });

const truncate = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** What somebody else's error says. */
export const getMessage = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);
