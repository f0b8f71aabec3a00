// A program that uses the SDK, run on every runtime. It imports nothing: each module system passes its
// copy of the package.

function assert(condition, message) {
  if (!condition) throw new Error(message);
}

/** The error that a promise rejects with. */
const catchError = (promise) =>
  promise.then(
    () => {
      throw new Error('expected an error, and there was none');
    },
    (error) => error,
  );

/** Runs every feature on a new platform. Returns a result for each feature, or its error. */
export async function story({ sdk, Sandbox, world, sideEffects }) {
  const results = {};
  const options = { totalTimeout: 15_000, ...world.clientOptions };
  const payments = new sdk.PaymentsClient(options);
  for (const [name, run] of Object.entries(features)) {
    try {
      results[name] = (await run({ sdk, Sandbox, world, payments, options, sideEffects })) ?? 'yes';
    } catch (error) {
      results[name] = `${error?.name}: ${error?.message}`;
    }
  }
  return results;
}

const features = {
  'quiet import': ({ sideEffects }) => {
    assert(sideEffects.length === 0, `importing did: ${sideEffects.join(', ')}`);
  },

  list: async ({ payments }) => {
    const page = await payments.accounts.list({ limit: 2 });
    assert(page.data.length === 2 && page.hasMore, `a page of ${page.data.length}`);
    assert(page.data[0].id.startsWith('acc_'), page.data[0].id);
  },

  get: async ({ payments, world }) => {
    const { data, response } = await payments.entities.get(world.entityId).withResponse();
    assert(data.id === world.entityId && response.status === 200, `${data.id} ${response.status}`);
  },

  create: async ({ sdk, payments, options, world }) => {
    const input = createInput(world, 'made once');
    let sent = payments.transfers.create(input);
    let result;
    if (isRejectedInBrowser(sdk, await sent.catch((error) => error))) {
      result = 'rejected';
      // Applies the fix that the message names.
      const custom = { ...options, fetch: (request, init) => fetch(request, init) };
      sent = new sdk.PaymentsClient(custom).transfers.create(input);
    }
    const created = await sent;
    assert(created.id.startsWith('txfr_'), created.id);
    const stored = await payments.transfers.get(created.id);
    assert(stored.description === 'made once', `stored as ${stored.description}`);
    return result;
  },

  'errors by class': async ({ sdk, payments, options }) => {
    const missing = await catchError(payments.transfers.get('txfr_nowhere'));
    assert(missing instanceof sdk.NotFoundError, `404 came as ${missing.name}: ${missing.message}`);
    assert(
      missing instanceof sdk.ApiError && missing instanceof sdk.PaymentsError,
      'the base class',
    );
    assert(!(missing instanceof sdk.ConflictError), 'another class');
    assert(sdk.isApiError(missing) && missing.outcome === 'rejected', missing.outcome);
    const invalid = await catchError(payments.transfers.get('nonsense'));
    assert(invalid instanceof sdk.ValidationError, invalid.name);
    const wrongClient = new sdk.PaymentsClient({ ...options, apiKey: 'sk_wrong' });
    const rejection = await catchError(wrongClient.entities.list());
    assert(rejection instanceof sdk.AuthenticationError, `401 came as ${rejection.name}`);
    assert(
      !`${JSON.stringify(rejection)}${rejection.stack}`.includes('sk_wrong'),
      'the key is shown',
    );
    const closedClient = new sdk.PaymentsClient({
      ...options,
      baseUrl: 'http://127.0.0.1:9/v0',
      maxRetries: 0,
    });
    const unreachable = await catchError(closedClient.entities.list());
    assert(unreachable instanceof sdk.ConnectionError, `a closed port came as ${unreachable.name}`);
  },

  abort: async ({ sdk, payments }) => {
    const controller = new AbortController();
    const call = catchError(payments.ibans.get('iban_1', { signal: controller.signal }));
    setTimeout(() => controller.abort(new Error('changed my mind')), 100);
    const error = await call;
    assert(error instanceof sdk.AbortError && error.name === 'AbortError', error.name);
    assert(error.cause?.message === 'changed my mind', `cause ${error.cause}`);
    const before = await catchError(payments.ibans.get('iban_1', { signal: AbortSignal.abort() }));
    assert(before instanceof sdk.AbortError && before.attempts.length === 0, 'it was sent');
  },

  timeout: async ({ sdk, payments }) => {
    const limits = { timeout: 300, maxRetries: 0 };
    const write = await catchError(payments.settings.update({ webhookUrl: null }, limits));
    const first = isRejectedInBrowser(sdk, write)
      ? await catchError(payments.ibans.get('iban_1', limits))
      : write;
    assert(first instanceof sdk.TimeoutError, `${first.name}: ${first.message}`);
    assert(
      first.phase === 'headers' && first.outcome === 'unknown',
      `${first.phase} ${first.outcome}`,
    );
    const { data } = await payments.counterparties.list({ limit: 1 });
    const body = await catchError(payments.counterparties.get(data[0].id, limits));
    assert(body instanceof sdk.TimeoutError && body.phase === 'body', `${body.name} ${body.phase}`);
  },

  paging: async ({ payments, world }) => {
    const ids = new Set();
    for await (const { id } of payments.transfers.list({ limit: 7 })) ids.add(id);
    // The story has made one more transfer above.
    assert(ids.size === world.transfers + 1, `${ids.size} of ${world.transfers + 1}`);
  },

  retry: async ({ sdk, options, world }) => {
    let retries = 0;
    const hooks = { onRetry: () => (retries += 1) };
    const patient = new sdk.PaymentsClient({ ...options, hooks });
    const account = await patient.accounts.get(world.sourceAccountId);
    assert(account.id === world.sourceAccountId && retries === 1, `${retries} retries`);
  },

  'unknown write': async ({ sdk, payments, world }) => {
    const input = createInput(world, 'the response is lost');
    const since = new Date(Date.now() - 60_000);
    const error = await payments.transfers.create(input).catch((reason) => reason);
    let effects = 0;
    for await (const transfer of payments.transfers.list()) {
      if (transfer.description === input.description) effects += 1;
    }
    if (isRejectedInBrowser(sdk, error)) {
      assert(effects === 0, `rejected, and made ${effects} times`);
      return 'rejected';
    }
    assert(sdk.isOutcomeUnknown(error), `${error.name} ${error.outcome}: ${error.message}`);
    assert(error.attempts.length === 1, `${error.attempts.length} attempts`);
    assert(effects === 1, `made ${effects} times`);
    const { result } = await payments.transfers.reconcile(input, { since });
    assert(result === 'found', result);
  },

  'GET with body': async ({ sdk, payments, world }) => {
    let instructions;
    try {
      instructions = await payments.instructions.list({ address: world.owner });
    } catch (error) {
      if (!(error instanceof sdk.ConfigurationError)) throw error;
      assert(error.outcome === 'not_sent' && /cannot send/.test(error.message), error.message);
      assert(/getWithBody/.test(error.message), 'the hint is missing');
      return 'rejected';
    }
    assert(instructions.length === 1, `${instructions.length} instructions`);
    let transactions = 0;
    for await (const { address } of payments.transactions.list({ address: world.owner, take: 1 })) {
      assert(address === undefined || typeof address === 'string', 'no address');
      transactions += 1;
    }
    assert(transactions >= 2, `${transactions} transactions`);
  },

  'big integers': async ({ sdk, world, options }) => {
    const response = await requestEcho(sdk, world, options);
    return typeof response.big === 'bigint' && String(response.big) === world.big
      ? 'yes'
      : `no: ${typeof response.big}`;
  },

  'User-Agent': async ({ sdk, world, options }) => {
    const named = await requestEcho(sdk, world, options);
    const overridden = await requestEcho(sdk, world, {
      ...options,
      headers: { 'User-Agent': 'till/2' },
    });
    if (named.userAgent.startsWith('Mozilla/'))
      return overridden.userAgent === 'till/2' ? 'own' : "browser's";
    assert(named.userAgent === `payments-platform-sdk/${sdk.version}`, named.userAgent);
    assert(overridden.userAgent === 'till/2', `overridden: ${overridden.userAgent}`);
  },

  sandbox: async ({ sdk, Sandbox }) => {
    const sandbox = new Sandbox();
    const payments = new sdk.PaymentsClient(sandbox.clientOptions);
    const entity = await payments.entities.create({ email: 'ada@example.com' });
    const list = await payments.instructions.list({ address: `0x${'1'.repeat(40)}` });
    assert(entity.id.startsWith('ent_') && list.length === 0, entity.id);
    const missing = await catchError(payments.accounts.get('acc_nowhere'));
    assert(missing instanceof sdk.NotFoundError, missing.name);
  },

  'missing options': ({ sdk }) => {
    try {
      void new sdk.PaymentsClient();
    } catch (error) {
      assert(error instanceof sdk.ConfigurationError, `${error.name}: ${error.message}`);
      assert(/PAYMENTS_BASE_URL/.test(error.message), error.message);
      return;
    }
    throw new Error('it was made');
  },
};

/** The names of the features, in the order of the story. */
export const featureNames = Object.keys(features);

/** Whether a write was rejected because a browser would send it, with a hint in the message. */
function isRejectedInBrowser(sdk, error) {
  if (!(error instanceof sdk.ConfigurationError)) return false;
  assert(error.outcome === 'not_sent' && error.attempts.length === 0, error.outcome);
  assert(
    /from a browser/.test(error.message) && /a fetch that is not the browser's/.test(error.message),
    error.message,
  );
  return true;
}

const createInput = ({ sourceAccountId, destinationAccountId }, description) => ({
  sourceAccountId,
  destinationAccountId,
  amount: '1.00',
  description,
});

const requestEcho = (sdk, world, options) =>
  new sdk.PaymentsClient({ ...options, baseUrl: world.echoUrl }).request({
    method: 'GET',
    path: '/echo',
    api: 'versioned',
  });
