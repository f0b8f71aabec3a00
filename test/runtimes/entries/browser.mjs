// A page that fetches its platform from its server and sends the results back. As a worker it only
// tries to write.
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

async function runInPage() {
  const { world, finish, sdk } = await load();
  const { Sandbox } = await import('payments-platform-sdk/sandbox');
  const sideEffects = finish();
  const results = await story({ sdk, Sandbox, world, sideEffects });
  return { ...results, inWorker: await runWorker(), despite: await countRepeats(sdk, world) };
}

/** Runs this file as a worker, and returns its result. */
const runWorker = () =>
  new Promise((resolve) => {
    const worker = new Worker('/bundle.js', { type: 'module' });
    worker.addEventListener('message', ({ data }) => resolve(data));
    worker.addEventListener('error', ({ message }) => resolve(`it failed: ${message}`));
  });

async function runInWorker() {
  const { world, sdk } = await load();
  const payments = new sdk.PaymentsClient(world.clientOptions);
  const error = await payments.transfers.create(transfer(world, 'from a worker')).catch((e) => e);
  return error instanceof sdk.ConfigurationError ? 'rejected' : `${error.name}: ${error.message}`;
}

/** How often a POST takes effect when its reused connection is reset, with a fetch that drops `init`. */
async function countRepeats(sdk, world) {
  const clientOptions = { ...world.clientOptions, fetch: (request) => fetch(request) };
  const payments = new sdk.PaymentsClient(clientOptions);
  await payments.accounts.list();
  await payments.transfers.create(transfer(world, 'in spite of it')).catch(() => undefined);
  let effects = 0;
  for await (const { description } of payments.transfers.list()) {
    if (description === 'in spite of it') effects += 1;
  }
  return effects;
}

const sendResults = (results) =>
  fetch('/results', { method: 'POST', body: JSON.stringify(results) });
const describeError = (error) => `${error?.name}: ${error?.message}`;

if (typeof document === 'undefined')
  void runInWorker().then(postMessage, (e) => postMessage(describeError(e)));
else void runInPage().then(sendResults, (error) => sendResults({ page: describeError(error) }));
