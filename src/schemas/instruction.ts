import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import {
  address,
  anyString,
  closedObject,
  integer,
  wholeNumber,
  type Hex,
  type Integer,
  type Schema,
} from './primitives.ts';

/** How many times an Instruction has run, when it last ran, and its status. */
export type ExecutionState = {
  /** How many times the Instruction has run. The counter starts at 0. */
  readonly executionCounter: Integer;
  /** Execution status. The API reference names `Deactivated` only, but others exist. */
  readonly executionStatus: string; // Which statuses exist, and what leads to them: docs/gaps.md, rows 32 and 41
  /** When the Instruction last ran. The API reference does not say in which unit. */
  readonly lastExecuted: Integer; // The unit of lastExecuted: docs/gaps.md, row 35
};

/** An on-chain instruction that automates an action for an address. */
export interface Instruction {
  /** Address of the action that the Instruction performs. */
  readonly action: Hex;
  /** The arguments of the action, encoded as a hexadecimal string. */
  readonly arguments: Hex;
  /** How many times the Instruction has run, when it last ran, and its status. */
  readonly executionState: ExecutionState;
  /** Address of the token that the Instruction is about. */
  readonly instructedTokenAddress: Hex;
  /** Id of the Instruction. */
  readonly instructionId: Hex;
  /** The latest value that was instructed: a whole number as a string. */
  readonly lastInstructedValue: string;
  /** The maximum number of runs of the Instruction. */
  readonly maxExecutions: Integer;
  /** Name of the Instruction, for people. */
  readonly nickname: string;
  /** A number that makes otherwise equal Instructions distinct. */
  readonly salt: Integer;
  /** The sum of all instructed values: a whole number as a string. */
  readonly totalInstructedValue: string;
}

export const executionStateShape = () => ({
  executionCounter: integer(),
  executionStatus: anyString(),
  lastExecuted: integer(),
});
export const executionStateSchema = lazy((): Schema<ExecutionState> =>
  z.looseObject(executionStateShape()),
);

export const instructionShape = () => ({
  action: anyString<Hex>(),
  arguments: anyString<Hex>(),
  executionState: executionStateSchema(),
  instructedTokenAddress: anyString<Hex>(),
  instructionId: anyString<Hex>(),
  lastInstructedValue: anyString(),
  maxExecutions: integer(),
  nickname: anyString(),
  salt: integer(),
  totalInstructedValue: anyString(),
});
export const instructionSchema = lazy((): Schema<Instruction> => z.looseObject(instructionShape()));
/** Schema of the list of Instructions, a plain array without the envelope of a page. */
export const instructionsSchema = lazy((): Schema<Instruction[]> => z.array(instructionSchema()));

/** An instruction payload that the platform has built, and that is not on chain yet. */
export interface BuiltInstruction {
  /** A number that makes otherwise equal Instructions distinct. */
  readonly salt: Integer;
  /** The maximum number of runs of the Instruction. */
  readonly maxExecutions: Integer;
  /** Address of the action that the Instruction performs. */
  readonly action: Hex;
  /** The arguments of the action, encoded as a hexadecimal string. */
  readonly arguments: Hex;
}
export const builtInstructionShape = () => ({
  salt: integer(),
  maxExecutions: integer(),
  action: anyString<Hex>(),
  arguments: anyString<Hex>(),
});
export const builtInstructionSchema = lazy((): Schema<BuiltInstruction> =>
  z.looseObject(builtInstructionShape()),
);

/** What the executor of the action `refuelERC20` may charge and spend. */
interface RefuelERC20Fee {
  /** Address of the token that the fee is paid in. */
  token: Hex;
  /** Maximum base fee that the executor may pay per unit of gas. */
  maxBaseFeePerGas: Integer;
  /** Maximum priority fee that the executor may pay per unit of gas. */
  maxPriorityFeePerGas: Integer;
  /** What one run of the Instruction costs. */
  executionFee: Integer;
}

// The API reference does not show the units of thresholds and fees: docs/gaps.md, row 17.
/** Arguments of the action `refuelERC20`. The units of the numbers are not documented. */
export interface RefuelERC20Arguments {
  /** Address of the token that refills the balance. */
  token: Hex;
  /** Address whose balance is refilled. */
  target: Hex;
  /** If the balance falls below this number, the action refills the balance. */
  threshold: Integer;
  /** The balance after a refill. */
  endBalance: Integer;
  /** What the executor of the action may charge and spend. */
  fee: RefuelERC20Fee;
}

// The API reference shows no action kind but `refuelERC20`: docs/gaps.md, row 16.
/** Arguments by kind of action. The SDK checks only `refuelERC20`, and sends others as given. */
interface ActionArguments {
  /** Refills a token balance whenever it falls below a threshold. */
  refuelERC20?: RefuelERC20Arguments | undefined;
  [kind: string]: unknown;
}

// The API reference does not say which fields instructions.build requires: docs/gaps.md, row 15.
/** Input of `instructions.build`. Every field is required. */
export interface InstructionBuildInput {
  /** The on-chain address for which the platform builds the Instruction. */
  address: Hex;
  /** Number of the chain, such as 8453. */
  chainId: Integer;
  /** A number that makes otherwise equal Instructions distinct. */
  salt: Integer;
  /** The maximum number of runs of the Instruction. */
  maxExecutions: Integer;
  /** The kind of action that the Instruction performs, with its arguments. */
  actionArguments: ActionArguments;
}

export const refuelERC20ArgumentsShape = () => ({
  token: address(),
  target: address(),
  threshold: wholeNumber(),
  endBalance: wholeNumber(),
  fee: closedObject({
    token: address(),
    maxBaseFeePerGas: wholeNumber(),
    maxPriorityFeePerGas: wholeNumber(),
    executionFee: wholeNumber(),
  }),
});
export const instructionBuildInputShape = () => ({
  address: address(),
  chainId: wholeNumber(),
  salt: wholeNumber(),
  maxExecutions: wholeNumber(),
  actionArguments: z
    .looseObject({ refuelERC20: z.optional(closedObject(refuelERC20ArgumentsShape())) })
    .check(
      z.refine(
        (kinds) => Object.values(kinds).some((value) => value !== undefined),
        expectation('at least one action kind, such as refuelERC20'),
      ),
    ),
});
export const instructionBuildInputSchema = lazy((): Schema<InstructionBuildInput> =>
  closedObject(instructionBuildInputShape()),
);

/** Input of `instructions.list`: whose Instructions to list. */
export interface InstructionListInput {
  /** The on-chain address to which the Instructions belong. */
  address: Hex;
}
export const instructionListInputShape = () => ({ address: address() });
export const instructionListInputSchema = lazy((): Schema<InstructionListInput> =>
  closedObject(instructionListInputShape()),
);
