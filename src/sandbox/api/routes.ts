import {
  accountCreateInputSchema,
  accountListQuerySchema,
  accountUpdateInputSchema,
} from '../../schemas/account.ts';
import { counterpartyListQuerySchema } from '../../schemas/counterparty.ts';
import {
  entityCreateInputSchema,
  entityListQuerySchema,
  type EntityId,
} from '../../schemas/entity.ts';
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
import { SandboxError } from '../platform/sandbox-error.ts';
import { updateSettings } from '../platform/settings.ts';
import { listTransactions } from '../platform/transactions.ts';
import { createTransfer, toTransferCreated, toTransfer } from '../platform/transfers.ts';
import { errorReply, type Reply } from './responses.ts';
import { withBody, withId, withPage, type Run, type SandboxOperation } from './calls.ts';

export interface Route {
  readonly operation: SandboxOperation;
  readonly method: string;
  /** Versioned paths begin with /v0 and want the API key; root paths want the JWT. */
  readonly api: 'versioned' | 'root';
  /** Matches a whole path and captures what precedes that of the API, and the id in it. */
  readonly pattern: RegExp;
  /** The status of a success; 204 comes without a body. */
  readonly status: number;
  /** Whether it answers a page with a cursor. */
  readonly paged: boolean;
  readonly run: Run;
}
function route(
  operation: SandboxOperation,
  methodAndPath: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`,
  status: number,
  run: Run,
): Route {
  const [method = '', path = ''] = methodAndPath.split(' ');
  const isVersioned = path.startsWith('/v0/');
  // Whatever comes before is the caller's own prefix, but a root path has no version in front.
  const prefix = isVersioned ? '^(.*)' : '^(?!.*/v0/)(.*)';
  return {
    operation,
    method,
    api: isVersioned ? 'versioned' : 'root',
    pattern: new RegExp(`${prefix}${path.replace('{id}', '([^/]+)')}$`),
    status,
    // Every list of the versioned API is paged by a cursor; those of the root API are not.
    paged: isVersioned && operation.endsWith('.list'),
    run,
  };
}

/** The filters that the document describes; their names are assumed. */
const involvesAccount = (row: Transfer, { accountId }: TransferListQuery) =>
  accountId === undefined ||
  row.sourceAccountId === accountId ||
  row.destinationAccountId === accountId;
const belongsToEntity = (
  row: { entityId: EntityId },
  { entityId }: { entityId?: EntityId | undefined },
) => entityId === undefined || row.entityId === entityId;
const matchesIban = (row: Iban, query: IbanListQuery) =>
  belongsToEntity(row, query) &&
  (query.accountId === undefined || row.accountId === query.accountId);

/** Every documented operation: where it is, the status of its success, and what it does. */
export const routes: readonly Route[] = [
  route(
    'entities.create',
    'POST /v0/entities',
    201,
    withBody(entityCreateInputSchema(), (platform, input) =>
      toEntityCreated(createEntity(platform, input)),
    ),
  ),
  route(
    'entities.list',
    'GET /v0/entities',
    200,
    withPage(entityListQuerySchema(), ({ entities }) => entities, toEntity),
  ),
  route(
    'entities.get',
    'GET /v0/entities/{id}',
    200,
    withId(({ entities }, id) => toEntity(entities.get(id))),
  ),

  route(
    'accounts.create',
    'POST /v0/accounts',
    201,
    withBody(accountCreateInputSchema(), (platform, input) =>
      toAccountCreated(createAccount(platform, input)),
    ),
  ),
  route(
    'accounts.list',
    'GET /v0/accounts',
    200,
    withPage(accountListQuerySchema(), ({ accounts }) => accounts, toAccount),
  ),
  route(
    'accounts.get',
    'GET /v0/accounts/{id}',
    200,
    withId(({ accounts }, id) => toAccount(accounts.get(id))),
  ),
  route(
    'accounts.update',
    'PATCH /v0/accounts/{id}',
    200,
    withBody(accountUpdateInputSchema(), (platform, patch, id) =>
      toAccount(updateAccount(platform, id, patch)),
    ),
  ),

  route(
    'transfers.create',
    'POST /v0/transfers',
    201,
    withBody(transferCreateInputSchema(), (platform, input) =>
      toTransferCreated(createTransfer(platform, input)),
    ),
  ),
  route(
    'transfers.list',
    'GET /v0/transfers',
    200,
    withPage(transferListQuerySchema(), ({ transfers }) => transfers, toTransfer, involvesAccount),
  ),
  route(
    'transfers.get',
    'GET /v0/transfers/{id}',
    200,
    withId(({ transfers }, id) => toTransfer(transfers.get(id))),
  ),

  route(
    'counterparties.list',
    'GET /v0/counterparties',
    200,
    withPage(
      counterpartyListQuerySchema(),
      ({ counterparties }) => counterparties,
      toCounterparty,
      belongsToEntity,
    ),
  ),
  route(
    'counterparties.get',
    'GET /v0/counterparties/{id}',
    200,
    withId(({ counterparties }, id) => toCounterparty(counterparties.get(id))),
  ),
  route('counterparties.delete', 'DELETE /v0/counterparties/{id}', 204, withId(deleteCounterparty)),

  route(
    'ibans.list',
    'GET /v0/ibans',
    200,
    withPage(ibanListQuerySchema(), ({ ibans }) => ibans, toIban, matchesIban),
  ),
  route(
    'ibans.get',
    'GET /v0/ibans/{id}',
    200,
    withId(({ ibans }, id) => toIban(ibans.get(id))),
  ),
  route('ibans.delete', 'DELETE /v0/ibans/{id}', 204, withId(deleteIban)),

  route(
    'settings.update',
    'PATCH /v0/platform/settings',
    200,
    withBody(settingsUpdateInputSchema(), updateSettings),
  ),

  route(
    'instructions.build',
    'POST /instruction/build',
    200,
    withBody(instructionBuildInputSchema(), (_platform, input) => buildInstruction(input)),
  ),
  route(
    'instructions.list',
    'GET /instructions/all',
    200,
    withBody(instructionListInputSchema(), (platform, { address }) =>
      listInstructions(platform, address),
    ),
  ),
  route(
    'transactions.list',
    'GET /transactions',
    200,
    withBody(transactionListInputSchema(), listTransactions),
  ),
];

/** The routes that a path leads to, one for each method; what precedes it, and the id in it. */
export function findRoutes(pathname: string): { found: Route[]; prefix: string; id: string } {
  const found = routes.filter(({ pattern }) => pattern.test(pathname));
  const [, prefix = '', id = ''] = found[0]?.pattern.exec(pathname) ?? [];
  return { found, prefix, id: decodeSegment(id) };
}

/** What a path is answered with that would be right without what precedes it. */
export const createWrongBaseReply = (path: string, prefix: string): Reply =>
  errorReply(
    new SandboxError(
      `No operation has the path ${path.slice(0, 200)}. The right one is ${path.slice(prefix.length).slice(0, 200)}: nothing precedes /v0, /instruction/build, /instructions/all and /transactions on this server.`,
      { code: 'not_found', status: 404 },
    ),
  );

/** What a path or a method that belongs to no operation is answered with. */
export function createNoRouteReply(method: string, path: string, found: readonly Route[]): Reply {
  if (found.length === 0) {
    return errorReply(
      new SandboxError(
        `No operation has the path ${path.slice(0, 200)}. Versioned paths begin with /v0; /instruction/build, /instructions/all and /transactions have no version segment.`,
        { code: 'not_found', status: 404 },
      ),
    );
  }
  return createWrongMethodReply(method, found);
}

/** What a path is answered with that takes other methods. */
export function createWrongMethodReply(
  method: string,
  found: readonly { method: string }[],
): Reply {
  const allow = found.map((each) => each.method).join(', ');
  const reply = errorReply(
    new SandboxError(`This path takes ${allow}, not ${method}.`, {
      code: 'method_not_allowed',
      status: 405,
    }),
  );
  return { ...reply, headers: { ...reply.headers, allow } };
}

/** A segment of a path as it reads; as it is, when it is no encoding of anything. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
