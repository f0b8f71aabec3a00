import * as z from 'zod/mini';
import {
  accountCreateInputShape,
  accountStatuses,
  accountTypes,
  accountUpdateInputShape,
  type Account,
  type AccountCreated,
  type AccountCreateInput,
  type AccountUpdateInput,
  type KnownAccountStatus,
  type KnownAccountType,
} from '../../schemas/account.ts';
import { nonEmptyString, metadata, type Metadata, type Schema } from '../../schemas/primitives.ts';
import { parseJson, stringifyJson } from '../../internal/json.ts';
import { knownEntity } from './entities.ts';
import { formatDecimal, parsePositive } from './money.ts';
import type { AccountRow, Platform } from './platform.ts';
import { asInput, checked } from './validation.ts';

/** What it takes to create an Account in the sandbox: more than the API offers. */
export interface SandboxAccountInput extends AccountCreateInput {
  /** A wallet or a bank account. @default 'wallet' */
  type?: KnownAccountType | undefined;
  /** What its balances are in. @default 'USDC' */
  currency?: string | undefined;
  /** The chain that it is provisioned on. @default the `defaultChain` of the Settings */
  chain?: string | undefined;
}
const SandboxAccountInputSchema: Schema<SandboxAccountInput> = z.strictObject({
  ...accountCreateInputShape(),
  type: z.optional(z.enum(accountTypes, `expected one of ${accountTypes.join(', ')}`)),
  currency: z.optional(nonEmptyString('a currency code, such as "USDC"')),
  chain: z.optional(nonEmptyString('a chain, such as "base"')),
});

/** What `sandbox.accounts.update` sets; a field that is absent stays as it is. */
export interface SandboxAccountUpdate extends AccountUpdateInput {
  /** No new transfer leaves or reaches an inactive Account; deposits and `fund` still do. */
  status?: KnownAccountStatus | undefined;
}
const SandboxAccountUpdateSchema: Schema<SandboxAccountUpdate> = z.strictObject({
  ...accountUpdateInputShape(),
  status: z.optional(z.enum(accountStatuses, `expected one of ${accountStatuses.join(', ')}`)),
});

/** What POST /accounts does: chain and auto-earn come from the Settings of this moment. */
export function createAccount(platform: Platform, input: SandboxAccountInput): AccountRow {
  knownEntity(platform, input.entityId);
  const createdAt = platform.clock.iso();
  const own = cloneInput(input.metadata ?? {});
  return platform.accounts.add((id) => ({
    id,
    entityId: input.entityId,
    name: input.name ?? 'Account',
    type: input.type ?? 'wallet',
    chain: input.chain ?? platform.settings.defaultChain,
    currency: input.currency ?? 'USDC',
    status: 'active',
    autoEarn: platform.settings.autoEarnEnabled,
    metadata: own,
    createdAt,
    updatedAt: createdAt,
    available: 0n,
    pending: 0n,
    locked: 0n,
  }));
}

/** What PATCH /accounts/{id} does: present fields change, and metadata is replaced as a whole. */
export function updateAccount(
  platform: Platform,
  id: string,
  { name, metadata: own }: AccountUpdateInput,
): AccountRow {
  const row = platform.accounts.get(id);
  row.metadata = own === undefined ? row.metadata : cloneInput(own);
  row.name = name ?? row.name;
  row.updatedAt = platform.clock.iso();
  return row;
}

/** An Account as the create call answers it. */
export const accountCreated = (row: AccountRow): AccountCreated => ({
  id: row.id,
  entityId: row.entityId,
  name: row.name,
  type: row.type,
  chain: row.chain,
  status: row.status,
  autoEarn: row.autoEarn,
  availableBalance: formatDecimal(row.available),
  currency: row.currency,
  createdAt: row.createdAt,
});

export const accountView = (row: AccountRow): Account => ({
  ...accountCreated(row),
  pendingBalance: formatDecimal(row.pending),
  lockedBalance: formatDecimal(row.locked),
  // The document does not say what is held; nothing in the sandbox is.
  holdingBalance: formatDecimal(0n),
  metadata: cloneInput(row.metadata),
  updatedAt: row.updatedAt,
});

/** Metadata that shares nothing with the caller's object, made the way the wire would make it. */
const cloneInput = (original: Metadata): Metadata =>
  metadata().parse(parseJson(stringifyJson(original)));

/** The Accounts of a sandbox, and what only the platform itself can do with them. */
export class SandboxAccounts {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * Creates an Account, as POST /accounts does, and lets you choose type, currency and chain too.
   * @throws SandboxError when the Entity does not exist or a field is malformed.
   */
  create(input: SandboxAccountInput): Account {
    const report = asInput('The input of sandbox.accounts.create is');
    return accountView(
      createAccount(this.#platform, checked(SandboxAccountInputSchema, input, report)),
    );
  }

  /** One Account with its balances. @throws SandboxError when it does not exist. */
  get(id: string): Account {
    return accountView(this.#platform.accounts.get(id));
  }

  /** Every Account, oldest first. */
  list(): Account[] {
    return this.#platform.accounts.all().map(accountView);
  }

  /**
   * Puts money into an Account from outside: its available balance grows.
   * @param amount a decimal string in the Account's currency, such as `'100.00'`.
   * @throws SandboxError when the Account does not exist or the amount is no decimal above zero.
   */
  fund(id: string, amount: string): Account {
    const row = this.#platform.accounts.get(id);
    row.available += parsePositive(amount);
    row.updatedAt = this.#platform.clock.iso();
    return accountView(row);
  }

  /**
   * Changes name, metadata or status. Only the sandbox can change the status.
   * @throws SandboxError when the Account does not exist or a field is malformed.
   *
   * @example
   * ```ts
   * import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
   *
   * const sandbox = seedDemo(new Sandbox());
   * sandbox.accounts.update('acc_000001', { status: 'inactive' });
   * ```
   */
  update(id: string, patch: SandboxAccountUpdate): Account {
    const report = asInput('The patch of sandbox.accounts.update is');
    const { status, ...rest } = checked(SandboxAccountUpdateSchema, patch, report);
    const row = updateAccount(this.#platform, id, rest);
    row.status = status ?? row.status;
    return accountView(row);
  }
}
