/*
 * Each noun has an interface, which editors show, and a shape, which zod checks. The compiler holds
 * the two together here: `tsc` fails when one of them has a field, a type or a question mark that
 * the other lacks. The expectations do nothing when the tests run.
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

/** What a shape lets through. */
type Of<Shape extends z.core.$ZodLooseShape> = z.output<z.ZodMiniObject<Shape>>;

test('entities', () => {
  expectTypeOf<Of<ReturnType<typeof entityShape>>>().toEqualTypeOf<Entity>();
  expectTypeOf<Of<ReturnType<typeof entityCreatedShape>>>().toEqualTypeOf<EntityCreated>();
  expectTypeOf<Of<ReturnType<typeof entityCreateInputShape>>>().toEqualTypeOf<EntityCreateInput>();
  expectTypeOf<Of<ReturnType<typeof pageQueryShape>>>().toEqualTypeOf<EntityListQuery>();
});

test('accounts', () => {
  expectTypeOf<Of<ReturnType<typeof accountShape>>>().toEqualTypeOf<Account>();
  expectTypeOf<Of<ReturnType<typeof accountCreatedShape>>>().toEqualTypeOf<AccountCreated>();
  expectTypeOf<
    Of<ReturnType<typeof accountCreateInputShape>>
  >().toEqualTypeOf<AccountCreateInput>();
  expectTypeOf<
    Of<ReturnType<typeof accountUpdateInputShape>>
  >().toEqualTypeOf<AccountUpdateInput>();
  expectTypeOf<Of<ReturnType<typeof pageQueryShape>>>().toEqualTypeOf<AccountListQuery>();
});

/** The members of a union, each with the fields that it does not forbid. */
type Allowed<T> = T extends unknown
  ? { [Field in keyof T as [T[Field]] extends [undefined] ? never : Field]: T[Field] }
  : never;

test('transfers', () => {
  expectTypeOf<Of<ReturnType<typeof transferShape>>>().toEqualTypeOf<Transfer>();
  expectTypeOf<Of<ReturnType<typeof transferCreatedShape>>>().toEqualTypeOf<TransferCreated>();
  expectTypeOf<Of<ReturnType<typeof transferListQueryShape>>>().toEqualTypeOf<TransferListQuery>();
  // The shape has both destinations as optional fields, the type has exactly one of them.
  type Shape = Of<ReturnType<typeof transferCreateInputShape>>;
  type Terms = Omit<Shape, 'destinationAccountId' | 'counterpartyId'>;
  type Exactly<One extends keyof Shape> = Terms & { [Field in One]-?: NonNullable<Shape[Field]> };
  type Flat<T> = { [Field in keyof T]: T[Field] };
  expectTypeOf<Allowed<TransferCreateInput>>().toEqualTypeOf<
    Flat<Exactly<'destinationAccountId'>> | Flat<Exactly<'counterpartyId'>>
  >();
});

test('counterparties', () => {
  expectTypeOf<Of<ReturnType<typeof counterpartyShape>>>().toEqualTypeOf<Counterparty>();
  expectTypeOf<
    Of<ReturnType<typeof counterpartyListQueryShape>>
  >().toEqualTypeOf<CounterpartyListQuery>();
});

test('IBANs', () => {
  expectTypeOf<Of<ReturnType<typeof ibanShape>>>().toEqualTypeOf<Iban>();
  expectTypeOf<Of<ReturnType<typeof ibanListQueryShape>>>().toEqualTypeOf<IbanListQuery>();
});

test('settings', () => {
  expectTypeOf<Of<ReturnType<typeof settingsShape>>>().toEqualTypeOf<Settings>();
  expectTypeOf<
    Of<ReturnType<typeof settingsUpdateInputShape>>
  >().toEqualTypeOf<SettingsUpdateInput>();
});

test('instructions', () => {
  expectTypeOf<Of<ReturnType<typeof instructionShape>>>().toEqualTypeOf<Instruction>();
  expectTypeOf<Of<ReturnType<typeof executionStateShape>>>().toEqualTypeOf<ExecutionState>();
  expectTypeOf<Of<ReturnType<typeof builtInstructionShape>>>().toEqualTypeOf<BuiltInstruction>();
  expectTypeOf<
    Of<ReturnType<typeof instructionListInputShape>>
  >().toEqualTypeOf<InstructionListInput>();
  expectTypeOf<
    Of<ReturnType<typeof refuelERC20ArgumentsShape>>
  >().toEqualTypeOf<RefuelERC20Arguments>();
  expectTypeOf<
    Of<ReturnType<typeof instructionBuildInputShape>>
  >().toEqualTypeOf<InstructionBuildInput>();
});

test('transactions', () => {
  expectTypeOf<Of<ReturnType<typeof transactionShape>>>().toEqualTypeOf<Transaction>();
  type Input = Of<ReturnType<typeof transactionListInputShape>>;
  type Described = 'instructionIds' | 'sort';
  expectTypeOf<Omit<Input, Described>>().toEqualTypeOf<Omit<TransactionListInput, Described>>();
  // The type promises not to change the caller's list of ids, and suggests the documented order.
  expectTypeOf<Readonly<NonNullable<Input['instructionIds']>>>().toEqualTypeOf<
    NonNullable<TransactionListInput['instructionIds']>
  >();
  expectTypeOf<TransactionListInput['sort']>().toExtend<Input['sort']>();
  expectTypeOf<Input['sort']>().toExtend<TransactionListInput['sort']>();
});

test('error bodies and paging', () => {
  expectTypeOf<Of<ReturnType<typeof errorBodyShape>>>().toEqualTypeOf<ErrorBody>();
  expectTypeOf<Of<ReturnType<typeof pageQueryShape>>>().toEqualTypeOf<PageQuery>();
});
