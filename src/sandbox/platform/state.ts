import * as z from 'zod/mini';
import { accountShape, accountStatuses, accountTypes } from '../../schemas/account.ts';
import { counterpartyShape } from '../../schemas/counterparty.ts';
import { entityShape, entityStatuses, kycStatuses, tosStatuses } from '../../schemas/entity.ts';
import { ibanShape } from '../../schemas/iban.ts';
import { instructionSchema } from '../../schemas/instruction.ts';
import { address, integer, asSchema, type Schema } from '../../schemas/primitives.ts';
import { settingsShape } from '../../schemas/settings.ts';
import { transactionSchema } from '../../schemas/transaction.ts';
import { statusMeanings, transferShape, transferStatuses } from '../../schemas/transfer.ts';
import { toAccount } from './accounts.ts';
import { restartTimers } from './auto-advance.ts';
import { idNames, idPrefixes, nouns, type IdName, type Noun } from './ids.ts';
import { parseUnits } from './money.ts';
import { createInitialSettings, type Platform } from './platform.ts';
import type { SandboxRecords } from './records.ts';
import { maxProblems, oneOf, validationError } from './validation.ts';

/**
 * The version of the state's format; a state of an earlier version is read as it is. Raise the
 * version when a noun or a field is added, so that an earlier sandbox rejects the state.
 */
const stateVersion = 1;

/** Creates a schema for an id of this noun: its prefix, followed by the number of the record. */
const numberedId = (noun: Noun): Schema<string> => {
  const prefix = idPrefixes[noun];
  const idRule = `expected "${prefix}" and digits`;
  return asSchema(z.string(idRule).check(z.regex(new RegExp(`^${prefix}\\d{1,15}$`), idRule)));
};

const amountRule = 'expected a decimal amount as a string, such as "12.50"';
const amount = () => z.string(amountRule).check(z.regex(/^\d{1,40}(\.\d{1,18})?$/, amountRule));
/** The maximum advance, a hundred years, keeps the clock in the range of JavaScript dates. */
export const maxClockAdvanceMs = 3_155_760_000_000;
const msRule = `expected milliseconds, from 0 to ${maxClockAdvanceMs}`;
const countRule = 'expected a whole number, 0 or more';
const count = () => z.optional(z.int(countRule).check(z.gte(0, countRule)));
/** Creates a schema for a list of such items. A missing list is empty. */
const list = <T>(item: Schema<T>): Schema<T[]> =>
  asSchema(z.prefault(z.array(item, 'expected a list'), []));

const iban = () =>
  z.strictObject({ ...ibanShape(), id: numberedId('ibans'), accountId: numberedId('accounts') });

const versionRule = `expected ${stateVersion} or lower: update this sandbox to read a later format`;
export const versionSchema = (): Schema<typeof stateVersion> =>
  asSchema(z.int(versionRule).check(z.gte(1, versionRule), z.lte(stateVersion, versionRule)));

/**
 * The shape of a sandbox's state, without its fault rules. Records have the shape of a response,
 * but a status has to be a documented one, and an id has to end with a number.
 */
export const platformStateShape = () => ({
  version: versionSchema(),
  entities: list(
    z.strictObject({
      ...entityShape(),
      id: numberedId('entities'),
      status: oneOf(entityStatuses),
      kycStatus: oneOf(kycStatuses),
      tosStatus: oneOf(tosStatuses),
    }),
  ),
  accounts: list(
    z.strictObject({
      ...accountShape(),
      id: numberedId('accounts'),
      type: oneOf(accountTypes),
      status: oneOf(accountStatuses),
      availableBalance: amount(),
    }),
  ),
  transfers: list(
    z.strictObject({
      ...transferShape(),
      id: numberedId('transfers'),
      status: oneOf(transferStatuses),
      amount: amount(),
    }),
  ),
  counterparties: list(
    z.strictObject({ ...counterpartyShape(), id: numberedId('counterparties') }),
  ),
  ibans: list(iban()),
  closedIbans: list(iban()),
  instructions: list(
    z.strictObject({ address: address(), chainId: integer(), instruction: instructionSchema() }),
  ),
  transactions: list(transactionSchema()),
  settings: z.optional(z.strictObject(settingsShape())),
  clockOffsetMs: z.prefault(
    z.int(msRule).check(z.gte(0, msRule), z.lte(maxClockAdvanceMs, msRule)),
    0,
  ),
  ids: z.prefault(
    z.strictObject(
      Object.fromEntries(idNames.map((name) => [name, count()] as const)) as Record<
        IdName,
        ReturnType<typeof count>
      >,
    ),
    {},
  ),
});

/**
 * Returns a snapshot of a sandbox's data. Copies rows, because they change in place, but not the
 * values in a row, because the sandbox replaces these.
 */
