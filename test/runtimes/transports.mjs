// test/transports/behaviour.ts with the installed package in the place of the source; its path is the
// argument.
import { behavioursOf, runBehaviour } from '../transports/behaviour.ts';
import { availableTransports } from '../transports/client-transports.ts';

const sdk = await import(process.argv[2] ?? '');

/** What fails within this time, fails for a reason. */
const within = (ms, promise) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });

let wrong = 0;
for (const way of availableTransports()) {
  const putBack = way.install();
  const behaviours = behavioursOf(way);
  const waiting = [...behaviours];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await within(15_000, runBehaviour(sdk, way, next));
      } catch (error) {
        wrong += 1;
        console.log(`WRONG ${way.name}: ${next.name}: ${error.message}`);
      }
    }
  };
  // Some of them only wait.
  await Promise.all(Array.from({ length: 5 }, work));
  putBack();
  console.log(`tried ${behaviours.length} on ${way.name}`);
}
process.exit(wrong === 0 ? 0 : 1);
