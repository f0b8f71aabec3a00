import * as z from 'zod/mini';
import {
  instructionBuildInputShape,
  instructionListInputShape,
  type BuiltInstruction,
  type Instruction,
  type InstructionBuildInput,
} from '../../schemas/instruction.ts';
import {
  address,
  nonEmptyString,
  asSchema,
  wholeNumber,
  type Hex,
  type Integer,
  type Schema,
} from '../../schemas/primitives.ts';
import type { Transaction } from '../../schemas/transaction.ts';
import { parseJson, stringifyJson } from '../../internal/json.ts';
import { fingerprint } from './fingerprint.ts';
import type { InstructionRow, Platform } from './platform.ts';
import { conflict, SandboxError } from './problem.ts';
import { lowerCaseHex, recordTransaction } from './transactions.ts';
import { asInput, checked, validationError } from './validation.ts';

/** @inline */
interface Registration {
  /** The address that the Instruction belongs to. */
  address: Hex;
  /** A name for people. @default '' */
  nickname?: string | undefined;
}
/** An Instruction to register, as it was given to POST /instruction/build. */
export interface SandboxInstructionFromInput extends InstructionBuildInput, Registration {}
/** An Instruction to register, as POST /instruction/build answered it. */
export interface SandboxInstructionFromBuilt extends BuiltInstruction, Registration {
  /** The chain's number. @default 8453 */
  chainId?: Integer | undefined;
}
/** What it takes to register an Instruction in the sandbox; the API offers no call for it. */
export type SandboxInstructionInput = SandboxInstructionFromInput | SandboxInstructionFromBuilt;

const registrationShape = { nickname: z.optional(z.string('expected a string')) };
const FromInputSchema: Schema<SandboxInstructionFromInput> = z.strictObject({
  ...instructionBuildInputShape(),
  ...registrationShape,
});
const blobRule = 'expected hexadecimal text that starts with "0x"';
const FromBuiltSchema: Schema<SandboxInstructionFromBuilt> = z.strictObject({
  ...instructionListInputShape(),
  ...registrationShape,
  chainId: z.optional(wholeNumber()),
  salt: wholeNumber(),
  maxExecutions: wholeNumber(),
  action: address(),
  // Not the hexadecimal text of the schemas, which is short: this one holds a whole object.
  arguments: asSchema<Hex>(z.string(blobRule).check(z.regex(/^0x[0-9a-fA-F]+$/, blobRule))),
});

/** What `sandbox.instructions.execute` may be told. */
export interface SandboxExecution {
  /** How much was instructed, a whole number in the token's smallest unit. @default 0 */
  value?: Integer | string | undefined;
  /** The transaction's status. @default 'Success' */
  status?: string | undefined;
}
const valueRule = 'expected a whole number, 0 or more';
const SandboxExecutionSchema: Schema<SandboxExecution> = z.strictObject({
  value: z.optional(
    z
      .union([z.int(), z.bigint(), z.string()], valueRule)
      .check(z.refine((value) => /^\d+$/.test(String(value)), valueRule)),
  ),
  status: z.optional(nonEmptyString('a transaction status, such as "Success"')),
});

const noToken: Hex = `0x${'0'.repeat(40)}`;
const withToken = z.object({ refuelERC20: z.object({ token: address() }) });

