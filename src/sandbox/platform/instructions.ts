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
import { lazy } from '../../internal/objects.ts';
import { hashToHex } from './hash.ts';
import type { InstructionRow, Platform } from './platform.ts';
import { conflict, notFound } from './sandbox-error.ts';
import { normalizeHex, recordTransaction } from './transactions.ts';
import { parseInput, validationError } from './validation.ts';

/** @inline */
interface Registration {
  /** The address that the Instruction belongs to. */
  address: Hex;
  /** A display name for the Instruction. @default '' */
  nickname?: string | undefined;
}
/** An Instruction to register in a sandbox, in the form that POST /instruction/build takes. */
interface SandboxInstructionFromInput extends InstructionBuildInput, Registration {}
/** An Instruction to register in a sandbox, in the form that POST /instruction/build returns. */
interface SandboxInstructionFromBuilt extends BuiltInstruction, Registration {
  /** The number of the chain that the Instruction runs on. @default 8453 */
  chainId?: Integer | undefined;
}
/** The input of `sandbox.instructions.create`; the API has no call to register an Instruction. */
export type SandboxInstructionInput = SandboxInstructionFromInput | SandboxInstructionFromBuilt;

const registrationShape = () => ({ nickname: z.optional(z.string('expected a string')) });
const fromInputSchema = lazy((): Schema<SandboxInstructionFromInput> =>
  z.strictObject({ ...instructionBuildInputShape(), ...registrationShape() }),
);
const hexRule = 'expected a hexadecimal string that starts with "0x"';
const fromBuiltSchema = lazy((): Schema<SandboxInstructionFromBuilt> =>
  z.strictObject({
    ...instructionListInputShape(),
    ...registrationShape(),
    chainId: z.optional(wholeNumber()),
    salt: wholeNumber(),
    maxExecutions: wholeNumber(),
    action: address(),
    // The length of `arguments` has no limit, because they encode an object of any size.
    arguments: asSchema<Hex>(z.string(hexRule).check(z.regex(/^0x[0-9a-fA-F]+$/, hexRule))),
  }),
);

/** The input of `sandbox.instructions.execute`, which runs an Instruction once. */
export interface SandboxExecution {
  /** The amount of this run, a whole number in the token's smallest unit. @default 0 */
  value?: Integer | string | undefined;
  /** The status of the transaction that `execute` adds to the history. @default 'Success' */
  status?: string | undefined;
}
const valueRule = 'expected a whole number, 0 or more';
const executionSchema = lazy((): Schema<SandboxExecution> =>
  z.strictObject({
    value: z.optional(
      z
        .union([z.int(), z.bigint(), z.string()], valueRule)
        .check(z.refine((value) => /^\d+$/.test(String(value)), valueRule)),
    ),
    status: z.optional(nonEmptyString('a transaction status, such as "Success"')),
  }),
);

const zeroAddress: Hex = `0x${'0'.repeat(40)}`;
const tokenArgumentsSchema = lazy(() => z.object({ refuelERC20: z.object({ token: address() }) }));

