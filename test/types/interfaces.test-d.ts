/*
 * Each resource has an interface, which editors show, and a shape, which zod checks. These tests
 * fail to compile when a field, a type or a question mark differs. They run no code.
 */
import { expectTypeOf, test } from 'vitest';
import type * as z from 'zod/mini';
import type {
  Account,
  AccountCreated,
  AccountCreateInput,
  AccountListQuery,
  accountCreatedShape,
  accountCreateInputShape,
  accountShape,
  AccountUpdateInput,
  accountUpdateInputShape,
} from '../../src/schemas/account.ts';
import type {
  Counterparty,
  CounterpartyListQuery,
  counterpartyListQueryShape,
  counterpartyShape,
} from '../../src/schemas/counterparty.ts';
import type {
  Entity,
  EntityCreated,
  EntityCreateInput,
  entityCreatedShape,
  entityCreateInputShape,
  EntityListQuery,
  entityShape,
} from '../../src/schemas/entity.ts';
import type { ErrorBody, errorBodyShape } from '../../src/schemas/error-body.ts';
import type { Iban, IbanListQuery, ibanListQueryShape, ibanShape } from '../../src/schemas/iban.ts';
import type {
  BuiltInstruction,
  builtInstructionShape,
  ExecutionState,
  executionStateShape,
  Instruction,
  InstructionBuildInput,
  instructionBuildInputShape,
  InstructionListInput,
  instructionListInputShape,
  instructionShape,
  RefuelERC20Arguments,
  refuelERC20ArgumentsShape,
} from '../../src/schemas/instruction.ts';
import type { PageQuery, pageQueryShape } from '../../src/schemas/primitives.ts';
import type {
  Settings,
  settingsShape,
  SettingsUpdateInput,
  settingsUpdateInputShape,
} from '../../src/schemas/settings.ts';
import type {
  Transaction,
  TransactionListInput,
  transactionListInputShape,
  transactionShape,
} from '../../src/schemas/transaction.ts';
import type {
  Transfer,
  TransferCreated,
  TransferCreateInput,
  transferCreatedShape,
  transferCreateInputShape,
  TransferListQuery,
  transferListQueryShape,
  transferShape,
} from '../../src/schemas/transfer.ts';

/** The type that a shape accepts. */
type Of<Shape extends () => z.core.$ZodLooseShape> = z.output<z.ZodMiniObject<ReturnType<Shape>>>;
/** The type of a response with this shape. */
type ResultOf<Shape extends () => z.core.$ZodLooseShape> = Readonly<Of<Shape>>;

test('the interfaces of entities equal those of their zod schemas', () => {
  expectTypeOf<ResultOf<typeof entityShape>>().toEqualTypeOf<Entity>();
  expectTypeOf<ResultOf<typeof entityCreatedShape>>().toEqualTypeOf<EntityCreated>();
  expectTypeOf<Of<typeof entityCreateInputShape>>().toEqualTypeOf<EntityCreateInput>();
  expectTypeOf<Of<typeof pageQueryShape>>().toEqualTypeOf<EntityListQuery>();
});

test('the interfaces of accounts equal those of their zod schemas', () => {
  expectTypeOf<ResultOf<typeof accountShape>>().toEqualTypeOf<Account>();
  expectTypeOf<ResultOf<typeof accountCreatedShape>>().toEqualTypeOf<AccountCreated>();
  expectTypeOf<Of<typeof accountCreateInputShape>>().toEqualTypeOf<AccountCreateInput>();
  expectTypeOf<Of<typeof accountUpdateInputShape>>().toEqualTypeOf<AccountUpdateInput>();
  expectTypeOf<Of<typeof pageQueryShape>>().toEqualTypeOf<AccountListQuery>();
});

/** The members of a union, each with the fields that it allows. */
type Allowed<T> = T extends unknown
  ? { [Field in keyof T as [T[Field]] extends [undefined] ? never : Field]: T[Field] }
  : never;

