// Node, Bun and Deno: reads the platform from the environment and prints the results as one line. The
// process has to end by itself.
import { watch } from '../side-effects.mjs';
import { story } from '../story.mjs';

async function main() {
  const finish = watch();
  const sdk = await import('payments-platform-sdk');
  const { Sandbox } = await import('payments-platform-sdk/sandbox');
  const sideEffects = finish();
  const world = JSON.parse(process.env['RUNTIMES_WORLD']);
  const results = await story({ sdk, Sandbox, world, sideEffects });
  console.log(`RESULTS ${JSON.stringify(results)}`);
}

void main();
