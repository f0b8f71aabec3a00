import type { SandboxOperation } from '../api/operations.ts';
import type { JsonObject } from './document.ts';

/** Numbers of rows in docs/gaps.md, which lists what the API reference does not show. */
export type Gaps = number | readonly number[];

/** How openapi.json describes an operation. */
export interface OperationDocs {
  readonly summary: string;
  /** Name of the schema of a successful response; undefined if that response has no body. */
  readonly response?: string;
  /** Name of the schema of the id in the operation's path. */
  readonly id?: string;
  readonly gaps?: Gaps;
  /** Whether the API reference shows which status a successful response has. */
  readonly hasKnownStatus?: true;
}

export const operationDocs: Readonly<Record<SandboxOperation, OperationDocs>> = {
  'entities.create': {
    summary: 'Create an Entity, and start its verification',
    response: 'EntityCreated',
    gaps: 36,
  },
  'entities.list': { summary: 'List Entities', response: 'EntityPage', gaps: 54 },
  'entities.get': { summary: 'Get an Entity', response: 'Entity', id: 'EntityId' },
  'accounts.create': {
    summary: 'Create an Account on the default chain',
    response: 'AccountCreated',
    gaps: 36,
  },
  'accounts.list': { summary: 'List Accounts', response: 'AccountPage', gaps: [4, 54] },
  'accounts.get': {
    summary: 'Get an Account with its balances',
    response: 'Account',
    id: 'AccountId',
  },
  'accounts.update': {
    summary: 'Change the name or the metadata of an Account',
    response: 'Account',
    id: 'AccountId',
    gaps: [14, 36],
  },
  'transfers.create': {
    summary: 'Send money from an Account to one destination',
    response: 'TransferCreated',
    gaps: [36, 51, 61, 66],
  },
  'transfers.list': { summary: 'List Transfers', response: 'TransferPage', gaps: [54, 65] },
  'transfers.get': { summary: 'Get a Transfer', response: 'Transfer', id: 'TransferId', gaps: 40 },
  'counterparties.list': {
    summary: 'List Counterparties',
    response: 'CounterpartyPage',
    gaps: 54,
  },
  'counterparties.get': {
    summary: 'Get a Counterparty',
    response: 'Counterparty',
    id: 'CounterpartyId',
    hasKnownStatus: true,
  },
  'counterparties.delete': {
    summary: 'Delete a Counterparty permanently; its pending Transfers fail',
    id: 'CounterpartyId',
    gaps: 29,
  },
  'ibans.list': { summary: 'List IBANs', response: 'IbanPage', gaps: 54 },
  'ibans.get': { summary: 'Get an IBAN', response: 'Iban', id: 'IbanId' },
  'ibans.delete': {
    summary: 'Deactivate and delete an IBAN; later deposits are rejected',
    id: 'IbanId',
    gaps: 29,
  },
  'settings.update': {
    summary: 'Change the Settings; absent fields stay unchanged',
    response: 'Settings',
    gaps: 36,
  },
  'instructions.build': {
    summary: 'Build an Instruction payload',
    response: 'BuiltInstruction',
    hasKnownStatus: true,
  },
  'instructions.list': {
    summary: 'List the Instructions of an address; a GET with a JSON body',
    response: 'InstructionList',
    gaps: 54,
    hasKnownStatus: true,
  },
  'transactions.list': {
    summary: 'List the transactions of an address; a GET with a JSON body',
    response: 'TransactionList',
    gaps: 54,
    hasKnownStatus: true,
  },
};

/** The rows of docs/gaps.md that concern every method of one path of the API. */
export const pathGaps: Readonly<Record<string, Gaps>> = {
  '/transfers/{id}': 27,
  '/counterparties': 24,
  '/ibans': 25,
  '/platform/settings': 26,
};

const dateTime = { format: 'date-time' };
const decimal = { 'x-gap': 9 };
const nullable = { 'x-gap': 30 };
const unit = { 'x-gap': 17 };

