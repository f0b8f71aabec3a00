import { expectation } from '../internal/issues.ts';
import * as z from 'zod/mini';
import { lazy } from '../internal/objects.ts';
import {
  address,
  anyString,
  closedObject,
  integer,
  createGuard,
  wholeNumber,
  type Hex,
  type Integer,
  type OpenEnum,
  type Schema,
} from './primitives.ts';

const executionStatuses = ['Deactivated'] as const;
/** The one documented execution status; others exist. @useDeclaredType */
export type KnownExecutionStatus = (typeof executionStatuses)[number];
// The API reference does not name further values: docs/gaps.md, row 32.
/** `Deactivated`, or one that the API reference does not name. */
export type ExecutionStatus = OpenEnum<KnownExecutionStatus>;
/** Whether the execution status is documented. */
export const isKnownExecutionStatus: (value: unknown) => value is KnownExecutionStatus =
  createGuard(executionStatuses);

/** How often an Instruction has run, and when it last did. */
export interface ExecutionState {
  /** Starts at 0. */
  readonly executionCounter: Integer;
  /** `Deactivated` is the one documented value. */
  readonly executionStatus: ExecutionStatus; // What leads to a status: docs/gaps.md, row 41
  /** When the Instruction last ran; the unit is not documented. */
  readonly lastExecuted: Integer; // See docs/gaps.md, row 35
}

/** An on-chain automation instruction of an address. */
export interface Instruction {
  /** Address of the action. */
  readonly action: Hex;
  /** The encoded arguments of the action. */
  readonly arguments: Hex;
  /** How often the Instruction has run. */
  readonly executionState: ExecutionState;
  /** Address of the token. */
  readonly instructedTokenAddress: Hex;
  /** Identifies the Instruction. */
  readonly instructionId: Hex;
  /** The value that was instructed last, a whole number as a string. */
  readonly lastInstructedValue: string;
  /** How often the Instruction may run. */
  readonly maxExecutions: Integer;
  /** A name for people. */
  readonly nickname: string;
  /** Makes otherwise equal Instructions distinct. */
  readonly salt: Integer;
  /** The sum of the instructed values, a whole number as a string. */
  readonly totalInstructedValue: string;
}

export const executionStateShape = () => ({
  executionCounter: integer(),
  executionStatus: anyString<ExecutionStatus>(),
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
/** The list is a plain array, without the envelope of a page. */
export const instructionsSchema = lazy((): Schema<Instruction[]> => z.array(instructionSchema()));

/** An instruction payload, built by the platform and not yet on chain. */
export interface BuiltInstruction {
  /** Makes otherwise equal Instructions distinct. */
  readonly salt: Integer;
  /** How often the Instruction may run. */
  readonly maxExecutions: Integer;
  /** Address of the action. */
  readonly action: Hex;
  /** The encoded arguments of the action. */
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

/** What the executor of a refuel may charge and spend. */
export interface RefuelERC20Fee {
  /** Address of the token that the fee is paid in. */
  token: Hex;
  /** Upper bound of the base fee, per unit of gas. */
  maxBaseFeePerGas: Integer;
  /** Upper bound of the priority fee, per unit of gas. */
  maxPriorityFeePerGas: Integer;
  /** What one execution costs. */
  executionFee: Integer;
}

// Units of these numbers are not shown: docs/gaps.md, row 17.
/** Arguments of the action `refuelERC20`. Their units are not documented. */
export interface RefuelERC20Arguments {
  /** Address of the token to refuel with. */
  token: Hex;
  /** Address that is refuelled. */
  target: Hex;
  /** The balance that triggers a refuel. */
  threshold: Integer;
  /** The balance after a refuel. */
  endBalance: Integer;
  /** What the executor may charge and spend. */
  fee: RefuelERC20Fee;
}

// Other action kinds are not shown: docs/gaps.md, row 16.
/** Arguments by kind of action. The SDK checks `refuelERC20` and sends any other kind as given. */
export interface ActionArguments {
  /** Refills a token balance whenever it falls below a threshold. */
  refuelERC20?: RefuelERC20Arguments | undefined;
  [kind: string]: unknown;
}

// Which fields are required is not shown: docs/gaps.md, row 15.
/** Input for building an instruction payload. Every field is required. */
export interface InstructionBuildInput {
  /** The address that the Instruction is for. */
  address: Hex;
  /** The chain's number, such as 8453. */
  chainId: Integer;
  /** Makes otherwise equal Instructions distinct. */
  salt: Integer;
  /** How often the Instruction may run. */
  maxExecutions: Integer;
  /** The kind of action to perform, with its arguments. */
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

/** Which Instructions to list. */
export interface InstructionListInput {
  /** The address that the Instructions belong to. */
  address: Hex;
}
export const instructionListInputShape = () => ({ address: address() });
export const instructionListInputSchema = lazy((): Schema<InstructionListInput> =>
  closedObject(instructionListInputShape()),
);
