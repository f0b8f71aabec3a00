import * as z from 'zod/mini';
import { accountIdSchema, type Account } from '../../schemas/account.ts';
import { entityIdSchema } from '../../schemas/entity.ts';
import type { Iban } from '../../schemas/iban.ts';
import { lazy } from '../../internal/objects.ts';
import { currencyCode, nonEmptyString, type Schema } from '../../schemas/primitives.ts';
import { toAccount, updateBalances } from './accounts.ts';
import { getEntity } from './entities.ts';
import { parsePositive } from './money.ts';
import type { Platform } from './platform.ts';
import { conflict, unprocessable } from './sandbox-error.ts';
import { parseInput } from './validation.ts';

/** The input of `sandbox.ibans.create`; the API has no call to create an IBAN. */
export interface SandboxIbanInput {
  /** The id of the Account that receives the deposits to the IBAN. */
  accountId: string;
  /** The id of the Entity that owns the Account; any other id is rejected. Default: the right id. */
  entityId?: string | undefined;
  /** The IBAN. Default: a German IBAN with correct check digits, of a bank that does not exist. */
  iban?: string | undefined;
  /** The bank's identifier code. @default 'SANDDEFFXXX' */
  bic?: string | undefined;
  /** The bank's name. @default 'Sandbox Bank' */
  bankName?: string | undefined;
  /** The fiat currency that the IBAN accepts. @default 'EUR' */
  currency?: string | undefined;
}
const createSchema = lazy((): Schema<SandboxIbanInput> =>
  z.strictObject({
    accountId: accountIdSchema(),
    entityId: z.optional(entityIdSchema()),
    iban: z.optional(nonEmptyString('an IBAN')),
    bic: z.optional(nonEmptyString('a BIC')),
    bankName: z.optional(nonEmptyString('a name')),
    currency: z.optional(currencyCode()),
  }),
);

/** Deletes an IBAN as DELETE /ibans/{id} does. The IBAN becomes inactive and cannot be found. */
export function deleteIban(platform: Platform, id: string): void {
  const row = platform.ibans.remove(id);
  platform.closedIbans.set(id, { ...row, status: 'inactive' });
  platform.changes.add('iban.deleted', toIban, row, null);
}

export const toIban = (row: Iban): Iban => ({ ...row });

/** Creates a German IBAN: two check digits, a bank code that no bank has, an account number. */
function createGermanIban(account: number): string {
  const bban = `99999999${String(account).padStart(10, '0')}`;
  // Check digits by ISO 7064: append "DE00", replace letters by numbers (D is 13, E is 14), and
  // take 98 minus the remainder.
  const checkDigits = 98n - (BigInt(`${bban}131400`) % 97n);
  return `DE${String(checkDigits).padStart(2, '0')}${bban}`;
}

/** Methods for the IBANs of a sandbox. Only the sandbox can create IBANs and deposit to them. */
export class SandboxIbans {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * Creates an {@link Iban} for an Account, and makes up absent fields, the same in every run.
   * @throws SandboxError when the Account does not exist, or its Entity was not approved
   *   (`sandbox.entities.approve`).
   */
  create(input: SandboxIbanInput): Iban {
    const platform = this.#platform;
    const report = 'The input of sandbox.ibans.create is';
    const fields = parseInput(createSchema(), input, report);
    const account = platform.accounts.find(fields.accountId);
    if (account === undefined) {
      throw unprocessable('unknown_account', `accountId: no Account "${fields.accountId}" exists.`);
    }
    const entity = getEntity(platform, fields.entityId ?? account.entityId);
    if (account.entityId !== entity.id) {
      throw unprocessable(
        'entity_mismatch',
        `The Account "${account.id}" belongs to "${account.entityId}", not to "${entity.id}".`,
      );
    }
    if (entity.kycStatus !== 'approved') {
      throw unprocessable(
        'entity_not_verified',
        `The Entity "${entity.id}" has the KYC status ${entity.kycStatus}; an IBAN needs approved. Call sandbox.entities.approve first.`,
      );
    }
    const createdAt = platform.clock.toIsoNow();
    const row = platform.ibans.add((id): Iban => ({
      id,
      entityId: entity.id,
      accountId: account.id,
      iban: fields.iban ?? createGermanIban(Number(id.slice('iban_'.length))),
      bic: fields.bic ?? 'SANDDEFFXXX',
      bankName: fields.bankName ?? 'Sandbox Bank',
      currency: fields.currency ?? 'EUR',
      status: 'active',
      createdAt,
    }));
    platform.changes.add('iban.created', toIban, null, row);
    return toIban(row);
  }

  /** Returns one IBAN. @throws SandboxError when the IBAN does not exist or was deleted. */
  get(id: string): Iban {
    return toIban(this.#platform.ibans.get(id));
  }

  /** Returns every IBAN that was not deleted, oldest first. */
  list(): Iban[] {
    return this.#platform.ibans.all().map(toIban);
  }

  /**
   * Deletes an IBAN, as DELETE /ibans/{id} does. Later deposits to the IBAN are rejected.
   * @throws SandboxError when the IBAN does not exist or was deleted.
   */
  delete(id: string): void {
    deleteIban(this.#platform, id);
  }

  /**
   * Deposits to an IBAN. Adds `amount` to the Account's available balance without conversion.
   * @param amount a decimal string, such as `'100.00'`.
   * @throws SandboxError when the IBAN does not exist or was deleted, or the amount is no decimal above zero.
   */
  deposit(id: string, amount: string): Account {
    const platform = this.#platform;
    if (platform.closedIbans.has(id)) {
      throw conflict('iban_inactive', `The IBAN "${id}" was deleted, so deposits are rejected.`);
    }
    const account = platform.accounts.get(platform.ibans.get(id).accountId);
    const units = parsePositive(amount);
    updateBalances(platform, [account], () => {
      account.available += units;
    });
    return toAccount(account);
  }
}
