import { describeKind } from '../internal/text.ts';
import { cannotSend, identity, type CallRequest } from './call.ts';
import { type Clock, Deadline, Stopped } from './time.ts';
import { PaymentsError } from '../errors/errors.ts';
import { createCallError } from '../errors/call-error.ts';
import { noCredentialFailure, timeoutFailure } from '../errors/failure.ts';
import { messagePartsOf } from '../errors/message.ts';
import { maxSecretLength } from '../errors/redact.ts';
import type { Problem } from '../internal/issues.ts';
import { host } from '../internal/runtime.ts';

/** A credential as a string, or a function that fetches one. */
export type CredentialSource = string | (() => string | Promise<string>); // How credentials are issued is not shown: docs/gaps.md, row 43

/** The two kinds of credential that the platform has. */
export type CredentialKind = 'apiKey' | 'jwt';

/** Thrown if a credential function returned no credential. Never contains what was returned. */
class UnusableCredential extends Error {
  readonly problem: Problem | undefined;
  constructor(problem: Problem | undefined) {
    super('unusable credential');
    this.problem = problem;
  }
}

/** The names of a credential: its option, its environment variable, and its noun in a message. */
export const credentialNames = {
  apiKey: { option: 'apiKey', variable: 'PAYMENTS_API_KEY', noun: 'API key' },
  jwt: { option: 'jwt', variable: 'PAYMENTS_JWT', noun: 'JWT' },
} as const;

/** Names where an option was set: the environment variable if that holds the value. */
export const describePlace = (
  option: string,
  variable: string | undefined,
  value: unknown,
): string =>
  variable !== undefined && host.process?.env?.[variable]?.trim() === value
    ? variable
    : `option ${option}`;

/** What a credential of each kind looks like, and what shows that it is one of the other kind. */
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
 * Says what is wrong with a credential without showing it; undefined if nothing is. The form of the
 * JWT is not documented: docs/gaps.md, row 44.
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

/** A JWT is replaced this long before it expires, in milliseconds. */
const expirySlack = 30_000;

/**
 * One credential of one client. A credential function is called once, and its token is kept until
 * the platform rejects the token (401) or, for a JWT, until shortly before it expires. Calls that
 * need a new token at the same time share one call of the function.
 */
export class Credential {
  readonly kind: CredentialKind;
  /** The credential when it is a string, which is never replaced. */
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

  /** The latest tokens, which errors must not show. A late response may contain an older one. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /**
   * Gets a token to send. If the function has not returned for `maxWaitMs`, calls it again. Rejects
   * with what the function rejects with, or with UnusableCredential.
   */
  async get(maxWaitMs: number): Promise<string> {
    if (this.#token !== undefined && this.#clock.now() < this.#token.renewAt) {
      return this.#token.value;
    }
    const since = this.#clock.elapsed();
    const pending = this.#pending;
    if (pending !== undefined && since - pending.since < maxWaitMs) return pending.token;
    this.#token = undefined;
    const request = { token: this.#fetch(), since };
    this.#pending = request;
    try {
      return await request.token;
    } finally {
      if (this.#pending === request) this.#pending = undefined;
    }
  }

  /** Forgets a rejected token, unless it has already been replaced. */
  forget(token: string): void {
    if (this.#token?.value === token) this.#token = undefined;
  }

  /** What to check after a 401: where the latest token came from, and whether it seems to have expired. */
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

  async #fetch(): Promise<string> {
    const source = this.#source;
    const value: unknown = typeof source === 'string' ? source : await source();
    const problem = findCredentialProblem(this.kind, value);
    if (typeof value !== 'string' || problem !== undefined) throw new UnusableCredential(problem);
    // Another call of the credential function may have set a newer token meanwhile; keep that token.
    if (this.#token !== undefined) return this.#token.value;
    this.#token = { value, renewAt: this.#renewalTime(value) };
    // The new token is last, so that it is never the one that is dropped.
    this.#secrets = [...this.#secrets.filter((secret) => secret !== value), value].slice(-4);
    return value;
  }

  /**
   * When to fetch the next token. A token that seems to have expired is kept, because this
   * machine's clock may be wrong. If not, the platform will reject the token.
   */
  #renewalTime(value: string): number {
    const expires = expiryOf(value);
    const life = expires - this.#clock.now();
    // A short-lived token is used for half of its life; otherwise every call would fetch another.
    return life > 0 ? expires - Math.min(expirySlack, life / 2) : Number.POSITIVE_INFINITY;
  }
}

/** The `exp` claim of a JWT in milliseconds since 1970; NaN if there is none. */
function expiryOf(jwt: string): number {
  try {
    const payload = jwt.split('.')[1] ?? '';
    const json = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    const exp = (JSON.parse(json) as { exp?: unknown } | null)?.exp;
    if (typeof exp === 'number') return exp * 1_000;
  } catch {
    // Not a JWT.
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

/** The part of a running call that its token depends on. */
type CallWithToken = Parameters<typeof createCallError>[1] & {
  readonly credential: Credential;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly total: Deadline;
};

/** Gets the token to send, within the time of one attempt. */
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

/** Calls the credential function to replace a rejected token. Returns why that failed, if so. */
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
    // The caller's abort ends the call. Anything else is reported together with the 401.
    if (!(error instanceof PaymentsError)) throw error;
    return `The credential function did not return a new credential: ${messagePartsOf(error).what}.`;
  }
}
