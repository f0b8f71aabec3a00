import type { resolveOptions } from './client-options.ts';
import type { Credential, CredentialKind } from './credential.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RetryBudget } from './retry.ts';
import type { ReportedValues } from './undocumented-values.ts';

/** The settings for calls to one of the platform's two APIs. */
export interface PipelineSetup extends Omit<
  ReturnType<typeof resolveOptions>,
  'rootUrl' | 'apiKey' | 'jwt' | 'journal' | 'gracePeriod'
> {
  readonly credentialKind: CredentialKind;
  /** The credential for calls. If undefined, every call fails before anything is sent. */
  readonly credential: Credential | undefined;
  /** All credentials of the client. A response may quote any of them, and errors must show none. */
  readonly credentials: readonly Credential[];
  readonly budget: RetryBudget;
  readonly rateLimiter: RateLimiter;
  readonly reportedValues: ReportedValues;
}
