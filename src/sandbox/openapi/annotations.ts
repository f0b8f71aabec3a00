import { nounTable } from '../../internal/formats.ts';
import { operationPaths, type SandboxOperation } from '../api/operations.ts';
import { nouns } from '../platform/ids.ts';
import type { JsonObject } from './document.ts';

/** Numbers of rows in docs/gaps.md, which lists what the API reference does not show. */
export type Gaps = number | readonly number[];

type NounOf<Operation> = Operation extends `${infer One}.${string}` ? One : never;
type OperationNoun = NounOf<SandboxOperation>;

/** For each noun: the name of its record, which is also in the names of schemas, and a description. */
export const records: Readonly<Record<OperationNoun, { record: string; about: string }>> = {
  entities: { record: 'Entity', about: 'Individuals and businesses, and their verification.' },
  accounts: { record: 'Account', about: 'Accounts of Entities, with their balances.' },
  transfers: {
    record: 'Transfer',
    about: 'Money from an Account to another one or to a Counterparty.',
  },
  counterparties: { record: 'Counterparty', about: 'External wallets and bank accounts.' },
  ibans: { record: 'Iban', about: 'Bank identifiers that accept deposits.' },
  settings: { record: 'Settings', about: 'The configuration of the Platform.' },
  instructions: { record: 'Instruction', about: 'On-chain automation.' },
  transactions: { record: 'Transaction', about: 'What Instructions did on chain.' },
};

/** Returns the names of the schemas of an operation's response and of the id in its path. */
export function getSchemaNames(operation: SandboxOperation) {
  const [noun, verb] = operation.split('.') as [OperationNoun, string];
  const { record } = records[noun];
  const path = operationPaths[operation];
  const responses: Readonly<Record<string, string | undefined>> = {
    create: `${record}Created`,
    list: `${record}${path.includes('/v0/') ? 'Page' : 'List'}`,
    build: `Built${record}`,
    delete: undefined,
  };
  return {
    record,
    /** Undefined if a successful response has no body. */
    response: verb in responses ? responses[verb] : record,
    id: path.endsWith('/{id}') ? `${record}Id` : undefined,
  };
}

export const summaries: Readonly<Record<SandboxOperation, string>> = {
  'entities.create': 'Create an Entity, and start its verification',
  'entities.list': 'List Entities',
  'entities.get': 'Get an Entity',
  'accounts.create': 'Create an Account on the default chain',
  'accounts.list': 'List Accounts',
  'accounts.get': 'Get an Account with its balances',
  'accounts.update': 'Change the name or the metadata of an Account',
  'transfers.create': 'Send money from an Account to one destination',
  'transfers.list': 'List Transfers',
  'transfers.get': 'Get a Transfer',
  'counterparties.list': 'List Counterparties',
  'counterparties.get': 'Get a Counterparty',
  'counterparties.delete': 'Delete a Counterparty permanently; its pending Transfers fail',
  'ibans.list': 'List IBANs',
  'ibans.get': 'Get an IBAN',
  'ibans.delete': 'Deactivate and delete an IBAN; later deposits are rejected',
  'settings.update': 'Change the Settings; absent fields stay unchanged',
  'instructions.build': 'Build an Instruction payload',
  'instructions.list': 'List the Instructions of an address; a GET with a JSON body',
  'transactions.list': 'List the transactions of an address; a GET with a JSON body',
};

/** The rows of docs/gaps.md that concern an operation, besides the row of every list. */
const operationGaps: Readonly<Partial<Record<SandboxOperation, Gaps>>> = {
  'entities.create': 36,
  'accounts.create': 36,
  'accounts.list': 4,
  'accounts.update': [14, 36],
  'transfers.create': [36, 51, 61, 66],
  'transfers.list': 65,
  'transfers.get': 40,
  'counterparties.delete': 29,
  'ibans.delete': 29,
  'settings.update': 36,
};
export const getOperationGaps = (operation: SandboxOperation): readonly Gaps[] => [
  operationGaps[operation] ?? [],
  operation.endsWith('.list') ? 54 : [],
];

/** The operations whose successful response has a status that the API reference shows. */
export const operationsWithKnownStatus: readonly SandboxOperation[] = [
  'counterparties.get',
  'instructions.build',
  'instructions.list',
  'transactions.list',
];

/** The rows of docs/gaps.md that concern every method of one path of the API. */
export const pathGaps: Readonly<Record<string, Gaps>> = {
  '/transfers/{id}': 27,
  '/counterparties': 24,
  '/ibans': 25,
  '/platform/settings': 26,
};

/** What openapi.json adds to each field whose name matches. */
export const annotationsByName: readonly (readonly [RegExp, JsonObject])[] = [
  [/At$/, { format: 'date-time' }],
  [/^amount$|(?<!end)Balance$/, { 'x-gap': 9 }],
  [/^currency$/, { 'x-gap': 10 }],
];

