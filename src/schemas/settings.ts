import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import {
  anyString,
  closedObject,
  createGuard,
  asSchema,
  type OpenEnum,
  type Schema,
} from './primitives.ts';

const chains = ['ethereum', 'base', 'arbitrum', 'optimism', 'polygon'] as const;
/** The documented chains. @useDeclaredType */
export type KnownChain = (typeof chains)[number];
/** One of the documented chains, or a new one that this version does not know. */
export type Chain = OpenEnum<KnownChain>;
/** Whether the chain is documented. */
export const isKnownChain: (value: unknown) => value is KnownChain = createGuard(chains);

/** The configuration of the Platform. The API reference names no call that reads it. */
export interface Settings {
  /** When true, new Accounts are configured to earn yield on idle balances. */
  readonly autoEarnEnabled: boolean;
  /** The vault that idle balances of new Accounts are deposited into. */
  readonly autoEarnVault?: string | null | undefined;
  /** The chain used when creating new Accounts. */
  readonly defaultChain: Chain;
  /** URL that receives webhook notifications; null when they are disabled. */
  readonly webhookUrl?: string | null | undefined;
  /** ISO 8601 date-time, UTC. */
  readonly updatedAt: string;
}

export const settingsShape = () => ({
  autoEarnEnabled: z.boolean(),
  autoEarnVault: z.nullish(anyString()),
  defaultChain: anyString<Chain>(),
  webhookUrl: z.nullish(anyString()),
  updatedAt: anyString(),
});
export const settingsSchema = lazy((): Schema<Settings> => z.looseObject(settingsShape()));

/** The Settings to change; omitted fields stay unchanged. */
export interface SettingsUpdateInput {
  /** Whether new Accounts earn yield. True requires `autoEarnVault`, even if one was set before. */
  autoEarnEnabled?: boolean | undefined; // A vault set earlier may be enough: docs/gaps.md, row 12
  /** A vault: `<protocol>_usdc` or `<protocol>_usds`. */
  autoEarnVault?: string | undefined; // The API reference names no vault: docs/gaps.md, row 11
  /** The chain used when creating new Accounts. */
  defaultChain?: KnownChain | undefined; // Other chains may exist: docs/gaps.md, row 13
  /** Where webhook notifications go; null disables them. */
  webhookUrl?: string | null | undefined; // Payload and signature are not shown: docs/gaps.md, row 56
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
    asSchema<KnownChain>(
      z.string(describeChains()).check(z.refine(isKnownChain, describeChains())),
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
