import type { PaymentsClient } from 'payments-platform-sdk';
import {
  AccountSchema,
  CounterpartySchema,
  EntitySchema,
  IbanSchema,
  InstructionSchema,
  pageSchema,
  SettingsSchema,
  TransactionSchema,
  TransferSchema,
} from 'payments-platform-sdk/schemas';
import type { SandboxOperation } from '../../src/sandbox/api/operations.ts';
import * as z from 'zod/mini';
import type { Noun } from '../../src/internal/formats.ts';
import { buildInput, owner } from './platform.ts';
import { accountCreatedSchema } from '../../src/schemas/account.ts';
import { builtInstructionSchema } from '../../src/schemas/instruction.ts';
import { entityCreatedSchema } from '../../src/schemas/entity.ts';
import { transferCreatedSchema } from '../../src/schemas/transfer.ts';

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

const versioned = { base: 'versioned', credential: 'apiKey', query: [], body: [] } as const;
const root = { base: 'root', credential: 'jwt', query: [] } as const;

/** Characters with a special meaning in a query string. */
const cursor = 'b3B/YX+l ZQ=&';
const cursorSent = 'cursor=b3B%2FYX%2Bl+ZQ%3D%26';

const lastOf = (filters: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(filters).slice(-1));

/** GET /nouns, with a cursor, with a limit of 1, and without arguments. */
const list = (
  noun: Noun,
  response: z.core.$ZodType,
  limit: number,
  filters: Readonly<Record<string, string>> = {},
): Endpoint => {
  const search = Object.entries(filters).map(([name, value]) => `&${name}=${value}`);
  return {
    ...versioned,
    operation: `${noun}.list`,
    method: 'GET',
    path: `/${noun}`,
    query: ['cursor', 'limit', ...Object.keys(filters)],
    response: pageSchema(response),
    examples: [
      {
        query: { cursor, limit, ...filters },
        search: `?${cursorSent}&limit=${limit}${search.join('')}`,
      },
      { query: { limit: 1, ...lastOf(filters) }, search: `?limit=1${search.at(-1) ?? ''}` },
      {},
    ],
  };
};
/** GET /nouns/{id}, with the id of the first record. */
const get = (noun: Noun, id: string, response: z.core.$ZodType): Endpoint => ({
  ...versioned,
  operation: `${noun}.get`,
  method: 'GET',
  path: `/${noun}/{id}`,
  response,
  examples: [{ id }],
});

/** DELETE /nouns/{id}, whose response the API reference does not show. */
const remove = (noun: 'counterparties' | 'ibans', id: string): Endpoint => ({
  ...versioned,
  operation: `${noun}.delete`,
  method: 'DELETE',
  path: `/${noun}/{id}`,
  response: undefined,
  examples: [{ id }],
});

export const endpoints: readonly Endpoint[] = [
  {
    ...versioned,
    operation: 'entities.create',
    method: 'POST',
    path: '/entities',
    body: ['email', 'fullName', 'businessName'],
    response: entityCreatedSchema(),
    examples: [
      { body: { email: 'ada@example.com', fullName: 'Ada Märsh 🦊' } },
      { body: { email: 'till@example.com', businessName: 'Corner Shop Ltd' } },
      { body: { email: 'least@example.com' } },
    ],
  },
  list('entities', EntitySchema, 7),
  get('entities', 'ent_000001', EntitySchema),
  {
    ...versioned,
    operation: 'accounts.create',
    method: 'POST',
    path: '/accounts',
    body: ['entityId', 'name', 'metadata'],
    response: accountCreatedSchema(),
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
  list('accounts', AccountSchema, 100),
  get('accounts', 'acc_000001', AccountSchema),
  {
    ...versioned,
    operation: 'accounts.update',
    method: 'PATCH',
    path: '/accounts/{id}',
    body: ['name', 'metadata'],
    response: AccountSchema,
    examples: [
      { id: 'acc_000001', body: { name: 'Renamed' } },
      { id: 'acc_000001', body: { metadata: { colour: 'blue' } } },
    ],
  },
  {
    ...versioned,
    operation: 'transfers.create',
    method: 'POST',
    path: '/transfers',
    body: [
      'sourceAccountId',
      'amount',
      'destinationAccountId',
      'counterpartyId',
      'currency',
      'description',
    ],
    response: transferCreatedSchema(),
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
  list('transfers', TransferSchema, 50, { accountId: 'acc_000001' }),
  get('transfers', 'txfr_000001', TransferSchema),
  list('counterparties', CounterpartySchema, 2, { entityId: 'ent_000001' }),
  get('counterparties', 'cpty_000001', CounterpartySchema),
  remove('counterparties', 'cpty_000001'),
  list('ibans', IbanSchema, 3, { entityId: 'ent_000001', accountId: 'acc_000001' }),
  get('ibans', 'iban_000001', IbanSchema),
  remove('ibans', 'iban_000001'),
  {
    ...versioned,
    operation: 'settings.update',
    method: 'PATCH',
    path: '/platform/settings',
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
    ...root,
    operation: 'instructions.build',
    method: 'POST',
    path: '/instruction/build',
    body: ['address', 'chainId', 'salt', 'maxExecutions', 'actionArguments'],
    response: builtInstructionSchema(),
    examples: [{ body: buildInput }],
  },
  {
    ...root,
    operation: 'instructions.list',
    method: 'GET',
    path: '/instructions/all',
    body: ['address'],
    response: z.array(InstructionSchema),
    examples: [{ body: { address: owner } }],
  },
  {
    ...root,
    operation: 'transactions.list',
    method: 'GET',
    path: '/transactions',
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

/** The namespaces of the client, in the order of the endpoints. */
export const namespaces = [
  ...new Set(endpoints.map(({ operation }) => operation.split('.')[0] ?? '')),
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
