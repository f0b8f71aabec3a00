// Runs test/transports/behaviour.ts with the installed package, whose path is the argument.
import { behavioursOf, runBehaviour } from '../transports/behaviour.ts';
import { availableTransports } from '../transports/client-transports.ts';

const sdk = await import(process.argv[2] ?? '');

/** Rejects if a promise is not done in time. */
const limitTime = (ms, promise) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });

let failures = 0;
for (const way of availableTransports()) {
  const restore = way.install();
  const behaviours = behavioursOf(way);
  const waiting = [...behaviours];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await limitTime(15_000, runBehaviour(sdk, way, next));
      } catch (error) {
        failures += 1;
        console.log(`WRONG ${way.name}: ${next.name}: ${error.message}`);
      }
    }
  };
  // Five behaviours run at once, because some only wait.
  await Promise.all(Array.from({ length: 5 }, work));
  restore();
  console.log(`tried ${behaviours.length} on ${way.name}`);
}
process.exit(failures === 0 ? 0 : 1);
