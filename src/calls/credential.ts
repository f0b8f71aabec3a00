import { kindOf } from './arguments.ts';
import { cannotSend, identity, type CallRequest } from './call.ts';
import type { Clock } from './clock.ts';
import { Deadline, Stopped } from './deadline.ts';
import { PaymentsError } from '../errors/errors.ts';
import { errorOf, noCredential, timedOut } from '../errors/failure.ts';
import { longestSecret } from '../errors/redact.ts';
import { host } from '../internal/runtime.ts';

/** A credential as text, or a function that fetches one. */
export type CredentialSource = string | (() => string | Promise<string>); // docs/gaps.md, row 43

/** The two credentials of the platform, and which calls each belongs to. */
export type CredentialKind = 'apiKey' | 'jwt';

/** A function for a credential gave something that is not one. The value is never in here. */
class UnusableCredential extends Error {}

/** What a credential is called: its option, its environment variable, and its name in a sentence. */
export const credentialNames = {
  apiKey: { option: 'apiKey', variable: 'PAYMENTS_API_KEY', what: 'API key' },
  jwt: { option: 'jwt', variable: 'PAYMENTS_JWT', what: 'JWT' },
} as const;

/** Where an option was given: the variable has what somebody has to mend, also when a program reads it. */
export const placeOf = (option: string, variable: string | undefined, value: unknown): string =>
  variable !== undefined && host.process?.env?.[variable]?.trim() === value
    ? variable
    : `option ${option}`;

/**
 * What is wrong with a credential, without showing it; undefined when nothing is. The form of the JWT
 * is not documented: docs/gaps.md, row 44.
 */
export function credentialProblem(kind: CredentialKind, value: unknown): string | undefined {
  const expected = `expected ${kind === 'jwt' ? 'a JWT' : 'an API key ("sk_" and more)'}`;
  if (typeof value !== 'string' || value === '') {
    return `got ${value === '' ? 'an empty string' : kindOf(value)}; ${expected}`;
  }
  if (/^bearer /i.test(value)) {
    return `begins with "Bearer"; ${expected}. Take "Bearer" off: the SDK adds it`;
  }
  if (kind === 'jwt' ? value.startsWith('sk_') : value.startsWith('eyJ')) {
    const [noun, option] = kind === 'jwt' ? ['an API key', 'apiKey'] : ['a JWT', 'jwt'];
    return `got ${noun}; ${expected}. Pass it as the option ${option}`;
  }
  if (kind === 'apiKey' && !/^\s*sk_./.test(value)) return `got text without "sk_"; ${expected}`;
  if (!/^[\x21-\x7e]+$/.test(value)) {
    return 'holds a space, a line break or the like; expected none';
  }
  return value.length > longestSecret
    ? `has ${value.length} characters; expected ${longestSecret} at most`
    : undefined;
}

/** A JWT is replaced this long before it expires, in milliseconds. */
const expirySlack = 30_000;

/**
 * One credential of one client. A function is asked once; its answer is kept until the platform
 * refuses it (401) or, for a JWT, until shortly before it expires. Callers who need a new one at
 * the same time share one call of the function.
 */
export class Credential {
  readonly kind: CredentialKind;
  /** The credential when it is text: known without asking anybody, and never replaced. */
  readonly fixed: string | undefined;
  readonly #source: CredentialSource;
  readonly #clock: Required<Clock>;
  #token: { readonly value: string; readonly until: number } | undefined;
  #asked: { readonly token: Promise<string>; readonly since: number } | undefined;
  #secrets: readonly string[];

  constructor(kind: CredentialKind, source: CredentialSource, clock: Required<Clock>) {
    this.kind = kind;
    this.fixed = typeof source === 'string' ? source : undefined;
    this.#source = source;
    this.#clock = clock;
    this.#secrets = this.fixed === undefined ? [] : [this.fixed];
  }