/** What openapi.json adds to schemas and docstrings, by type or by field (`Type.field`). */
export const annotations: Readonly<Record<string, JsonObject>> = {
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
  AccountId: { description: 'The id of an Account.', 'x-gap': 22 },
  CounterpartyId: { description: 'The id of a Counterparty.', 'x-gap': 22 },
  EntityId: { description: 'The id of an Entity.', 'x-gap': 22 },
  IbanId: { description: 'The id of an IBAN.', 'x-gap': 22 },
  TransferId: { description: 'The id of a Transfer.', 'x-gap': 22 },
  'PageQuery.cursor': { minLength: 1, 'x-gap': 55 },
  'PageQuery.limit': { minimum: 1, maximum: 100, default: 50, 'x-gap': 63 },
  'EntityCreateInput.email': { format: 'email' },
  'EntityCreated.email': { format: 'email' },
  'EntityCreated.kycStatus': { 'x-gap': [33, 39] },
  'EntityCreated.tosStatus': { 'x-gap': [33, 39] },
  'EntityCreated.kycLink': { format: 'uri' },
  'EntityCreated.tosLink': { format: 'uri' },
  'EntityCreated.createdAt': dateTime,
  'Entity.status': { 'x-gap': [33, 39] },
  'AccountCreateInput.metadata': { type: 'object', additionalProperties: true },
  'AccountUpdateInput.metadata': { type: 'object', additionalProperties: true, 'x-gap': 14 },
  'AccountCreated.status': { 'x-gap': [33, 39] },
  'AccountCreated.availableBalance': decimal,
  'AccountCreated.currency': { 'x-gap': 10 },
  'AccountCreated.createdAt': dateTime,
  'Account.pendingBalance': decimal,
  'Account.lockedBalance': decimal,
  'Account.holdingBalance': decimal,
  'Account.metadata': nullable,
  'Account.updatedAt': dateTime,
  'TransferCreateInput.amount': decimal,
  'TransferCreateInput.currency': { minLength: 1, 'x-gap': 10 },
  'TransferCreateInput.description': {
    description: 'Your own unique reference, by which you find the Transfer in the list.',
    'x-gap': 60,
  },
  'TransferListQuery.accountId': { 'x-gap': 6 },
  'TransferCreated.status': { 'x-gap': [33, 37, 38] },
  'TransferCreated.createdAt': { ...dateTime, 'x-gap': 64 },
  'Transfer.destinationAccountId': nullable,
  'Transfer.counterpartyId': nullable,
  'Transfer.amount': decimal,
  'Transfer.currency': { 'x-gap': 10 },
  'Transfer.direction': { 'x-gap': [33, 42] },
  'Transfer.description': { 'x-gap': [30, 60] },
  'CounterpartyListQuery.entityId': { 'x-gap': 7 },
  'Counterparty.bankName': nullable,
  'Counterparty.accountNumber': nullable,
  'Counterparty.routingNumber': nullable,
  'Counterparty.walletAddress': nullable,
  'Counterparty.chain': { 'x-gap': [30, 33] },
  'Counterparty.createdAt': dateTime,
  'IbanListQuery.entityId': { 'x-gap': 8 },
  'IbanListQuery.accountId': { 'x-gap': 8 },
  'Iban.status': { 'x-gap': [33, 39] },
  'Iban.createdAt': dateTime,
  'SettingsUpdateInput.autoEarnEnabled': { 'x-gap': 12 },
  'SettingsUpdateInput.autoEarnVault': { 'x-gap': 11 },
  'SettingsUpdateInput.defaultChain': { 'x-gap': 13 },
  'SettingsUpdateInput.webhookUrl': { format: 'uri', 'x-gap': [56, 62] },
  'Settings.autoEarnVault': { 'x-gap': [11, 30] },
  'Settings.webhookUrl': { format: 'uri', 'x-gap': [30, 56, 62] },
  'Settings.updatedAt': dateTime,
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
    ...dateTime,
    description: 'Only transactions from this moment on.',
    'x-gap': 21,
  },
  'TransactionListInput.to': {
    type: 'string',
    ...dateTime,
    description: 'Only transactions up to this moment.',
    'x-gap': 21,
  },
  'TransactionListInput.sort': { 'x-gap': 19 },
  'TransactionListInput.skip': { minimum: 0 },
  'TransactionListInput.take': { minimum: 1, 'x-gap': 20 },
  'Transaction.transactionStatus': { 'x-gap': 32 },
  'ErrorBody.code': { 'x-gap': 46 },
};
