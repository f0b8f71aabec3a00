import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import { anyString, closedObject, enumString, asSchema, type Schema } from './primitives.ts';

export const chains = ['ethereum', 'base', 'arbitrum', 'optimism', 'polygon'] as const;
/** The documented chains, such as `base`. @useDeclaredType */
export type Chain = (typeof chains)[number];

/** The configuration of the Platform. The API reference names no call that reads it. */
export interface Settings {
  /** Whether the platform configures new Accounts to earn yield on idle balances. */
  readonly autoEarnEnabled: boolean;
  /** The vault into which the platform deposits idle balances of new Accounts. */
  readonly autoEarnVault?: string | null | undefined;
  /** The chain on which the platform creates new Accounts. */
  readonly defaultChain: Chain;
  /** URL to which the platform sends webhook notifications. Null if they are disabled. */
  readonly webhookUrl?: string | null | undefined;
  /** When the Settings were last changed: an ISO 8601 date-time in UTC. */
  readonly updatedAt: string;
}

export const settingsShape = () => ({
  autoEarnEnabled: z.boolean(),
  autoEarnVault: z.nullish(anyString()),
  defaultChain: enumString(chains),
  webhookUrl: z.nullish(anyString()),
  updatedAt: anyString(),
});
export const settingsSchema = lazy((): Schema<Settings> => z.looseObject(settingsShape()));

/** Input of `settings.update`: the Settings to change. Omitted fields stay unchanged. */
export interface SettingsUpdateInput {
  /** Whether new Accounts earn yield. True requires `autoEarnVault`, even if one was set before. */
  autoEarnEnabled?: boolean | undefined; // A vault that was set earlier may be enough: docs/gaps.md, row 12
  /** Identifier of a vault: `<protocol>_usdc` or `<protocol>_usds`. */
  autoEarnVault?: string | undefined; // The API reference names no vault: docs/gaps.md, row 11
  /** The chain on which the platform creates new Accounts. */
  defaultChain?: Chain | undefined; // The platform may accept other chains: docs/gaps.md, row 13
  /** URL to which the platform sends webhook notifications. Null disables them. */
  webhookUrl?: string | null | undefined; // The payload and the signature of webhooks are not shown: docs/gaps.md, row 56
}

const expectedVault = /* @__PURE__ */ expectation(
  'a vault identifier: "<protocol>_usdc" or "<protocol>_usds"',
);
const describeChains = (): string => expectation(`one of ${chains.join(', ')}`);
const expectedUrl = /* @__PURE__ */ expectation('an http(s) URL, or null for none');
export const settingsUpdateInputShape = () => ({
  autoEarnEnabled: z.optional(z.boolean(expectation('true or false'))),
  autoEarnVault: z.optional(
    z.string(expectedVault).check(z.regex(/^[a-z0-9]+_(usdc|usds)$/, expectedVault)),
  ),
  defaultChain: z.optional(
    asSchema<Chain>(
      z
        .string(describeChains())
        .check(
          z.refine((chain) => (chains as readonly string[]).includes(chain), describeChains()),
        ),
    ),
  ),
  webhookUrl: z.nullish(
    z
      .string(expectedUrl)
      .check(z.refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value), expectedUrl)),
  ),
});
export const settingsUpdateInputSchema = lazy((): Schema<SettingsUpdateInput> =>
  closedObject(settingsUpdateInputShape()).check(
    z.refine((input) => input.autoEarnEnabled !== true || input.autoEarnVault !== undefined, {
      path: ['autoEarnVault'],
      error: expectation({
        expected: 'a vault, because autoEarnEnabled is true',
        hint: 'Name one: "<protocol>_usdc" or "<protocol>_usds"',
      }),
    }),
  ),
);
