import type { PaymentsClient } from 'payments-platform-sdk';
import {
  AccountCreatedSchema,
  AccountSchema,
  BuiltInstructionSchema,
  CounterpartySchema,
  EntityCreatedSchema,
  EntitySchema,
  IbanSchema,
  InstructionSchema,
  pageSchema,
  SettingsSchema,
  TransactionSchema,
  TransferCreatedSchema,
  TransferSchema,
} from 'payments-platform-sdk/schemas';
import type { SandboxOperation } from '../../src/sandbox/api/operations.ts';
import * as z from 'zod/mini';
import { buildInput, owner } from './platform.ts';

/*
 * The API reference as data: each endpoint, and an example of each call. The examples name records
 * of `seededSandbox` in ./platform.ts.
 */

/** One example of a call. */
export interface Example {
  /** Replaces {id}. */
  readonly id?: string;
  /** The query argument, and the query string that it becomes. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly search?: string;
  /** The body argument, and the JSON that it becomes. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** One endpoint of the API reference. */
export interface Endpoint {
  /** The resource and method of the client. */
  readonly operation: SandboxOperation;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the base URL (versioned) or the root URL (root). */
  readonly path: string;
  readonly base: 'versioned' | 'root';
  readonly credential: 'apiKey' | 'jwt';
  /** Every query parameter in the API reference. */
  readonly query: readonly string[];
  /** Every body field in the API reference. */
  readonly body: readonly string[];
  /** The shape of a success; undefined if the API reference shows none. */
  readonly response: z.core.$ZodType | undefined;
  readonly examples: readonly [Example, ...Example[]];
}

const versioned = { base: 'versioned', credential: 'apiKey' } as const;
const root = { base: 'root', credential: 'jwt' } as const;
const paging = ['cursor', 'limit'] as const;

/** Characters with a special meaning in a query string. */
const cursor = 'b3B/YX+l ZQ=&';
const cursorSent = 'cursor=b3B%2FYX%2Bl+ZQ%3D%26';

export const endpoints: readonly Endpoint[] = [
  {
    operation: 'entities.create',
    method: 'POST',
    path: '/entities',
    ...versioned,
    query: [],
    body: ['email', 'fullName', 'businessName'],
    response: EntityCreatedSchema,
    examples: [
      { body: { email: 'ada@example.com', fullName: 'Ada Märsh 🦊' } },
      { body: { email: 'till@example.com', businessName: 'Corner Shop Ltd' } },
      { body: { email: 'least@example.com' } },
    ],
  },
  {
    operation: 'entities.list',
    method: 'GET',
    path: '/entities',
    ...versioned,
    query: paging,
    body: [],
    response: pageSchema(EntitySchema),
    examples: [
      { query: { cursor, limit: 7 }, search: `?${cursorSent}&limit=7` },
      { query: { limit: 1 }, search: '?limit=1' },
      {},
    ],
  },
  {
    operation: 'entities.get',
    method: 'GET',
    path: '/entities/{id}',
    ...versioned,
    query: [],
    body: [],
    response: EntitySchema,
    examples: [{ id: 'ent_000001' }],
  },
  {
    operation: 'accounts.create',
    method: 'POST',
    path: '/accounts',
    ...versioned,
    query: [],
    body: ['entityId', 'name', 'metadata'],
    response: AccountCreatedSchema,
    examples: [
      {
        body: {
          entityId: 'ent_000001',
          name: 'Payroll',
          metadata: { costCentre: 'HR-1', tags: ['a', 'b'], nested: { empty: null, on: true } },
        },
      },
      { body: { entityId: 'ent_000001' } },
    ],
  },
  {
    operation: 'accounts.list',
    method: 'GET',
    path: '/accounts',
    ...versioned,
    query: paging,
    body: [],
    response: pageSchema(AccountSchema),
    examples: [
      { query: { cursor, limit: 100 }, search: `?${cursorSent}&limit=100` },
      { query: { limit: 1 }, search: '?limit=1' },
      {},
    ],
  },
  {
    operation: 'accounts.get',
    method: 'GET',
    path: '/accounts/{id}',
    ...versioned,
    query: [],
    body: [],
    response: AccountSchema,
    examples: [{ id: 'acc_000001' }],
  },
  {
    operation: 'accounts.update',
    method: 'PATCH',
    path: '/accounts/{id}',
    ...versioned,
    query: [],
    body: ['name', 'metadata'],
    response: AccountSchema,
    examples: [
      { id: 'acc_000001', body: { name: 'Renamed' } },
      { id: 'acc_000001', body: { metadata: { colour: 'blue' } } },
    ],
  },
  {
    operation: 'transfers.create',
    method: 'POST',
    path: '/transfers',
    ...versioned,
    query: [],
    body: [
      'sourceAccountId',
      'amount',
      'destinationAccountId',
      'counterpartyId',
      'currency',
      'description',
    ],
    response: TransferCreatedSchema,
    examples: [
      {
        body: {
          sourceAccountId: 'acc_000001',
          amount: '12.50',
          destinationAccountId: 'acc_000002',
          currency: 'USDC',
          description: 'Invoice 7, "paid" – €12.50',
        },
      },
      {
        body: {
          sourceAccountId: 'acc_000001',
          amount: '0.000000000000000001',
          counterpartyId: 'cpty_000001',
        },
      },
    ],
  },
  {
    operation: 'transfers.list',
    method: 'GET',
    path: '/transfers',
    ...versioned,
    query: [...paging, 'accountId'],
    body: [],
    response: pageSchema(TransferSchema),
    examples: [
      {
        query: { cursor, limit: 50, accountId: 'acc_000001' },
        search: `?${cursorSent}&limit=50&accountId=acc_000001`,
      },
      {
        query: { limit: 1, accountId: 'acc_000001' },
        search: '?limit=1&accountId=acc_000001',
      },
      {},
    ],
  },
  {
    operation: 'transfers.get',
    method: 'GET',
    path: '/transfers/{id}',
    ...versioned,
    query: [],
    body: [],
    response: TransferSchema,
    examples: [{ id: 'txfr_000001' }],
  },
  {
    operation: 'counterparties.list',
    method: 'GET',
    path: '/counterparties',
    ...versioned,
    query: [...paging, 'entityId'],
    body: [],
    response: pageSchema(CounterpartySchema),
    examples: [
      {
        query: { cursor, limit: 2, entityId: 'ent_000001' },
        search: `?${cursorSent}&limit=2&entityId=ent_000001`,
      },
      {
        query: { limit: 1, entityId: 'ent_000001' },
        search: '?limit=1&entityId=ent_000001',
      },
      {},
    ],
  },
  {
    operation: 'counterparties.get',
    method: 'GET',
    path: '/counterparties/{id}',
    ...versioned,
    query: [],
    body: [],
    response: CounterpartySchema,
    examples: [{ id: 'cpty_000001' }],
  },
  {
    operation: 'counterparties.delete',
    method: 'DELETE',
    path: '/counterparties/{id}',
    ...versioned,
    query: [],
    body: [],
    response: undefined,
    examples: [{ id: 'cpty_000001' }],
  },
  {
    operation: 'ibans.list',
    method: 'GET',
    path: '/ibans',
    ...versioned,
    query: [...paging, 'entityId', 'accountId'],
    body: [],
    response: pageSchema(IbanSchema),
    examples: [
      {
        query: { cursor, limit: 3, entityId: 'ent_000001', accountId: 'acc_000001' },
        search: `?${cursorSent}&limit=3&entityId=ent_000001&accountId=acc_000001`,
      },
      {
        query: { limit: 1, accountId: 'acc_000001' },
        search: '?limit=1&accountId=acc_000001',
      },
      {},
    ],
  },
  {
    operation: 'ibans.get',
    method: 'GET',
    path: '/ibans/{id}',
    ...versioned,
    query: [],
    body: [],
    response: IbanSchema,
    examples: [{ id: 'iban_000001' }],
  },
  {
    operation: 'ibans.delete',
    method: 'DELETE',
    path: '/ibans/{id}',
    ...versioned,
    query: [],
    body: [],
    response: undefined,
    examples: [{ id: 'iban_000001' }],
  },
  {
    operation: 'settings.update',
    method: 'PATCH',
    path: '/platform/settings',
    ...versioned,
    query: [],
    body: ['autoEarnEnabled', 'autoEarnVault', 'defaultChain', 'webhookUrl'],
    response: SettingsSchema,
    examples: [
      {
        body: {
          autoEarnEnabled: true,
          autoEarnVault: 'example_usdc',
          defaultChain: 'polygon',
          webhookUrl: 'https://hooks.example.com/payments?tenant=1',
        },
      },
      { body: { autoEarnEnabled: false, webhookUrl: null } },
    ],
  },
  {
    operation: 'instructions.build',
    method: 'POST',
    path: '/instruction/build',
    ...root,
    query: [],
    body: ['address', 'chainId', 'salt', 'maxExecutions', 'actionArguments'],
    response: BuiltInstructionSchema,
    examples: [{ body: buildInput }],
  },
  {
    operation: 'instructions.list',
    method: 'GET',
    path: '/instructions/all',
    ...root,
    query: [],
    body: ['address'],
    response: z.array(InstructionSchema),
    examples: [{ body: { address: owner } }],
  },
  {
    operation: 'transactions.list',
    method: 'GET',
    path: '/transactions',
    ...root,
    query: [],
    body: ['address', 'instructionIds', 'from', 'to', 'skip', 'take', 'sort'],
    response: z.array(TransactionSchema),
    examples: [
      { body: { address: owner } },
      {
        body: {
          address: owner,
          instructionIds: ['0x0abc', '0xdef0'],
          from: '2026-01-01T00:00:00Z',
          to: '2026-02-01T00:00:00.000+01:00',
          sort: 'Ascending',
          skip: 2,
          take: 20,
        },
      },
    ],
  },
];

/** The arguments of a method: the id if there is one, then the rest. */
export const argumentsOf = ({ id, query, body }: Example): unknown[] =>
  [id, body ?? query].filter((argument) => argument !== undefined);

/** The return value of a call: a list or a single response. */
interface Started extends PromiseLike<unknown> {
  withResponse(): Promise<{ data: unknown; response: Response }>;
}

/** Calls a method by its name, without type checks. */
export function invoke(
  payments: PaymentsClient,
  operation: string,
  parameters: readonly unknown[],
): Started {
  const [noun = '', verb = ''] = operation.split('.');
  const resource: unknown = Reflect.get(payments, noun);
  const method: unknown = Reflect.get(Object(resource), verb);
  if (typeof method !== 'function') throw new TypeError(`there is no payments.${operation}`);
  return Reflect.apply(method, resource, [...parameters]) as Started;
}
