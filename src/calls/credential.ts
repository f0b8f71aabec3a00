import { describeKind } from '../internal/text.ts';
import { cannotSend, identity, type CallRequest } from './call.ts';
import { type Clock, Deadline, Stopped } from './time.ts';
import { keepContext } from './tracing.ts';
import { PaymentsError } from '../errors/errors.ts';
import { createCallError } from '../errors/call-error.ts';
import { noCredentialFailure, timeoutFailure } from '../errors/failure.ts';
import { messagePartsOf } from '../errors/message.ts';
import { maxSecretLength } from '../errors/redact.ts';
import type { Problem } from '../internal/issues.ts';
import { readVariable } from '../internal/runtime.ts';

/** An API key or a JWT as a string, or your function that fetches the credential. */
export type CredentialSource = string | (() => string | Promise<string>); // The API reference does not say how the platform issues credentials: docs/gaps.md, row 43

export type CredentialKind = 'apiKey' | 'jwt';

/** Thrown if a credential function returned an unusable value. Does not quote the value, because it may be a secret. */
class UnusableCredential extends Error {
  readonly problem: Problem | undefined;
  constructor(problem: Problem | undefined) {
    super('unusable credential');
    this.problem = problem;
  }
}

/** The option, the environment variable and the noun by which messages name each credential. */
export const credentialNames = {
  apiKey: { option: 'apiKey', variable: 'PAYMENTS_API_KEY', noun: 'API key' },
  jwt: { option: 'jwt', variable: 'PAYMENTS_JWT', noun: 'JWT' },
} as const;

/** Names where the user set a value: the environment variable if it has this value, otherwise the option. */
export const describePlace = (option: string, variable: string | undefined, value: unknown) =>
  variable !== undefined && readVariable(variable)?.trim() === value
    ? variable
    : `option ${option}`;

/** How each kind of credential looks, and how to recognise a credential of the other kind. */
const credentialForms = {
  apiKey: {
    expected: 'an API key ("sk_" and more)',
    isOther: (value: string) => value.startsWith('eyJ'),
    other: { got: 'a JWT', hint: 'Pass it as the option jwt' },
  },
  jwt: {
    expected: 'a JWT',
    isOther: (value: string) => value.startsWith('sk_'),
    other: { got: 'an API key', hint: 'Pass it as the option apiKey' },
  },
} as const;

/**
 * Describes what is wrong with a credential, without quoting the credential; undefined if nothing
 * is. The form of a JWT is not documented: docs/gaps.md, row 44.
 */
export function findCredentialProblem(kind: CredentialKind, value: unknown): Problem | undefined {
  const { expected, isOther, other } = credentialForms[kind];
  if (value === '') return { got: 'an empty string', expected };
  if (typeof value !== 'string') return { got: describeKind(value), expected };
  if (/^bearer /i.test(value)) {
    const hint = 'Remove "Bearer": the SDK adds it';
    return { got: 'a string with "Bearer"', expected, hint };
  }
  if (isOther(value)) return { ...other, expected };
  if (kind === 'apiKey' && !/^\s*sk_./.test(value)) {
    return { got: 'a string without "sk_"', expected };
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    return { got: 'a string with a space, a line break or similar', expected: 'none' };
  }
  if (value.length > maxSecretLength) {
    return { got: `${value.length} characters`, expected: `${maxSecretLength} at most` };
  }
  return undefined;
}

/**
 * Runs a credential function in the context in which this module was loaded, because all callers
 * share the result. In the context of a request, the function could return the key of that
 * request's tenant, and other tenants would pay with this key.
 */
const runOutsideRequests = /* @__PURE__ */ keepContext();

/** The SDK fetches a new JWT this many milliseconds before the old one expires. */
const expirySlack = 30_000;

/**
 * The API key or the JWT of a client. Calls share the result of a credential function until the
 * platform rejects the token (401) or, for a JWT, until shortly before its expiry.
 */
export class Credential {
  readonly kind: CredentialKind;
  /** The credential if the caller passed a string. The SDK cannot replace such a credential. */
  readonly fixed: string | undefined;
  readonly #source: CredentialSource;
  readonly #clock: Required<Clock>;
  #token: { readonly value: string; readonly renewAt: number } | undefined;
  #pending: { readonly token: Promise<string>; readonly since: number } | undefined;
  #secrets: readonly string[];

  constructor(kind: CredentialKind, source: CredentialSource, clock: Required<Clock>) {
    this.kind = kind;
    this.fixed = typeof source === 'string' ? source : undefined;
    this.#source = source;
    this.#clock = clock;
    this.#secrets = this.fixed === undefined ? [] : [this.fixed];
  }

