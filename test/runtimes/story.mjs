// What a program does with the SDK, told once and run on every runtime. It imports nothing: the
// package is handed in, as the module system of the day delivers it.

function must(condition, message) {
  if (!condition) throw new Error(message);
}

/** The error that a promise rejects with. */
const caught = (promise) =>
  promise.then(
    () => {
      throw new Error('expected an error, and there was none');
    },
    (error) => error,
  );

/** Runs every feature against a fresh platform. Answers with a word per feature, or what went wrong. */
export async function story({ sdk, Sandbox, world, sideEffects }) {
  const results = {};
  const options = { totalTimeout: 15_000, ...world.clientOptions };
  const payments = new sdk.PaymentsClient(options);
  for (const [name, tell] of Object.entries(features)) {
    try {
      results[name] =
        (await tell({ sdk, Sandbox, world, payments, options, sideEffects })) ?? 'yes';
    } catch (error) {
      results[name] = `${error?.name}: ${error?.message}`;
    }
  }
  return results;
}

const features = {
  'quiet import': ({ sideEffects }) => {
    must(sideEffects.length === 0, `importing did: ${sideEffects.join(', ')}`);
  },

  list: async ({ payments }) => {
    const page = await payments.accounts.list({ limit: 2 });
    must(page.data.length === 2 && page.hasMore, `a page of ${page.data.length}`);
    must(page.data[0].id.startsWith('acc_'), page.data[0].id);
  },

  get: async ({ payments, world }) => {
    const { data, response } = await payments.entities.get(world.entityId).withResponse();
    must(data.id === world.entityId && response.status === 200, `${data.id} ${response.status}`);
  },

  create: async ({ sdk, payments, options, world }) => {
    const input = payment(world, 'made once');
    let sent = payments.transfers.create(input);
    let word;
    if (isRefused(sdk, await sent.catch((error) => error))) {
      word = 'rejected';
      // The way out that the message names.
      const own = { ...options, fetch: (request, init) => fetch(request, init) };
      sent = new sdk.PaymentsClient(own).transfers.create(input);
    }
    const created = await sent;
    must(created.id.startsWith('txfr_'), created.id);
    const stored = await payments.transfers.get(created.id);
    must(stored.description === 'made once', `stored as ${stored.description}`);
    return word;
  },

  'errors by class': async ({ sdk, payments, options }) => {
    const missing = await caught(payments.transfers.get('txfr_nowhere'));
    must(missing instanceof sdk.NotFoundError, `404 came as ${missing.name}: ${missing.message}`);
    must(missing instanceof sdk.ApiError && missing instanceof sdk.PaymentsError, 'the base class');
    must(!(missing instanceof sdk.ConflictError), 'another class');
    must(sdk.isApiError(missing) && missing.outcome === 'rejected', missing.outcome);
    const invalid = await caught(payments.transfers.get('nonsense'));
    must(invalid instanceof sdk.ValidationError, invalid.name);
    const stranger = new sdk.PaymentsClient({ ...options, apiKey: 'sk_wrong' });
    const refused = await caught(stranger.entities.list());
    must(refused instanceof sdk.AuthenticationError, `401 came as ${refused.name}`);
    must(!`${JSON.stringify(refused)}${refused.stack}`.includes('sk_wrong'), 'the key is shown');
    const nobody = new sdk.PaymentsClient({
      ...options,
      baseUrl: 'http://127.0.0.1:9/v0',
      maxRetries: 0,
    });
    const unreachable = await caught(nobody.entities.list());
    must(unreachable instanceof sdk.ConnectionError, `refused came as ${unreachable.name}`);
  },

  abort: async ({ sdk, payments }) => {
    const controller = new AbortController();
    const call = caught(payments.ibans.get('iban_1', { signal: controller.signal }));
    setTimeout(() => controller.abort(new Error('changed my mind')), 100);
    const error = await call;
    must(error instanceof sdk.AbortError && error.name === 'AbortError', error.name);
    must(error.cause?.message === 'changed my mind', `cause ${error.cause}`);
    const before = await caught(payments.ibans.get('iban_1', { signal: AbortSignal.abort() }));
    must(before instanceof sdk.AbortError && before.attempts.length === 0, 'it was sent');
  },

  timeout: async ({ sdk, payments }) => {
    const limits = { timeout: 300, maxRetries: 0 };
    const write = await caught(payments.settings.update({ webhookUrl: null }, limits));
    const first = isRefused(sdk, write)
      ? await caught(payments.ibans.get('iban_1', limits))
      : write;
    must(first instanceof sdk.TimeoutError, `${first.name}: ${first.message}`);
    must(
      first.phase === 'headers' && first.outcome === 'unknown',
      `${first.phase} ${first.outcome}`,
    );
    const { data } = await payments.counterparties.list({ limit: 1 });
    const body = await caught(payments.counterparties.get(data[0].id, limits));
    must(body instanceof sdk.TimeoutError && body.phase === 'body', `${body.name} ${body.phase}`);
  },

  paging: async ({ payments, world }) => {
    const ids = new Set();
    for await (const { id } of payments.transfers.list({ limit: 7 })) ids.add(id);
    // One more was made above.
    must(ids.size === world.transfers + 1, `${ids.size} of ${world.transfers + 1}`);
  },

  retry: async ({ sdk, options, world }) => {
    let retries = 0;
    const hooks = { onRetry: () => (retries += 1) };
    const patient = new sdk.PaymentsClient({ ...options, hooks });
    const account = await patient.accounts.get(world.sourceAccountId);
    must(account.id === world.sourceAccountId && retries === 1, `${retries} retries`);
  },

  'unknown write': async ({ sdk, payments, world }) => {
    const input = payment(world, 'the answer is lost');
    const since = new Date(Date.now() - 60_000);
    const error = await payments.transfers.create(input).catch((reason) => reason);
    let effects = 0;
    for await (const transfer of payments.transfers.list()) {
      if (transfer.description === input.description) effects += 1;
    }
    if (isRefused(sdk, error)) {
      must(effects === 0, `refused, and made ${effects} times`);
      return 'rejected';
    }
    must(sdk.isOutcomeUnknown(error), `${error.name} ${error.outcome}: ${error.message}`);
    must(error.attempts.length === 1, `${error.attempts.length} attempts`);
    must(effects === 1, `made ${effects} times`);
    const { result } = await payments.transfers.reconcile(input, { since });
    must(result === 'found', result);
  },

  'GET with body': async ({ sdk, payments, world }) => {
    let instructions;
    try {
      instructions = await payments.instructions.list({ address: world.owner });
    } catch (error) {
      if (!(error instanceof sdk.ConfigurationError)) throw error;
      must(error.outcome === 'not_sent' && /cannot send/.test(error.message), error.message);
      must(/getWithBody/.test(error.message), 'the remedy is not named');
      return 'rejected';
    }
    must(instructions.length === 1, `${instructions.length} instructions`);
    let transactions = 0;
    for await (const { address } of payments.transactions.list({ address: world.owner, take: 1 })) {
      must(address === undefined || typeof address === 'string', 'no address');
      transactions += 1;
    }
    must(transactions >= 2, `${transactions} transactions`);
  },

  'big integers': async ({ sdk, world, options }) => {
    const response = await echo(sdk, world, options);
    return typeof response.big === 'bigint' && String(response.big) === world.big
      ? 'yes'
      : `no: ${typeof response.big}`;
  },

  'User-Agent': async ({ sdk, world, options }) => {
    const named = await echo(sdk, world, options);
    const own = await echo(sdk, world, { ...options, headers: { 'User-Agent': 'till/2' } });
    if (named.userAgent.startsWith('Mozilla/'))
      return own.userAgent === 'till/2' ? 'own' : "browser's";
    must(named.userAgent === `payments-platform-sdk/${sdk.version}`, named.userAgent);
    must(own.userAgent === 'till/2', `overridden: ${own.userAgent}`);
  },

  sandbox: async ({ sdk, Sandbox }) => {
    const sandbox = new Sandbox();
    const payments = new sdk.PaymentsClient(sandbox.clientOptions);
    const entity = await payments.entities.create({ email: 'ada@example.com' });
    const list = await payments.instructions.list({ address: `0x${'1'.repeat(40)}` });
    must(entity.id.startsWith('ent_') && list.length === 0, entity.id);
    const missing = await caught(payments.accounts.get('acc_nowhere'));
    must(missing instanceof sdk.NotFoundError, missing.name);
  },

  'missing options': ({ sdk }) => {
    try {
      void new sdk.PaymentsClient();
    } catch (error) {
      must(error instanceof sdk.ConfigurationError, `${error.name}: ${error.message}`);
      must(/PAYMENTS_BASE_URL/.test(error.message), error.message);
      return;
    }
    throw new Error('it was made');
  },
};

/** The names of the features, in the order of the story. */
export const featureNames = Object.keys(features);

/** Whether a write was refused because a browser would send it, with everything one has to know. */
function isRefused(sdk, error) {
  if (!(error instanceof sdk.ConfigurationError)) return false;
  must(error.outcome === 'not_sent' && error.attempts.length === 0, error.outcome);
  must(
    /from a browser/.test(error.message) && /a fetch of your own/.test(error.message),
    error.message,
  );
  return true;
}

const payment = ({ sourceAccountId, destinationAccountId }, description) => ({
  sourceAccountId,
  destinationAccountId,
  amount: '1.00',
  description,
});

const echo = (sdk, world, options) =>
  new sdk.PaymentsClient({ ...options, baseUrl: world.echoUrl }).request({
    method: 'GET',
    path: '/echo',
    api: 'versioned',
  });
