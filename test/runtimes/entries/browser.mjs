// A page: it asks its own server for the world and hands the results back. Loaded as a worker, it
// only tries to write.
import { watch } from '../side-effects.mjs';
import { story } from '../story.mjs';

const load = async () => ({
  world: await (await fetch('/world')).json(),
  finish: watch(),
  sdk: await import('payments-platform-sdk'),
});

const transfer = ({ sourceAccountId, destinationAccountId }, description) => ({
  sourceAccountId,
  destinationAccountId,
  amount: '1.00',
  description,
});

async function inPage() {
  const { world, finish, sdk } = await load();
  const { Sandbox } = await import('payments-platform-sdk/sandbox');
  const sideEffects = finish();
  const results = await story({ sdk, Sandbox, world, sideEffects });
  return { ...results, inWorker: await told(), despite: await despite(sdk, world) };
}

/** What a worker of this page has to say. */
const told = () =>
  new Promise((resolve) => {
    const worker = new Worker('/bundle.js', { type: 'module' });
    worker.addEventListener('message', ({ data }) => resolve(data));
    worker.addEventListener('error', ({ message }) => resolve(`it failed: ${message}`));
  });

async function inWorker() {
  const { world, sdk } = await load();
  const payments = new sdk.PaymentsClient(world.clientOptions);
  const error = await payments.transfers.create(transfer(world, 'from a worker')).catch((e) => e);
  return error instanceof sdk.ConfigurationError ? 'rejected' : `${error.name}: ${error.message}`;
}

/** How often a POST takes effect whose reused connection is reset, with the browser's fetch as one's own. */
async function despite(sdk, world) {
  const own = { ...world.clientOptions, fetch: (request, init) => fetch(request, init) };
  const payments = new sdk.PaymentsClient(own);
  await payments.accounts.list();
  await payments.transfers.create(transfer(world, 'in spite of it')).catch(() => undefined);
  let effects = 0;
  for await (const { description } of payments.transfers.list()) {
    if (description === 'in spite of it') effects += 1;
  }
  return effects;
}

const hand = (results) => fetch('/results', { method: 'POST', body: JSON.stringify(results) });
const words = (error) => `${error?.name}: ${error?.message}`;

if (typeof document === 'undefined')
  void inWorker().then(postMessage, (e) => postMessage(words(e)));
else void inPage().then(hand, (error) => hand({ page: words(error) }));