  /**
   * The latest tokens, which errors redact. Some of them are older, because a late response may
   * quote an older token.
   */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /**
   * Returns the token to send, or rejects with UnusableCredential or the error of the credential
   * function. Waits for a running call of the function, or starts another call if that one has run
   * for `maxWaitMs`.
   */
  async get(maxWaitMs: number): Promise<string> {
    if (this.#token !== undefined && this.#clock.now() < this.#token.renewAt) {
      return this.#token.value;
    }
    const since = this.#clock.elapsed();
    const pending = this.#pending;
    if (pending !== undefined && since - pending.since < maxWaitMs) return pending.token;
    this.#token = undefined;
    const request = { token: this.#fetchAndStore(), since };
    this.#pending = request;
    try {
      return await request.token;
    } finally {
      if (this.#pending === request) this.#pending = undefined;
    }
  }

  /** Drops a token that the platform rejected, unless a newer token has already replaced it. */
  forget(token = this.#token?.value): void {
    if (this.#token?.value === token) this.#token = undefined;
  }

  /** Says what to check after a 401: where the credential came from, and whether it has expired. */
  describeFix(): string {
    const { option, variable, noun } = credentialNames[this.kind];
    const token = this.#secrets.at(-1) ?? '';
    const expires = expiryOf(token);
    const place =
      this.fixed === undefined
        ? `function in option ${option}`
        : describePlace(option, variable, token);
    if (expires > 0 && expires < this.#clock.now()) {
      return `The ${noun} (${place}) expired at ${new Date(expires).toISOString()}: get a new one.`;
    }
    return `Check the ${noun} (${place}): is it correct, and does it belong to this platform?`;
  }

  /** Stores and returns the token to send. Call this after `#token` was cleared. */
  async #fetchAndStore(): Promise<string> {
    const source = this.#source;
    const value: unknown = typeof source === 'string' ? source : await runOutsideRequests(source);
    const problem = findCredentialProblem(this.kind, value);
    if (typeof value !== 'string' || problem !== undefined) throw new UnusableCredential(problem);
    // A call of the credential function that started later has stored its token meanwhile.
    if (this.#token !== undefined) return this.#token.value;
    this.#token = { value, renewAt: this.#renewalTime(value) };
    // Errors may still show one of the last four tokens, so all four are redacted.
    this.#secrets = [...this.#secrets.filter((secret) => secret !== value), value].slice(-4);
    return value;
  }

  /**
   * Computes when to fetch the next token. A token that seems to have expired stays in use until
   * the platform rejects it, because this machine's clock may be wrong.
   */
  #renewalTime(value: string): number {
    const expires = expiryOf(value);
    const life = expires - this.#clock.now();
    // Use a short-lived token for half its life, because otherwise every call would fetch a new token.
    return life > 0 ? expires - Math.min(expirySlack, life / 2) : Number.POSITIVE_INFINITY;
  }
}

/** Reads when a JWT expires, in milliseconds since 1970; NaN if the JWT does not say so. */
function expiryOf(jwt: string): number {
  try {
    const payload = jwt.split('.')[1] ?? '';
    const json = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    const exp = (JSON.parse(json) as { exp?: unknown } | null)?.exp;
    if (typeof exp === 'number') return exp * 1_000;
  } catch {
    // A string that is not a JWT has no expiry.
  }
  return Number.NaN;
}

export function failWithoutCredential(call: CallRequest, kind: CredentialKind): never {
  const { option, variable, noun } = credentialNames[kind];
  throw cannotSend(
    identity(call),
    `needs the ${noun}; this client has none`,
    `Pass the option ${option}, or set ${variable} before the client is created.`,
  );
}

/** The fields of a running call that are needed to get its token. */
type CallWithToken = Parameters<typeof createCallError>[1] & {
  readonly credential: Credential;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly total: Deadline;
};

/** Gets the token for an attempt. Throws if the credential function exceeds `timeout`. */
export async function tokenFor(running: CallWithToken, clock: Required<Clock>): Promise<string> {
  const { credential, timeout, total } = running;
  const allowed = Math.min(timeout, total.remaining);
  const deadline = new Deadline(clock, timeout, 'attempt', { outer: total });
  try {
    return await deadline.race(credential.get(Math.min(timeout, running.totalTimeout)));
  } catch (error) {
    const { option } = credentialNames[credential.kind];
    if (!(error instanceof Stopped)) {
      const problem = error instanceof UnusableCredential ? error.problem : undefined;
      throw createCallError(noCredentialFailure(option, error, problem), running);
    }
    if (error.why.by === 'caller') throw error;
    const hint = `Check the function in the option ${option}.`;
    throw createCallError(timeoutFailure('credential', allowed, {}, hint), running);
  } finally {
    deadline.close();
  }
}

/** Replaces a token that the platform rejected. If that fails, returns a sentence that says why. */
export async function renewToken(
  running: CallWithToken,
  rejectedToken: string,
  clock: Required<Clock>,
): Promise<string | undefined> {
  running.credential.forget(rejectedToken);
  try {
    await tokenFor(running, clock);
    return undefined;
  } catch (error) {
    // If the caller aborted, the call ends. Any other failure to get a new token is reported in the
    // error of the 401.
    if (!(error instanceof PaymentsError)) throw error;
    return `The credential function did not return a new credential: ${messagePartsOf(error).what}.`;
  }
}
