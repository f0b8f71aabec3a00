import { identity, type CallRequest } from './call.ts';
import type { Credential } from './credential.ts';
import type { Deadline } from './deadline.ts';
import type { Attempt } from '../errors/errors.ts';
import type { HookCall } from './hooks.ts';
import type { Prepared } from './prepare.ts';
import type { Redact } from '../errors/redact.ts';
import type { Transport } from '../transports/transport.ts';

/** One call on its way: what all of its attempts have in common. */
export interface CallState<C extends CallRequest = CallRequest> {
  readonly call: C;
  /** What hooks tell this call from others by. */
  readonly number: number;
  readonly prepared: Prepared;
  readonly credential: Credential;
  readonly transport: Transport;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
  /** What is left of `totalTimeout`. */
  readonly total: Deadline;
  /** The attempts that have failed so far. */
  readonly attempts: Attempt[];
  /** The tokens it was sent with: an answer may name one that was replaced many times since. */
  readonly tokens: string[];
  /**
   * Takes them and the client's credentials out of a text. Looked up when it is called: most calls never
   * need it, and a token fetched meanwhile counts as well.
   */
  readonly redact: Redact;
  /** When the first attempt was begun, by the caller's clock; undefined before it. */
  startedAt: Date | undefined;
}

/** What hooks call the attempt that comes next. */
export const hookCallOf = ({ call, number, attempts }: CallState): HookCall => ({
  ...identity(call),
  call: number,
  attempt: attempts.length + 1,
});