test('the interfaces of transfers equal those of their zod schemas', () => {
  expectTypeOf<ResultOf<typeof transferShape>>().toEqualTypeOf<Transfer>();
  expectTypeOf<ResultOf<typeof transferCreatedShape>>().toEqualTypeOf<TransferCreated>();
  expectTypeOf<Of<typeof transferListQueryShape>>().toEqualTypeOf<TransferListQuery>();
  // The shape has two optional destinations, the type has exactly one.
  type Shape = Of<typeof transferCreateInputShape>;
  type Terms = Omit<Shape, 'destinationAccountId' | 'counterpartyId'>;
  type Exactly<One extends keyof Shape> = Terms & { [Field in One]-?: NonNullable<Shape[Field]> };
  type Flat<T> = { [Field in keyof T]: T[Field] };
  expectTypeOf<Allowed<TransferCreateInput>>().toEqualTypeOf<
    Flat<Exactly<'destinationAccountId'>> | Flat<Exactly<'counterpartyId'>>
  >();
});

test('the interfaces of counterparties equal those of their zod schemas', () => {
  expectTypeOf<ResultOf<typeof counterpartyShape>>().toEqualTypeOf<Counterparty>();
  expectTypeOf<Of<typeof counterpartyListQueryShape>>().toEqualTypeOf<CounterpartyListQuery>();
});

test('the interfaces of IBANs equal those of their zod schemas', () => {
  expectTypeOf<ResultOf<typeof ibanShape>>().toEqualTypeOf<Iban>();
  expectTypeOf<Of<typeof ibanListQueryShape>>().toEqualTypeOf<IbanListQuery>();
});

test('the interfaces of settings equal those of their zod schemas', () => {
  expectTypeOf<ResultOf<typeof settingsShape>>().toEqualTypeOf<Settings>();
  expectTypeOf<Of<typeof settingsUpdateInputShape>>().toEqualTypeOf<SettingsUpdateInput>();
});

test('the interfaces of instructions equal those of their zod schemas', () => {
  expectTypeOf<ResultOf<typeof instructionShape>>().toEqualTypeOf<Instruction>();
  expectTypeOf<ResultOf<typeof executionStateShape>>().toEqualTypeOf<ExecutionState>();
  expectTypeOf<ResultOf<typeof builtInstructionShape>>().toEqualTypeOf<BuiltInstruction>();
  expectTypeOf<Of<typeof instructionListInputShape>>().toEqualTypeOf<InstructionListInput>();
  expectTypeOf<Of<typeof refuelERC20ArgumentsShape>>().toEqualTypeOf<RefuelERC20Arguments>();
  expectTypeOf<Of<typeof instructionBuildInputShape>>().toEqualTypeOf<InstructionBuildInput>();
});

test('the interfaces of transactions equal those of their zod schemas', () => {
  expectTypeOf<ResultOf<typeof transactionShape>>().toEqualTypeOf<Transaction>();
  type Input = Of<typeof transactionListInputShape>;
  type Described = 'instructionIds' | 'sort';
  expectTypeOf<Omit<Input, Described>>().toEqualTypeOf<Omit<TransactionListInput, Described>>();
  // The type accepts a readonly list of ids and suggests the documented sort orders.
  expectTypeOf<Readonly<NonNullable<Input['instructionIds']>>>().toEqualTypeOf<
    NonNullable<TransactionListInput['instructionIds']>
  >();
  expectTypeOf<TransactionListInput['sort']>().toExtend<Input['sort']>();
  expectTypeOf<Input['sort']>().toExtend<TransactionListInput['sort']>();
});

test('the interfaces of errors and page queries equal their zod schemas', () => {
  expectTypeOf<ResultOf<typeof errorBodyShape>>().toEqualTypeOf<ErrorBody>();
  expectTypeOf<Of<typeof pageQueryShape>>().toEqualTypeOf<PageQuery>();
});
