// A page: it asks its own server for the world and hands the results back.
import { watch } from '../side-effects.mjs';
import { story } from '../story.mjs';

async function main() {
  const world = await (await fetch('/world')).json();
  const finish = watch();
  const sdk = await import('payments-platform-sdk');
  const { Sandbox } = await import('payments-platform-sdk/sandbox');
  const sideEffects = finish();
  return story({ sdk, Sandbox, world, sideEffects });
}

const hand = (results) => fetch('/results', { method: 'POST', body: JSON.stringify(results) });

main().then(hand, (error) => hand({ page: `${error?.name}: ${error?.message}` }));
