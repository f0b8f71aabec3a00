/** The method and the path of every documented operation. */
export const operationPaths = {
  'entities.create': 'POST /v0/entities',
  'entities.list': 'GET /v0/entities',
  'entities.get': 'GET /v0/entities/{id}',
  'accounts.create': 'POST /v0/accounts',
  'accounts.list': 'GET /v0/accounts',
  'accounts.get': 'GET /v0/accounts/{id}',
  'accounts.update': 'PATCH /v0/accounts/{id}',
  'transfers.create': 'POST /v0/transfers',
  'transfers.list': 'GET /v0/transfers',
  'transfers.get': 'GET /v0/transfers/{id}',
  'counterparties.list': 'GET /v0/counterparties',
  'counterparties.get': 'GET /v0/counterparties/{id}',
  'counterparties.delete': 'DELETE /v0/counterparties/{id}',
  'ibans.list': 'GET /v0/ibans',
  'ibans.get': 'GET /v0/ibans/{id}',
  'ibans.delete': 'DELETE /v0/ibans/{id}',
  'settings.update': 'PATCH /v0/platform/settings',
  'instructions.build': 'POST /instruction/build',
  'instructions.list': 'GET /instructions/all',
  'transactions.list': 'GET /transactions',
} as const;

/** The names of the API's operations in fault rules and in the log, such as `transfers.create`. */
export type SandboxOperation = keyof typeof operationPaths;

/** An operation of the API, or `webhook` for a delivery to the `webhookUrl` of the Settings. */
export type SandboxLogOperation = SandboxOperation | 'webhook';
