import { identity, type CallRequest, type PreparedRequest } from './call.ts';
import type { Credential } from './credential.ts';
import type { Deadline } from './deadline.ts';
import type { Attempt } from '../errors/errors.ts';
import type { HookCall } from './hooks.ts';
import type { Redact } from '../errors/redact.ts';
import type { Transport } from '../transports/transport.ts';

/** A running call: what its attempts have in common. */
export interface CallState<C extends CallRequest = CallRequest> {
  readonly call: C;
  /** The number that links the events of this call in hooks. */
  readonly number: number;
  readonly prepared: PreparedRequest;
  readonly credential: Credential;
  readonly transport: Transport;
  readonly timeout: number;
  readonly totalTimeout: number;
  readonly maxRetries: number;
  /** The deadline after `totalTimeout`. */
  readonly total: Deadline;
  /** The attempts that have failed so far. */
  readonly attempts: Attempt[];
  /** The tokens of all attempts: a response may contain one that was replaced since. */
  readonly tokens: string[];
  /**
   * Removes the tokens and the client's credentials from a string. They are collected on each use, because
   * most calls do not need it and a token may be fetched meanwhile.
   */
  readonly redact: Redact;
  /** When the first attempt started, by the client's clock; undefined before it. */
  startedAt: Date | undefined;
}

/** Describes the next attempt for hooks. */
export const createHookCall = ({ call, number, attempts }: CallState): HookCall => ({
  ...identity(call),
  call: number,
  attempt: attempts.length + 1,
});
