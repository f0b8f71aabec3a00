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
  type AccountStatus,
  type AccountType,
} from '../../schemas/account.ts';
import {
  currencyCode,
  nonEmptyString,
  metadata,
  type Metadata,
  type Schema,
} from '../../schemas/primitives.ts';
import { parseJson, stringifyJson } from '../../internal/json.ts';
import { lazy } from '../../internal/objects.ts';
import type { Chain } from '../../schemas/settings.ts';
import { getEntity } from './entities.ts';
import { formatDecimal, parsePositive } from './money.ts';
import type { AccountRow, Platform } from './platform.ts';
import { oneOf, parseInput } from './validation.ts';

/** The input of `sandbox.accounts.create`, with more fields than the API's call takes. */
export interface SandboxAccountInput extends AccountCreateInput {
  /** Whether the Account is a wallet or a bank account. @default 'wallet' */
  type?: AccountType | undefined;
  /** The currency of the Account's balances. @default 'USDC' */
  currency?: string | undefined;
  /** The chain that the Account is on. @default the `defaultChain` of the Settings */
  chain?: string | undefined;
}
const createSchema = lazy((): Schema<SandboxAccountInput> =>
  z.strictObject({
    ...accountCreateInputShape(),
    type: z.optional(oneOf(accountTypes)),
    currency: z.optional(currencyCode()),
    chain: z.optional(nonEmptyString('a chain, such as "base"')),
  }),
);

/** What `sandbox.accounts.update` changes. An absent field stays as it is. */
export interface SandboxAccountUpdate extends AccountUpdateInput {
  /** An inactive Account sends and receives no new transfers; deposits and `fund` still work. */
  status?: AccountStatus | undefined;
}
const updateSchema = lazy((): Schema<SandboxAccountUpdate> =>
  z.strictObject({ ...accountUpdateInputShape(), status: z.optional(oneOf(accountStatuses)) }),
);

/** Creates an Account as POST /accounts does. The Settings supply auto-earn and default chain. */
export function createAccount(platform: Platform, input: SandboxAccountInput): AccountRow {
  getEntity(platform, input.entityId);
  const createdAt = platform.clock.toIsoNow();
  const accountMetadata = cloneMetadata(input.metadata ?? {});
  const row = platform.accounts.add((id): AccountRow => ({
    id,
    entityId: input.entityId,
    name: input.name ?? 'Account',
    type: input.type ?? 'wallet',
    // A test may want a chain that is not documented.
    chain: (input.chain ?? platform.settings.defaultChain) as Chain,
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

/** Changes an Account as PATCH /accounts/{id} does. Metadata is replaced as a whole. */
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

/** Calls `move` to change balances, and reports the new balances of each Account as a change. */
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

/** Returns the fields of an Account that the response of POST /accounts contains. */
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
  // The API reference does not define the holding balance, so the sandbox keeps it at zero.
  holdingBalance: formatDecimal(0n),
  metadata: cloneMetadata(row.metadata),
  updatedAt: row.updatedAt,
});

/** Copies metadata through JSON, so that changes of the copy do not change the original. */
const cloneMetadata = (original: Metadata): Metadata =>
  metadata().parse(parseJson(stringifyJson(original)));

/** Methods for the Accounts of a sandbox, and actions of the platform such as funding. */
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
    const report = 'The input of sandbox.accounts.create is';
    return toAccount(createAccount(this.#platform, parseInput(createSchema(), input, report)));
  }

  /** Returns an Account with its balances. @throws SandboxError when the Account does not exist. */
  get(id: string): Account {
    return toAccount(this.#platform.accounts.get(id));
  }

  /** Returns every Account, oldest first. */
  list(): Account[] {
    return this.#platform.accounts.all().map(toAccount);
  }

  /**
   * Puts money into an Account from outside, so the Account's available balance grows.
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
   * Changes the name, metadata or status of an Account. Only the sandbox can change the status.
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
    const report = 'The patch of sandbox.accounts.update is';
    const update = parseInput(updateSchema(), patch, report);
    return toAccount(updateAccount(this.#platform, id, update));
  }
}