/** Arguments of an action as hexadecimal text: the bytes of their JSON text, so no digit is lost. */
function encodeArguments(value: unknown): Hex {
  const bytes = new TextEncoder().encode(stringifyJson(value));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The token that encoded arguments name; the zero address when they name none. */
function tokenOf(encoded: Hex): Hex {
  const pairs = encoded.slice(2).match(/../g) ?? [];
  const bytes = Uint8Array.from(pairs, (pair) => Number(`0x${pair}`));
  try {
    const value = parseJson(new TextDecoder().decode(bytes));
    return withToken.safeParse(value).data?.refuelERC20.token ?? noToken;
  } catch {
    // Arguments that no sandbox encoded are opaque.
    return noToken;
  }
}

/**
 * What POST /instruction/build does: the address of the action depends on its kind alone, and the
 * arguments are the JSON text of `actionArguments` in hexadecimal, so they can be read back.
 */
export function buildInstruction({
  salt,
  maxExecutions,
  actionArguments,
}: InstructionBuildInput): BuiltInstruction {
  const [kind, ...others] = Object.keys(actionArguments);
  if (kind === undefined || others.length > 0) {
    // The answer has one action address, so it can stand for one kind of action only.
    throw validationError(
      { actionArguments: 'expected exactly one action kind, such as refuelERC20' },
      asInput('The body of instructions.build is'),
    );
  }
  return {
    salt,
    maxExecutions,
    action: `0x${fingerprint(`action ${kind}`, 40)}`,
    arguments: encodeArguments(actionArguments),
  };
}

/** What GET /instructions/all does: the Instructions of an address, oldest first. */
export const listInstructions = (platform: Platform, owner: string): Instruction[] =>
  [...platform.instructions.values()]
    .filter((row) => lowerCaseHex(row.address) === lowerCaseHex(owner))
    .map(instructionView);

const instructionView = ({ instruction }: InstructionRow): Instruction => ({
  ...instruction,
  executionState: { ...instruction.executionState },
});

/** The Instructions of a sandbox, and what happens to them on chain rather than through the API. */
export class SandboxInstructions {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * Registers an Instruction on chain, with the transaction that activates it: what POST
   * /instruction/build takes or answers, plus the address.
   * @throws SandboxError when a field is malformed, or the same Instruction is registered already.
   *
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   * import { Sandbox } from 'payments-platform-sdk/sandbox';
   *
   * const sandbox = new Sandbox();
   * const payments = new PaymentsClient(sandbox.clientOptions);
   * const built = await payments.instructions.build({
   *   address: '0x00000000000000000000000000000000000000aa',
   *   chainId: 8453,
   *   salt: 1,
   *   maxExecutions: 10,
   *   actionArguments: { anyOtherKind: { threshold: 5 } },
   * });
   * const { instructionId } = sandbox.instructions.create({
   *   address: '0x00000000000000000000000000000000000000aa',
   *   ...built,
   * });
   * sandbox.instructions.execute(instructionId, { value: '250000' });
   * ```
   */
  create(input: SandboxInstructionInput): Instruction {
    const platform = this.#platform;
    const report = asInput('The input of sandbox.instructions.create is');
    const given =
      'actionArguments' in input
        ? checked(FromInputSchema, input, report)
        : checked(FromBuiltSchema, input, report);
    const built = 'actionArguments' in given ? buildInstruction(given) : given;
    const { salt, maxExecutions, action } = built;
    const chainId = given.chainId ?? 8453;
    const content = [
      lowerCaseHex(given.address),
      chainId,
      salt,
      maxExecutions,
      action,
      built.arguments,
    ];
    const instructionId: Hex = `0x${fingerprint(content.join(' '), 64)}`;
    if (platform.instructions.has(instructionId)) {
      throw conflict(
        'instruction_exists',
        `The instruction "${instructionId}" exists already; another salt makes it distinct.`,
      );
    }
    const row: InstructionRow = {
      address: given.address,
      chainId,
      instruction: {
        action,
        arguments: built.arguments,
        executionState: { executionCounter: 0, executionStatus: 'Active', lastExecuted: 0 },
        instructedTokenAddress: tokenOf(built.arguments),
        instructionId,
        lastInstructedValue: '0',
        maxExecutions,
        nickname: given.nickname ?? '',
        salt,
        totalInstructedValue: '0',
      },
    };
    platform.instructions.set(instructionId, row);
    recordTransaction(platform, row, { activation: true });
    return instructionView(row);
  }

  /** One Instruction by its `instructionId`. @throws SandboxError when it does not exist. */
  get(instructionId: string): Instruction {
    return instructionView(this.#row(instructionId));
  }

  /** Every Instruction of every address, oldest first. */
  list(): Instruction[] {
    return [...this.#platform.instructions.values()].map(instructionView);
  }

  /**
   * Lets an Instruction run once: it counts, and a transaction is put on record.
   * @throws SandboxError when it does not exist, is deactivated, or has run `maxExecutions` times.
   */
  execute(instructionId: string, execution: SandboxExecution = {}): Transaction {
    const row = this.#activeRow(instructionId);
    const report = asInput('The input of sandbox.instructions.execute is');
    const { value = 0, status } = checked(SandboxExecutionSchema, execution, report);
    const { instruction } = row;
    const counter = BigInt(instruction.executionState.executionCounter) + 1n;
    if (counter > BigInt(instruction.maxExecutions)) {
      throw conflict(
        'executions_exhausted',
        `The instruction "${instructionId}" has run ${instruction.maxExecutions} times, which is all it may.`,
      );
    }
    const transaction = recordTransaction(this.#platform, row, { status });
    row.instruction = {
      ...instruction,
      executionState: {
        ...instruction.executionState,
        executionCounter: Number(counter),
        lastExecuted: transaction.finishedAtUnix,
      },
      lastInstructedValue: String(BigInt(value)),
      totalInstructedValue: String(BigInt(instruction.totalInstructedValue) + BigInt(value)),
    };
    return transaction;
  }

  /**
   * Deactivates an Instruction, with the transaction that does so.
   * @throws SandboxError when it does not exist or is deactivated already.
   */
  deactivate(instructionId: string): Instruction {
    const row = this.#activeRow(instructionId);
    recordTransaction(this.#platform, row, { deactivation: true });
    const { executionState } = row.instruction;
    row.instruction = {
      ...row.instruction,
      executionState: { ...executionState, executionStatus: 'Deactivated' },
    };
    return instructionView(row);
  }

  #row(instructionId: string): InstructionRow {
    const row = this.#platform.instructions.get(lowerCaseHex(instructionId));
    if (row !== undefined) return row;
    throw new SandboxError(`No instruction "${instructionId}" exists on this Platform.`, {
      code: 'instruction_not_found',
      status: 404,
    });
  }

  #activeRow(instructionId: string): InstructionRow {
    const row = this.#row(instructionId);
    if (row.instruction.executionState.executionStatus !== 'Deactivated') return row;
    throw conflict('instruction_deactivated', `The instruction "${instructionId}" is deactivated.`);
  }
}
