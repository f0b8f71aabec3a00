import type { CallState } from './call-state.ts';
import { identity, type CallRequest } from './call.ts';
import type { Clock } from './clock.ts';
import {
  credentialNames,
  UnusableCredential,
  type Credential,
  type CredentialKind,
} from './credential.ts';
import { Deadline, Stopped } from './deadline.ts';
import { ConfigurationError, PaymentsError } from '../errors/errors.ts';
import { errorOf, noCredential, timedOut } from '../errors/failure.ts';

/* How a call comes by its credential, and what becomes of it when it does not. */

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
  throw new ConfigurationError(
    `${call.operation} needs the ${what}, and this client was given none. Pass the option ${option}, or set the environment variable ${variable} before the client is made. Nothing was sent.`,
    { ...identity(call), outcome: 'not_sent' },
  );
}

/** The token to send, within the time of one attempt. */
export async function tokenFor(state: CallState, clock: Required<Clock>): Promise<string> {
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
  state: CallState,
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
