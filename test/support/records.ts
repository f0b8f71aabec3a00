import { address } from './values.ts';

/* Records that few tests need. */

export const entity = {
  id: 'ent_1',
  email: 'ada@example.com',
  type: 'individual',
  status: 'active',
  kycStatus: 'approved',
  tosStatus: 'approved',
  kycLink: 'https://verify.example.com/1',
  tosLink: 'https://terms.example.com/1',
  createdAt: '2026-01-01T00:00:00Z',
} as const;
export const account = {
  id: 'acc_1',
  entityId: 'ent_1',
  name: 'Main',
  type: 'wallet',
  chain: 'base',
  status: 'active',
  autoEarn: false,
  availableBalance: '0.00',
  pendingBalance: '0.00',
  lockedBalance: '0.00',
  holdingBalance: '0.00',
  currency: 'USDC',
  metadata: {},
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
} as const;
export const settings = {
  autoEarnEnabled: false,
  autoEarnVault: 'acme_usdc',
  defaultChain: 'base',
  webhookUrl: null,
  updatedAt: '2026-01-01T00:00:00Z',
} as const;
export const instruction = {
  action: address,
  arguments: '0x00',
  executionState: { executionCounter: 0, executionStatus: 'Deactivated', lastExecuted: 0 },
  instructedTokenAddress: address,
  instructionId: '0xabc1',
  lastInstructedValue: '0',
  maxExecutions: 1,
  nickname: 'Gas',
  salt: 7,
  totalInstructedValue: '0',
} as const;
export const transactionNumber = (number: number): Record<string, unknown> => ({
  createdAtUnix: 1_767_225_600 + number,
  updatedAtUnix: 1_767_225_600,
  startedAtUnix: 1_767_225_600,
  finishedAtUnix: 1_767_225_600,
  startedAtBlock: 1,
  finishedAtBlock: 2,
  transactionHash: `0x${number.toString(16).padStart(8, '0')}`,
  blockHash: '0xb10c',
  instructionId: '0xabc1',
  chainId: 8453,
  address,
  activation: false,
  deactivation: false,
  transactionStatus: 'Success',
});