const unit = { 'x-gap': 17 };

/** What openapi.json adds to schemas and docstrings, by type or by field (`Type.field`). */
export const annotations: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(
    nouns.map((noun) => {
      const description = `The id of ${nounTable[noun].name}.`;
      return [`${records[noun].record}Id`, { description, 'x-gap': 22 }];
    }),
  ),
  EntityCreateInput: { 'x-gap': [1, 2, 23] },
  AccountCreateInput: { 'x-gap': [3, 23] },
  AccountUpdateInput: { 'x-gap': [14, 23] },
  TransferCreateInput: {
    description: 'Money to send: from an Account to exactly one destination.',
    'x-gap': [5, 23, 48],
  },
  SettingsUpdateInput: {
    if: { properties: { autoEarnEnabled: { const: true } }, required: ['autoEarnEnabled'] },
    then: { required: ['autoEarnVault'] },
    'x-gap': [12, 23],
  },
  InstructionBuildInput: { 'x-gap': [15, 23] },
  ActionArguments: { 'x-gap': 16 },
  InstructionListInput: { 'x-gap': 23 },
  TransactionListInput: { 'x-gap': [18, 23] },
  'PageQuery.cursor': { minLength: 1, 'x-gap': 55 },
  'PageQuery.limit': { minimum: 1, maximum: 100, default: 50, 'x-gap': 63 },
  'EntityCreateInput.email': { format: 'email' },
  'EntityCreated.email': { format: 'email' },
  'EntityCreated.kycStatus': { 'x-gap': 39 },
  'EntityCreated.tosStatus': { 'x-gap': 39 },
  'EntityCreated.kycLink': { format: 'uri' },
  'EntityCreated.tosLink': { format: 'uri' },
  'Entity.status': { 'x-gap': 39 },
  'AccountCreateInput.metadata': { type: 'object', additionalProperties: true },
  'AccountUpdateInput.metadata': { type: 'object', additionalProperties: true, 'x-gap': 14 },
  'AccountCreated.status': { 'x-gap': 39 },
  'TransferCreateInput.description': {
    description: 'Your own unique reference, by which you find the Transfer in the list.',
    'x-gap': 60,
  },
  'TransferListQuery.accountId': { 'x-gap': 6 },
  'TransferCreated.status': { 'x-gap': [37, 38] },
  'TransferCreated.createdAt': { 'x-gap': 64 },
  'Transfer.direction': { 'x-gap': 42 },
  'Transfer.description': { 'x-gap': 60 },
  'CounterpartyListQuery.entityId': { 'x-gap': 7 },
  'Counterparty.chain': { 'x-gap': 33 },
  'IbanListQuery.entityId': { 'x-gap': 8 },
  'IbanListQuery.accountId': { 'x-gap': 8 },
  'Iban.status': { 'x-gap': 39 },
  'SettingsUpdateInput.autoEarnEnabled': { 'x-gap': 12 },
  'SettingsUpdateInput.autoEarnVault': { 'x-gap': 11 },
  'SettingsUpdateInput.defaultChain': { 'x-gap': 13 },
  'SettingsUpdateInput.webhookUrl': { format: 'uri', 'x-gap': [56, 62] },
  'Settings.autoEarnVault': { 'x-gap': 11 },
  'Settings.webhookUrl': { format: 'uri', 'x-gap': [56, 62] },
  'InstructionBuildInput.address': { 'x-gap': 22 },
  'InstructionBuildInput.actionArguments': { minProperties: 1 },
  'RefuelERC20Arguments.threshold': unit,
  'RefuelERC20Arguments.endBalance': unit,
  'RefuelERC20Fee.maxBaseFeePerGas': unit,
  'RefuelERC20Fee.maxPriorityFeePerGas': unit,
  'RefuelERC20Fee.executionFee': unit,
  'InstructionListInput.address': { 'x-gap': 22 },
  'ExecutionState.executionStatus': { 'x-gap': [32, 41] },
  'ExecutionState.lastExecuted': { 'x-gap': 35 },
  'TransactionListInput.address': { 'x-gap': 22 },
  'TransactionListInput.instructionIds': { 'x-gap': 22 },
  'TransactionListInput.from': {
    type: 'string',
    format: 'date-time',
    description: 'Only transactions from this moment on.',
    'x-gap': 21,
  },
  'TransactionListInput.to': {
    type: 'string',
    format: 'date-time',
    description: 'Only transactions up to this moment.',
    'x-gap': 21,
  },
  'TransactionListInput.sort': { 'x-gap': 19 },
  'TransactionListInput.skip': { minimum: 0 },
  'TransactionListInput.take': { minimum: 1, 'x-gap': 20 },
  'Transaction.transactionStatus': { 'x-gap': 32 },
  'ErrorBody.code': { 'x-gap': 46 },
};
