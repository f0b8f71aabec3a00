import {
  accountCreateInputSchema,
  accountListQuerySchema,
  accountUpdateInputSchema,
} from '../../schemas/account.ts';
import { counterpartyListQuerySchema } from '../../schemas/counterparty.ts';
import { entityCreateInputSchema, entityListQuerySchema } from '../../schemas/entity.ts';
import { ibanListQuerySchema, type Iban, type IbanListQuery } from '../../schemas/iban.ts';
import {
  instructionBuildInputSchema,
  instructionListInputSchema,
} from '../../schemas/instruction.ts';
import { settingsUpdateInputSchema } from '../../schemas/settings.ts';
import { transactionListInputSchema } from '../../schemas/transaction.ts';
import {
  transferCreateInputSchema,
  transferListQuerySchema,
  type Transfer,
  type TransferListQuery,
} from '../../schemas/transfer.ts';
import { toAccountCreated, toAccount, createAccount, updateAccount } from '../platform/accounts.ts';
import { toCounterparty, deleteCounterparty } from '../platform/counterparties.ts';
import { createEntity, toEntityCreated, toEntity } from '../platform/entities.ts';
import { deleteIban, toIban } from '../platform/ibans.ts';
import { buildInstruction, listInstructions } from '../platform/instructions.ts';
import { updateSettings } from '../platform/settings.ts';
import { listTransactions } from '../platform/transactions.ts';
import { createTransfer, toTransferCreated, toTransfer } from '../platform/transfers.ts';
import { createErrorReply, type Reply } from './responses.ts';
import { withBody, withId, withPage, type Behaviour } from './calls.ts';
import { findNearestRoute } from './nearest-route.ts';
import { operationPaths, type SandboxOperation } from './operations.ts';

export interface Route extends Behaviour {
  readonly operation: SandboxOperation;
  /** The HTTP status of the operation's successful response. */
  readonly status: number;
  readonly method: string;
  /** `versioned` paths start with /v0 and need the API key; `root` paths need the JWT. */
  readonly api: 'versioned' | 'root';
  /** Matches the whole path of a request. Captures the prefix before the API's path, and the id. */
  readonly pattern: RegExp;
  /** Whether the operation is a list that returns pages with a cursor. */
  readonly paged: boolean;
}

const statuses: Readonly<Record<string, number>> = { '.create': 201, '.delete': 204 };

/** Creates the route of an operation from a text such as `GET /v0/accounts/{id}`. */
function createRoute(operation: SandboxOperation, methodAndPath: string): Route {
  const [method = '', path = ''] = methodAndPath.split(' ');
  const isVersioned = path.startsWith('/v0/');
  // Accept a prefix before the documented path, because the reply can then name the correct path.
  // The prefix of a root path may not contain /v0/, because the root API has no versions.
  const prefix = isVersioned ? '^(.*)' : '^(?!.*/v0/)(.*)';
  return {
    ...behaviours[operation],
    operation,
    status: statuses[operation.slice(operation.indexOf('.'))] ?? 200,
    method,
    api: isVersioned ? 'versioned' : 'root',
    pattern: new RegExp(`${prefix}${path.replace('{id}', '([^/]+)')}$`),
    // Every list under /v0 returns pages with a cursor. The lists of the root API (instructions and
    // transactions) do not.
    paged: isVersioned && operation.endsWith('.list'),
  };
}

/** The API reference describes these filters of lists, but not the names of their parameters. */
const involvesAccount = (row: Transfer, { accountId }: TransferListQuery) =>
  accountId === undefined ||
  row.sourceAccountId === accountId ||
  row.destinationAccountId === accountId;
const belongsToEntity = (
  row: { entityId: string },
  { entityId }: { entityId?: string | undefined },
) => entityId === undefined || row.entityId === entityId;
const matchesIban = (row: Iban, query: IbanListQuery) =>
  belongsToEntity(row, query) &&
  (query.accountId === undefined || row.accountId === query.accountId);

