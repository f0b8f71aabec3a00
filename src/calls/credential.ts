import type { Clock } from './clock.ts';
import { longestSecret, shortestSecret } from '../errors/redact.ts';

/** A credential as text, or a function that fetches one: docs/gaps.md, row 43. */
export type CredentialSource = string | (() => string | Promise<string>);

/** The two credentials of the platform, and which calls each belongs to. */
export type CredentialKind = 'apiKey' | 'jwt';

/** A function for a credential gave something that is not one. The value is never in here. */
export class UnusableCredential extends Error {}

/** What a credential is called: its option, its environment variable, and its name in a sentence. */
export const credentialNames = {
  apiKey: { option: 'apiKey', variable: 'PAYMENTS_API_KEY', what: 'API key' },
  jwt: { option: 'jwt', variable: 'PAYMENTS_JWT', what: 'JWT' },
} as const;

/**
 * What is wrong with a credential, without showing it; undefined when nothing is. The form of the JWT
 * is not documented: docs/gaps.md, row 44.
 */
export function credentialProblem(kind: CredentialKind, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'it is not a string';
  if (value === '') return 'it is empty';
  if (!/^[\x21-\x7e]+$/.test(value)) {
    return 'it holds a space, a line break or another character that a header cannot carry';
  }
  if (value.length > longestSecret) return `it is longer than ${longestSecret} characters`;
  const isKey = value.startsWith('sk_');
  if (kind === 'apiKey' && (!isKey || value.length === 3)) {
    return 'it does not start with "sk_" followed by more characters, as an API key does';
  }
  if (kind === 'jwt' && isKey) {
    return 'it starts with "sk_", so it is an API key; a JWT is needed here';
  }
  return undefined;
}

/** A token is replaced this long before it expires, in milliseconds. */
const expirySlack = 30_000;

/** A function that has not answered for this long is asked again at the latest, in milliseconds. */
const longestCall = 30_000;

/**
 * One credential of one client. A function is asked once; its answer is kept until the platform
 * refuses it (401) or, for a JWT, until shortly before it expires. Callers who need a new one at
 * the same time share one call of the function.
 */
export class Credential {
  readonly kind: CredentialKind;
  /** The credential when it is text: known without asking anybody, and never replaced. */
  readonly fixed: string | undefined;
  readonly #source: () => string | Promise<string>;
  readonly #clock: Required<Clock>;
  #token: { readonly value: string; readonly expiresAt: number } | undefined;
  #fetching: { readonly token: Promise<string>; readonly since: number } | undefined;
  /** How often the function was asked. */
  #calls = 0;
  /** How many calls have begun since one ended: each is given twice the time of the one before. */
  #pending = 0;
  /** Which of all calls gave the latest token. */
  #newest = 0;
  /** Tokens that may still turn up in a late answer, for redaction. */
  readonly #seen: string[] = [];

  constructor(kind: CredentialKind, source: CredentialSource, clock: Required<Clock>) {
    this.kind = kind;
    this.#clock = clock;
    if (typeof source === 'string') {
      this.fixed = source;
      this.#source = () => source;
      this.#seen.push(source);
    } else {
      this.#source = source;
    }
  }

  /**
   * A token to send. A function that has not answered for `patience` milliseconds is asked again. Rejects
   * with what the function rejects with, or UnusableCredential.
   */
  async get(patience: number): Promise<string> {
    if (this.#token !== undefined && this.#clock.now() < this.#token.expiresAt) {
      return this.#token.value;
    }
    return this.#fetch(patience);
  }

  /** Forgets a token that was refused, unless another has taken its place already. */
  refused(token: string): void {
    if (this.#token?.value === token) this.#token = undefined;
  }

  /** The tokens that must not leave through an error. */
  get secrets(): readonly string[] {
    // Many late answers may have pushed the one in use out of those remembered.
    const used = this.#token?.value;
    return used === undefined || this.#seen.includes(used) ? this.#seen : [...this.#seen, used];
  }

  #fetch(patience: number): Promise<string> {
    const now = this.#clock.elapsed();
    const wait = Math.min(longestCall, patience * 2 ** Math.max(0, this.#pending - 1));
    if (this.#fetching !== undefined && now - this.#fetching.since < wait) {
      return this.#fetching.token;
    }
    this.#calls += 1;
    this.#pending += 1;
    const call = this.#calls;
    const token = (async () => {
      try {
        // Through a promise, so that a function that throws at once takes the same way.
        const value: unknown = await Promise.resolve().then(this.#source);
        const problem = credentialProblem(this.kind, value);
        if (typeof value === 'string') this.#remember(value);
        if (typeof value !== 'string' || problem !== undefined) {
          throw new UnusableCredential(problem);
        }
        // One that was given up may answer after its successor; then it is the older one.
        if (call > this.#newest) {
          this.#newest = call;
          this.#token = { value, expiresAt: this.#expiry(value) };
        }
        return value;
      } finally {
        this.#pending = 0;
        if (this.#calls === call) this.#fetching = undefined;
      }
    })();
    this.#fetching = { token, since: now };
    return token;
  }

  #remember(value: string): void {
    if (value.length < shortestSecret || this.#seen.includes(value)) return;
    this.#seen.push(value);
    if (this.#seen.length > 4) this.#seen.shift();
  }

  /**
   * When to ask for the next token. One that seems to have expired already is kept all the same:
   * this machine's clock may be wrong, and the platform will say so if it is not.
   */
  #expiry(value: string): number {
    const expires = this.kind === 'jwt' ? expiryOf(value) : undefined;
    const life = (expires ?? Number.POSITIVE_INFINITY) - this.#clock.now();
    // A token with a short life is used for half of it; otherwise every call would ask for another.
    return expires !== undefined && life > 0
      ? expires - Math.min(expirySlack, life / 2)
      : Number.POSITIVE_INFINITY;
  }
}

/** The `exp` claim of a JWT in milliseconds since 1970, if it can be read. */
function expiryOf(jwt: string): number | undefined {
  const payload = jwt.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    const exp: unknown =
      typeof claims === 'object' && claims !== null ? Reflect.get(claims, 'exp') : 0;
    return typeof exp === 'number' && exp > 0 ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