/** Encodes the arguments of an action as the bytes of their JSON, because this JSON keeps every digit. */
function encodeArguments(value: unknown): Hex {
  const bytes = new TextEncoder().encode(stringifyJson(value));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the token in an action's encoded arguments, or the zero address if there is none. */
function decodeToken(encoded: Hex): Hex {
  const pairs = encoded.slice(2).match(/../g) ?? [];
  const bytes = Uint8Array.from(pairs, (pair) => Number(`0x${pair}`));
  try {
    const value = parseJson(new TextDecoder().decode(bytes));
    return tokenArgumentsSchema().safeParse(value).data?.refuelERC20.token ?? zeroAddress;
  } catch {
    // Only a sandbox encodes action arguments as JSON. The platform's encoding is not known.
    return zeroAddress;
  }
}

/**
 * Builds an Instruction as POST /instruction/build does. The action's address depends only on the
 * kind of action, and the arguments are the JSON of `actionArguments` in hexadecimal, so that the
 * sandbox can decode them.
 */
export function buildInstruction({
  salt,
  maxExecutions,
  actionArguments,
}: InstructionBuildInput): BuiltInstruction {
  const [kind, ...others] = Object.keys(actionArguments);
  if (kind === undefined || others.length > 0) {
    // The response has one action address, so the input may contain only one kind of action.
    throw validationError(
      { actionArguments: 'expected exactly one action kind, such as refuelERC20' },
      'The body of instructions.build is',
    );
  }
  return {
    salt,
    maxExecutions,
    action: `0x${hashToHex(`action ${kind}`, 40)}`,
    arguments: encodeArguments(actionArguments),
  };
}

/** Returns the Instructions of an address, oldest first, as GET /instructions/all does. */
export const listInstructions = (platform: Platform, owner: string): Instruction[] =>
  [...platform.instructions.values()]
    .filter((row) => normalizeHex(row.address) === normalizeHex(owner))
    .map(toInstruction);

const toInstruction = ({ instruction }: InstructionRow): Instruction => ({
  ...instruction,
  executionState: { ...instruction.executionState },
});

/** Methods for the Instructions of a sandbox, and events on chain such as their runs. */
export class SandboxInstructions {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * Registers an Instruction on chain, and adds the transaction that activates it. Pass what
   * `instructions.build` takes, or what it returns together with the `address`.
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
    const report = 'The input of sandbox.instructions.create is';
    const fields =
      'actionArguments' in input
        ? parseInput(fromInputSchema(), input, report)
        : parseInput(fromBuiltSchema(), input, report);
    const built = 'actionArguments' in fields ? buildInstruction(fields) : fields;
    const { salt, maxExecutions, action, arguments: encoded } = built;
    const owner = normalizeHex(fields.address);
    const chainId = fields.chainId ?? 8453; // the chain Base
    // The id depends only on these fields, so the same Instruction cannot be registered twice.
    const idFields = [owner, chainId, salt, maxExecutions, action, encoded];
    const instructionId: Hex = `0x${hashToHex(idFields.join(' '), 64)}`;
    if (platform.instructions.has(instructionId)) {
      throw conflict(
        'instruction_exists',
        `The instruction "${instructionId}" exists already; another salt makes it distinct.`,
      );
    }
    const row: InstructionRow = {
      address: fields.address,
      chainId,
      instruction: {
        action,
        arguments: encoded,
        executionState: { executionCounter: 0, executionStatus: 'Active', lastExecuted: 0 },
        instructedTokenAddress: decodeToken(encoded),
        instructionId,
        lastInstructedValue: '0',
        maxExecutions,
        nickname: fields.nickname ?? '',
        salt,
        totalInstructedValue: '0',
      },
    };
    platform.instructions.set(instructionId, row);
    // Listeners hear of the Instruction only when its transaction exists too.
    platform.changes.collect(() => {
      platform.changes.add('instruction.created', toInstruction, null, row);
      recordTransaction(platform, row, { activation: true });
    });
    return toInstruction(row);
  }

  /** Returns an Instruction by its id. @throws SandboxError when the Instruction does not exist. */
  get(instructionId: string): Instruction {
    return toInstruction(this.#getRow(instructionId));
  }

  /** Returns every Instruction of every address, oldest first. */
  list(): Instruction[] {
    return [...this.#platform.instructions.values()].map(toInstruction);
  }

  /**
   * Runs an Instruction once. Its execution counter grows, and a {@link Transaction} is recorded.
   * @throws SandboxError when the Instruction does not exist, is deactivated, or has run
   *   `maxExecutions` times.
   */
  execute(instructionId: string, execution: SandboxExecution = {}): Transaction {
    const row = this.#getActiveRow(instructionId);
    const report = 'The input of sandbox.instructions.execute is';
    const { value = 0, status } = parseInput(executionSchema(), execution, report);
    const { instruction } = row;
    const executionCounter = BigInt(instruction.executionState.executionCounter) + 1n;
    if (executionCounter > BigInt(instruction.maxExecutions)) {
      throw conflict(
        'executions_exhausted',
        `The instruction "${instructionId}" has run ${instruction.maxExecutions} times, which is its maximum.`,
      );
    }
    return this.#platform.changes.collect(() => {
      const transaction = recordTransaction(this.#platform, row, { status });
      this.#update('instruction.updated', row, {
        ...instruction,
        executionState: {
          ...instruction.executionState,
          executionCounter: Number(executionCounter),
          lastExecuted: transaction.finishedAtUnix,
        },
        lastInstructedValue: String(BigInt(value)),
        totalInstructedValue: String(BigInt(instruction.totalInstructedValue) + BigInt(value)),
      });
      return transaction;
    });
  }

  /**
   * Deactivates an Instruction, and records the transaction that deactivates the Instruction.
   * @throws SandboxError when the Instruction does not exist or is deactivated already.
   */
  deactivate(instructionId: string): Instruction {
    const row = this.#getActiveRow(instructionId);
    const { executionState } = row.instruction;
    this.#platform.changes.collect(() => {
      recordTransaction(this.#platform, row, { deactivation: true });
      this.#update('instruction.status', row, {
        ...row.instruction,
        executionState: { ...executionState, executionStatus: 'Deactivated' },
      });
    });
    return toInstruction(row);
  }

  #update(
    type: 'instruction.updated' | 'instruction.status',
    row: InstructionRow,
    instruction: Instruction,
  ): void {
    const before = { ...row };
    row.instruction = instruction;
    this.#platform.changes.add(type, toInstruction, before, row);
  }

  #getRow(instructionId: string): InstructionRow {
    const row = this.#platform.instructions.get(normalizeHex(instructionId));
    if (row !== undefined) return row;
    throw notFound('instruction', instructionId, '');
  }

  #getActiveRow(instructionId: string): InstructionRow {
    const row = this.#getRow(instructionId);
    if (row.instruction.executionState.executionStatus !== 'Deactivated') return row;
    throw conflict('instruction_deactivated', `The instruction "${instructionId}" is deactivated.`);
  }
}
