import { ValidationError } from '../errors/errors.ts';
import type { AccountId } from '../schemas/account.ts';
import type { CounterpartyId } from '../schemas/counterparty.ts';
import type { EntityId } from '../schemas/entity.ts';
import type { IbanId } from '../schemas/iban.ts';
import { describeIdProblem, type IdPrefix } from '../internal/id-format.ts';
import type { TransferId } from '../schemas/transfer.ts';
import { told } from './arguments.ts';

// One function each and no table of them, so that a bundle has what it uses.

/**
 * Makes an Account's id of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 * @example
 * ```ts
 * import { accountId } from 'payments-platform-sdk';
 *
 * const row: { account: string } = { account: 'acc_000001' };
 * console.log(accountId(row.account));
 * ```
 */
export const accountId = (text: string): AccountId => checked('acc_', text);

/**
 * Makes a Counterparty's id of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 */
export const counterpartyId = (text: string): CounterpartyId => checked('cpty_', text);

/**
 * Makes an Entity's id of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 */
export const entityId = (text: string): EntityId => checked('ent_', text);

/**
 * Makes the id of an IBAN (not the IBAN itself) of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 */
export const ibanId = (text: string): IbanId => checked('iban_', text);

/**
 * Makes a Transfer's id of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 */
export const transferId = (text: string): TransferId => checked('txfr_', text);

function checked<Prefix extends IdPrefix>(prefix: Prefix, text: unknown): `${Prefix}${string}` {
  const rule = describeIdProblem(prefix, text);
  if (rule === undefined) return text as `${Prefix}${string}`;
  const message = told(rule, text);
  throw new ValidationError(`${message}.`, {
    outcome: 'not_sent',
    issues: [{ path: '', message }],
  });
}