  /** The latest tokens, which must not leave through an error: a late answer may name one. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /**
   * A token to send. A function that has not answered for `patience` milliseconds is asked again. Rejects
   * with what the function rejects with, or UnusableCredential.
   */
  async get(patience: number): Promise<string> {
    if (this.#token !== undefined && this.#clock.now() < this.#token.until) {
      return this.#token.value;
    }
    const since = this.#clock.elapsed();
    if (this.#asked !== undefined && since - this.#asked.since < patience) return this.#asked.token;
    this.#token = undefined;
    const asked = { token: this.#ask(), since };
    this.#asked = asked;
    try {
      return await asked.token;
    } finally {
      if (this.#asked === asked) this.#asked = undefined;
    }
  }

  /** Forgets a token that was refused, unless another has taken its place already. */
  refused(token: string): void {
    if (this.#token?.value === token) this.#token = undefined;
  }

  /** Where the latest token came from, and that it has expired, if it seems so. Never the token. */
  told(): string {
    const { option, variable, what } = credentialNames[this.kind];
    const token = this.#secrets.at(-1) ?? '';
    const expires = expiryOf(token);
    const where =
      this.fixed === undefined ? `function in option ${option}` : placeOf(option, variable, token);
    return expires > 0 && expires < this.#clock.now()
      ? `the ${what} (${where}), which expired at ${new Date(expires).toISOString()}: get a new one.`
      : `the ${what} (${where}): is it right, and of this Platform?`;
  }

  async #ask(): Promise<string> {
    const source = this.#source;
    const value: unknown = typeof source === 'string' ? source : await source();
    const problem = credentialProblem(this.kind, value);
    if (typeof value !== 'string' || problem !== undefined) throw new UnusableCredential(problem);
    // Another may have come while this one was late: what is in use stays in use.
    if (this.#token !== undefined) return this.#token.value;
    this.#token = { value, until: this.#end(value) };
    // It is the last of them, so it cannot be the one that is forgotten.
    this.#secrets = [...this.#secrets.filter((secret) => secret !== value), value].slice(-4);
    return value;
  }

  /**
   * When to ask for the next token. One that seems to have expired already is kept all the same:
   * this machine's clock may be wrong, and the platform will say so if it is not.
   */
  #end(value: string): number {
    const expires = expiryOf(value);
    const life = expires - this.#clock.now();
    // One with a short life is used for half of it; otherwise every call would ask for another.
    return life > 0 ? expires - Math.min(expirySlack, life / 2) : Number.POSITIVE_INFINITY;
  }
}

/** The `exp` claim of a JWT in milliseconds since 1970; NaN if there is none. */
function expiryOf(jwt: string): number {
  try {
    const payload = jwt.split('.')[1] ?? '';
    const json = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    const exp = (JSON.parse(json) as { exp?: unknown } | null)?.exp;
    return typeof exp === 'number' ? exp * 1_000 : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** The credential that a call takes. Throws ConfigurationError when the client was given none. */
export function credentialFor(
  call: CallRequest,
  {
    credential,
    credentialKind,
  }: { readonly credential: Credential | undefined; readonly credentialKind: CredentialKind },
): Credential {
  if (credential !== undefined) return credential;
  const { option, variable, what } = credentialNames[credentialKind];
  throw cannotSend(
    identity(call),
    `needs the ${what}; this client was given none.\nPass the option ${option}, or set ${variable} before the client is made.`,
  );
}

/** The part of a call's state that its token depends on. */
type TokenState = Parameters<typeof errorOf>[1] & {
  readonly credential: Credential;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly total: Deadline;
};

/** The token to send, within the time of one attempt. */
export async function tokenFor(state: TokenState, clock: Required<Clock>): Promise<string> {
  const { credential, timeout, total } = state;
  const allowed = Math.min(timeout, total.remaining);
  const deadline = new Deadline(clock, timeout, 'attempt', { outer: total });
  try {
    return await deadline.race(credential.get(Math.min(timeout, state.totalTimeout)));
  } catch (error) {
    const { option } = credentialNames[credential.kind];
    if (!(error instanceof Stopped)) {
      const problem = error instanceof UnusableCredential ? error.message : undefined;
      throw errorOf(noCredential(option, error, problem), state);
    }
    if (error.why.by === 'caller') throw error;
    const remedy = `Look at the function in the option ${option}.`;
    throw errorOf(timedOut('credential', allowed, {}, remedy), state);
  } finally {
    deadline.close();
  }
}

/** Asks the credential's function to replace a refused token. Returns why it could not. */
export async function renewToken(
  state: TokenState,
  refused: string,
  clock: Required<Clock>,
): Promise<string | undefined> {
  state.credential.refused(refused);
  try {
    await tokenFor(state, clock);
    return undefined;
  } catch (error) {
    // The caller's abort ends the call. Anything else is reported together with the 401.
    if (!(error instanceof PaymentsError)) throw error;
    const [why = ''] = error.message.split('\n');
    return `The credential function did not return a new credential: ${why}`;
  }
}