export const exportPlatformState = (platform: Platform): SandboxRecords => ({
  version: stateVersion,
  entities: platform.entities.all().map(cloneRow),
  accounts: platform.accounts.all().map(toAccount),
  transfers: platform.transfers.all().map(cloneRow),
  counterparties: platform.counterparties.all().map(cloneRow),
  ibans: platform.ibans.all().map(cloneRow),
  closedIbans: [...platform.closedIbans.values()],
  instructions: [...platform.instructions.values()].map(cloneRow),
  transactions: [...platform.transactions],
  settings: platform.settings,
  clockOffsetMs: platform.clock.offset,
  ids: platform.ids.counts,
});

const cloneRow = <Row extends object>(row: Row): Row => ({ ...row });

export const stateReport = 'The state is';

type Reference = 'entityId' | 'accountId' | 'sourceAccountId' | 'destinationAccountId';
/** For each noun, the fields that name an Entity or an Account of the same state. */
const references: Readonly<Record<Noun, readonly Reference[]>> = {
  entities: [],
  accounts: ['entityId'],
  // A Transfer also names its Counterparty, which may be deleted.
  transfers: ['sourceAccountId', 'destinationAccountId'],
  counterparties: ['entityId'],
  ibans: ['entityId', 'accountId'],
};

/**
 * Checks the ids in a state.
 * @throws SandboxError when an id occurs twice, or a record names another record that does not
 *   exist.
 */
export function checkReferences(state: SandboxRecords): void {
  const problems = new Map<string, string>();
  const reportProblem = (place: string, problem: string): void => {
    if (problems.size < maxProblems) problems.set(place, problem);
  };
  const entities = new Set<string>(state.entities.map(({ id }) => id));
  const accounts = new Set<string>(state.accounts.map(({ id }) => id));
  for (const noun of nouns) {
    const ids = new Set<string>();
    for (const [at, row] of state[noun].entries()) {
      if (ids.has(row.id)) reportProblem(`${noun}[${at}].id`, `"${row.id}" is there twice`);
      ids.add(row.id);
      for (const field of references[noun]) {
        // The type of `row` has the fields of every noun. Only the fields of this noun are read.
        const id = (row as Readonly<Partial<Record<Reference, string | null>>>)[field];
        if (typeof id !== 'string') continue;
        const existingIds = field === 'entityId' ? entities : accounts;
        if (!existingIds.has(id)) {
          reportProblem(`${noun}[${at}].${field}`, `there is no "${id}"`);
        }
      }
    }
  }
  if (problems.size > 0) throw validationError(Object.fromEntries(problems), stateReport);
}

/** Replaces the data of a sandbox by a checked state. The counters of ids never decrease. */
export function restoreState(platform: Platform, state: SandboxRecords): void {
  platform.clock.offset = state.clockOffsetMs;
  platform.entities.replace(state.entities);
  platform.accounts.replace(
    state.accounts.map((account) => ({
      ...account,
      metadata: account.metadata ?? {},
      available: parseUnits(account.availableBalance),
      pending: 0n, // until `lockOpenTransfers` adds the amounts of open Transfers
      locked: 0n,
    })),
  );
  platform.transfers.replace(state.transfers);
  platform.counterparties.replace(state.counterparties);
  platform.ibans.replace(state.ibans);
  platform.closedIbans.clear();
  for (const closedIban of state.closedIbans) platform.closedIbans.set(closedIban.id, closedIban);
  platform.instructions.clear();
  for (const row of state.instructions) {
    platform.instructions.set(row.instruction.instructionId, row);
  }
  platform.transactions = [...state.transactions];
  platform.settings = state.settings ?? createInitialSettings(platform.clock.toIsoNow());
  lockOpenTransfers(platform);
  platform.ids.raiseTo(state.ids);
  // If a person wrote the state, its counters may be missing, or lower than the ids of its rows.
  const { ibans, closedIbans } = state;
  const rowsOf = (noun: Noun) => (noun === 'ibans' ? [...ibans, ...closedIbans] : state[noun]);
  platform.ids.raiseTo(
    Object.fromEntries(nouns.map((noun) => [noun, findLastNumber(rowsOf(noun))])),
  );
  restartTimers(platform);
}

function lockOpenTransfers(platform: Platform): void {
  for (const row of platform.transfers.all()) {
    if (statusMeanings[row.status] !== 'open') continue;
    const units = parseUnits(row.amount);
    platform.accounts.get(row.sourceAccountId).locked += units;
    const destination = platform.accounts.find(row.destinationAccountId ?? '');
    if (destination !== undefined) destination.pending += units;
  }
}

const findLastNumber = (rows: readonly { readonly id: string }[]): number =>
  rows.reduce((last, { id }) => Math.max(last, Number(/\d+$/.exec(id)?.[0])), 0);
