import * as z from 'zod/mini';
import {
  counterpartyTypes,
  type Counterparty,
  type CounterpartyType,
} from '../../schemas/counterparty.ts';
import { entityIdSchema } from '../../schemas/entity.ts';
import { lazy } from '../../internal/objects.ts';
import { nonEmptyString, type Schema } from '../../schemas/primitives.ts';
import { getEntity } from './entities.ts';
import { hashToHex } from './hash.ts';
import type { Platform } from './platform.ts';
import { failTransfersTo } from './transfers.ts';
import { oneOf, parseInput } from './validation.ts';

/**
 * The input of `sandbox.counterparties.create`; the API has no such call. A field of null counts as
 * absent, because responses have null in every field of the other type.
 */
export interface SandboxCounterpartyInput {
  /** The id of the Entity that the Counterparty belongs to. */
  entityId: string;
  /** The display name of the Counterparty. @default 'Counterparty' */
  name?: string | undefined;
  /** Type of Counterparty. Default: `bank_account` with a bank account's fields, else `wallet`. */
  type?: CounterpartyType | undefined;
  /** The address of a wallet. Default: an address that the sandbox makes up. */
  walletAddress?: string | null | undefined;
  /** The chain of a wallet. Default: the `defaultChain` of the Settings. */
  chain?: string | null | undefined;
  /** The bank's name, for bank accounts only. @default 'Sandbox Bank' */
  bankName?: string | null | undefined;
  /** The number of a bank account, which responses show masked. Default: made up by the sandbox. */
  accountNumber?: string | null | undefined;
  /** The routing number of a bank account. Default: made up by the sandbox. */
  routingNumber?: string | null | undefined;
}

const numberRule = 'expected an account number of 4 characters or more';
const walletFields = ['walletAddress', 'chain'] as const;
const bankFields = ['bankName', 'accountNumber', 'routingNumber'] as const;
const isPresent = (value: unknown): boolean => value !== undefined && value !== null;
const createSchema = lazy((): Schema<SandboxCounterpartyInput> =>
  z
    .strictObject({
      entityId: entityIdSchema(),
      name: z.optional(nonEmptyString('a name')),
      type: z.optional(oneOf(counterpartyTypes)),
      walletAddress: z.nullish(nonEmptyString('an address')),
      chain: z.nullish(nonEmptyString('a chain, such as "base"')),
      bankName: z.nullish(nonEmptyString('a name')),
      accountNumber: z.nullish(z.string(numberRule).check(z.minLength(4, numberRule))),
      routingNumber: z.nullish(nonEmptyString('a routing number')),
    })
    .check((context) => {
      const type = getCounterpartyType(context.value);
      for (const field of type === 'wallet' ? bankFields : walletFields) {
        if (!isPresent(context.value[field])) continue;
        context.issues.push({
          code: 'custom',
          input: context.value,
          path: [field],
          message: `a Counterparty of type ${type} has no such field`,
        });
      }
    }),
);

function getCounterpartyType(input: SandboxCounterpartyInput): CounterpartyType {
  const hasBankField = bankFields.some((field) => isPresent(input[field]));
  return input.type ?? (hasBankField ? 'bank_account' : 'wallet');
}

/** Deletes a Counterparty as DELETE /counterparties/{id} does: its pending transfers fail. */
export function deleteCounterparty(platform: Platform, id: string): void {
  platform.changes.collect(() => {
    const row = platform.counterparties.remove(id);
    platform.changes.add('counterparty.deleted', toCounterparty, row, null);
    failTransfersTo(platform, row.id);
  });
}

export const toCounterparty = (row: Counterparty): Counterparty => ({ ...row });

/** Masks an account number. At most four of its characters, and at most half of them, stay visible. */
const maskNumber = (accountNumber: string) =>
  `****${accountNumber.slice(-Math.min(4, Math.floor(accountNumber.length / 2)))}`;

/** Methods for the Counterparties of a sandbox. Only the sandbox can create Counterparties. */
export class SandboxCounterparties {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * Creates a Counterparty. The sandbox makes up absent fields, the same way in every run.
   * @throws SandboxError when the Entity does not exist, or a field is malformed or of the other
   *   type.
   *
   * @example
   * ```ts
   * import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
   *
   * const sandbox = seedDemo(new Sandbox());
   * const wallet = sandbox.counterparties.create({ entityId: 'ent_000001', type: 'wallet' });
   * console.log(wallet.walletAddress);
   * ```
   */
  create(input: SandboxCounterpartyInput): Counterparty {
    const platform = this.#platform;
    const report = 'The input of sandbox.counterparties.create is';
    const fields = parseInput(createSchema(), input, report);
    getEntity(platform, fields.entityId);
    const type = getCounterpartyType(fields);
    const createdAt = platform.clock.toIsoNow();
    const row = platform.counterparties.add((id): Counterparty => {
      // Absent numbers of a bank account are parts of these digits, which depend only on the id.
      const digits = BigInt(`0x${hashToHex(id, 16)}`)
        .toString()
        .padStart(18, '0');
      const typeFields =
        type === 'wallet'
          ? {
              bankName: null,
              accountNumber: null,
              routingNumber: null,
              walletAddress: fields.walletAddress ?? `0x${hashToHex(id, 40)}`,
              chain: fields.chain ?? platform.settings.defaultChain,
            }
          : {
              bankName: fields.bankName ?? 'Sandbox Bank',
              accountNumber: maskNumber(fields.accountNumber ?? digits.slice(0, 9)),
              routingNumber: fields.routingNumber ?? digits.slice(9, 18),
              walletAddress: null,
              chain: null,
            };
      const { entityId, name = 'Counterparty' } = fields;
      return { id, entityId, name, type, ...typeFields, createdAt };
    });
    platform.changes.add('counterparty.created', toCounterparty, null, row);
    return toCounterparty(row);
  }

  /** Returns a Counterparty. @throws SandboxError when it does not exist or was deleted. */
  get(id: string): Counterparty {
    return toCounterparty(this.#platform.counterparties.get(id));
  }

  /** Returns every Counterparty that was not deleted, oldest first. */
  list(): Counterparty[] {
    return this.#platform.counterparties.all().map(toCounterparty);
  }

  /**
   * Deletes a Counterparty, as DELETE /counterparties/{id} does. Pending transfers to the
   * Counterparty fail, and their money returns to the Account that sent it.
   * @throws SandboxError when the Counterparty does not exist or was deleted.
   */
  delete(id: string): void {
    deleteCounterparty(this.#platform, id);
  }
}