const behaviours: Readonly<Record<SandboxOperation, Behaviour>> = {
  'entities.create': withBody(entityCreateInputSchema(), (platform, input) =>
    toEntityCreated(createEntity(platform, input)),
  ),
  'entities.list': withPage(entityListQuerySchema(), ({ entities }) => entities, toEntity),
  'entities.get': withId(({ entities }, id) => toEntity(entities.get(id))),

  'accounts.create': withBody(accountCreateInputSchema(), (platform, input) =>
    toAccountCreated(createAccount(platform, input)),
  ),
  'accounts.list': withPage(accountListQuerySchema(), ({ accounts }) => accounts, toAccount),
  'accounts.get': withId(({ accounts }, id) => toAccount(accounts.get(id))),
  'accounts.update': withBody(accountUpdateInputSchema(), (platform, patch, id) =>
    toAccount(updateAccount(platform, id, patch)),
  ),

  'transfers.create': withBody(transferCreateInputSchema(), (platform, input) =>
    toTransferCreated(createTransfer(platform, input)),
  ),
  'transfers.list': withPage(
    transferListQuerySchema(),
    ({ transfers }) => transfers,
    toTransfer,
    involvesAccount,
  ),
  'transfers.get': withId(({ transfers }, id) => toTransfer(transfers.get(id))),

  'counterparties.list': withPage(
    counterpartyListQuerySchema(),
    ({ counterparties }) => counterparties,
    toCounterparty,
    belongsToEntity,
  ),
  'counterparties.get': withId(({ counterparties }, id) => toCounterparty(counterparties.get(id))),
  'counterparties.delete': withId(deleteCounterparty),

  'ibans.list': withPage(ibanListQuerySchema(), ({ ibans }) => ibans, toIban, matchesIban),
  'ibans.get': withId(({ ibans }, id) => toIban(ibans.get(id))),
  'ibans.delete': withId(deleteIban),

  'settings.update': withBody(settingsUpdateInputSchema(), updateSettings),

  'instructions.build': withBody(instructionBuildInputSchema(), (_platform, input) =>
    buildInstruction(input),
  ),
  'instructions.list': withBody(instructionListInputSchema(), (platform, { address }) =>
    listInstructions(platform, address),
  ),
  'transactions.list': withBody(transactionListInputSchema(), listTransactions),
};

export const routes: readonly Route[] = Object.entries(operationPaths).map(
  ([operation, methodAndPath]) => createRoute(operation as SandboxOperation, methodAndPath),
);

/** Returns the operations with this path, one for each method, and the path's prefix and id. */
export function findRoutes(pathname: string) {
  const candidates = routes.filter(({ pattern }) => pattern.test(pathname));
  const [, prefix = '', id = ''] = candidates[0]?.pattern.exec(pathname) ?? [];
  return { candidates, prefix, id: decodeSegment(id) };
}

/** Creates the 404 response for a path that is documented but has a wrong prefix in front. */
export const createWrongBaseReply = (path: string, prefix: string): Reply =>
  createErrorReply(
    404,
    'not_found',
    `No operation has the path ${path.slice(0, 200)}. The correct one is ${path.slice(prefix.length).slice(0, 200)}: nothing precedes /v0, /instruction/build, /instructions/all and /transactions on this server.`,
  );

/** Creates the response to a path or a method that belongs to no operation. */
export function createNoRouteReply(method: string, path: string, candidates: readonly Route[]) {
  if (candidates.length === 0) {
    return createErrorReply(
      404,
      'not_found',
      `No operation has the path ${path.slice(0, 200)}. The nearest one is ${findNearestRoute(method, path)}. The server of the sandbox describes all of them at /openapi.json.`,
    );
  }
  return createWrongMethodReply(method, candidates);
}

/** Creates the 405 response to a request whose path exists, but not with this method. */
export function createWrongMethodReply(method: string, candidates: readonly { method: string }[]) {
  const allow = candidates.map((candidate) => candidate.method).join(', ');
  const reply = createErrorReply(
    405,
    'method_not_allowed',
    `This path takes ${allow}, not ${method}.`,
  );
  return { ...reply, headers: { ...reply.headers, allow } };
}

/** Decodes a segment of a path, or returns the segment unchanged if its encoding is not valid. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
