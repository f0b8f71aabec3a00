import { ValidationError } from '../errors/errors.ts';
import { createError } from '../errors/message.ts';
import type { AccountId } from '../schemas/account.ts';
import type { CounterpartyId } from '../schemas/counterparty.ts';
import type { EntityId } from '../schemas/entity.ts';
import type { IbanId } from '../schemas/iban.ts';
import { describeIdProblem, type IdPrefix } from '../internal/formats.ts';
import type { TransferId } from '../schemas/transfer.ts';
import { issueAt } from '../internal/issues.ts';

// Each kind of id has its own function, so that a bundle contains only the functions it uses.

/**
 * Checks a `string`, such as one from a database, and returns it as an Account's id.
 * @throws {@link ValidationError} which describes what arrived
 * @example
 * ```ts
 * import { accountId } from 'payments-platform-sdk';
 *
 * const row: { account: string } = { account: 'acc_000001' };
 * console.log(accountId(row.account));
 * ```
 */
export const accountId = (text: string): AccountId => checkId('acc_', text, 'accountId');

/**
 * Checks a `string`, such as one from a database, and returns it as a Counterparty's id.
 * @throws {@link ValidationError} which describes what arrived
 */
export const counterpartyId = (text: string): CounterpartyId =>
  checkId('cpty_', text, 'counterpartyId');

/**
 * Checks a `string`, such as one from a database, and returns it as an Entity's id.
 * @throws {@link ValidationError} which describes what arrived
 */
export const entityId = (text: string): EntityId => checkId('ent_', text, 'entityId');

/**
 * Checks a `string`, such as one from a database, and returns it as an IBAN's id, not the IBAN.
 * @throws {@link ValidationError} which describes what arrived
 */
export const ibanId = (text: string): IbanId => checkId('iban_', text, 'ibanId');

/**
 * Checks a `string`, such as one from a database, and returns it as a Transfer's id.
 * @throws {@link ValidationError} which describes what arrived
 */
export const transferId = (text: string): TransferId => checkId('txfr_', text, 'transferId');

function checkId<Prefix extends IdPrefix>(
  prefix: Prefix,
  text: unknown,
  converter: string,
): `${Prefix}${string}` {
  const problem = describeIdProblem(prefix, text);
  if (problem === undefined) return text as `${Prefix}${string}`;
  const issue = issueAt('', problem, text);
  throw createError(
    ValidationError,
    { what: `Invalid text in ${converter}: ${issue.message}` },
    { outcome: 'not_sent', issues: [issue] },
  );
}
