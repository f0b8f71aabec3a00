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
import { getEntity } from './entities.ts';
import { formatDecimal, parsePositive } from './money.ts';
import type { AccountRow, Platform } from './platform.ts';
import { inputReport, parseInput } from './validation.ts';

/** Input for creating an Account in the sandbox, with more fields than the input of the API has. */
export interface SandboxAccountInput extends AccountCreateInput {
  /** A wallet or a bank account. @default 'wallet' */
  type?: KnownAccountType | undefined;
  /** Currency of the balances. @default 'USDC' */
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

/** What POST /accounts does. The current Settings decide about auto-earn and the default chain. */
export function createAccount(platform: Platform, input: SandboxAccountInput): AccountRow {
  getEntity(platform, input.entityId);
  const createdAt = platform.clock.toIsoNow();
  const accountMetadata = cloneMetadata(input.metadata ?? {});
  const row = platform.accounts.add((id): AccountRow => ({
    id,
    entityId: input.entityId,
    name: input.name ?? 'Account',
    type: input.type ?? 'wallet',
    chain: input.chain ?? platform.settings.defaultChain,
    currency: input.currency ?? 'USDC',
    status: 'active',
    autoEarn: platform.settings.autoEarnEnabled,
    metadata: accountMetadata,
    createdAt,
    updatedAt: createdAt,
    available: 0n,
    pending: 0n,
    locked: 0n,
  }));
  platform.changes.add('account.created', toAccount, null, row);
  return row;
}

/** What PATCH /accounts/{id} does: present fields change, and metadata is replaced as a whole. */
export function updateAccount(
  platform: Platform,
  id: string,
  { name, metadata: newMetadata, status }: SandboxAccountUpdate,
): AccountRow {
  const row = platform.accounts.get(id);
  const before = { ...row };
  row.metadata = newMetadata === undefined ? row.metadata : cloneMetadata(newMetadata);
  row.name = name ?? row.name;
  row.status = status ?? row.status;
  row.updatedAt = platform.clock.toIsoNow();
  const type = row.status === before.status ? 'account.updated' : 'account.status';
  platform.changes.add(type, toAccount, before, row);
  return row;
}

/** Calls `move`, which moves money, and then reports the new balances of each Account. */
export function updateBalances(
  platform: Platform,
  rows: readonly (AccountRow | undefined)[],
  move: () => void,
): void {
  const accounts = rows.filter((row) => row !== undefined);
  const before = accounts.map((row) => ({ ...row }));
  move();
  const updatedAt = platform.clock.toIsoNow();
  platform.changes.collect(() => {
    for (const [at, row] of accounts.entries()) {
      row.updatedAt = updatedAt;
      platform.changes.add('account.balance', toAccount, before[at] ?? null, row);
    }
  });
}

/** An Account as the create call returns it. */
export const toAccountCreated = (row: AccountRow): AccountCreated => ({
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

export const toAccount = (row: AccountRow): Account => ({
  ...toAccountCreated(row),
  pendingBalance: formatDecimal(row.pending),
  lockedBalance: formatDecimal(row.locked),
  // The API reference does not define this balance; the sandbox keeps it at zero.
  holdingBalance: formatDecimal(0n),
  metadata: cloneMetadata(row.metadata),
  updatedAt: row.updatedAt,
});

/** Copies metadata as JSON would carry it, so that the copy shares nothing with the original. */
const cloneMetadata = (original: Metadata): Metadata =>
  metadata().parse(parseJson(stringifyJson(original)));

/** The Accounts of a sandbox, and the actions that only the platform can take. */
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
    const report = inputReport('The input of sandbox.accounts.create is');
    return toAccount(
      createAccount(this.#platform, parseInput(SandboxAccountInputSchema, input, report)),
    );
  }

  /** One Account with its balances. @throws SandboxError when it does not exist. */
  get(id: string): Account {
    return toAccount(this.#platform.accounts.get(id));
  }

  /** Every Account, oldest first. */
  list(): Account[] {
    return this.#platform.accounts.all().map(toAccount);
  }

  /**
   * Puts money into an Account from outside: its available balance grows.
   * @param amount a decimal string in the Account's currency, such as `'100.00'`.
   * @throws SandboxError when the Account does not exist or the amount is no decimal above zero.
   */
  fund(id: string, amount: string): Account {
    const row = this.#platform.accounts.get(id);
    const units = parsePositive(amount);
    updateBalances(this.#platform, [row], () => {
      row.available += units;
    });
    return toAccount(row);
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
    const report = inputReport('The patch of sandbox.accounts.update is');
    const update = parseInput(SandboxAccountUpdateSchema, patch, report);
    return toAccount(updateAccount(this.#platform, id, update));
  }
}
