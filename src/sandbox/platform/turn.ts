import type * as Timers from 'node:timers/promises';
import { builtinModule } from '../../internal/runtime.ts';

const { MessageChannel, setTimeout } = globalThis as Partial<typeof globalThis>;

/** Waits for the next turn of the event loop. */
export function waitTurn(): Promise<void> {
  // Fake timers do not replace this function. Load its module here and not by an import, because
  // Deno adds a global when it loads the module.
  const timers = builtinModule('node:timers/promises') as typeof Timers | undefined;
  if (timers !== undefined) return timers.scheduler.yield();
  // Elsewhere: the globals that this module read when it was loaded, before any fake timers.
  return new Promise((resolve) => {
    if (MessageChannel === undefined) {
      setTimeout?.(resolve, 0);
      return;
    }
    // A browser delays nested timers by 4 ms but does not delay messages, so send a message.
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}

let responses = 0;

/** Returns how many responses of sandboxes have waited for a turn of the event loop. */
export const countResponseTurns = (): number => responses;

/**
 * Waits for a turn of the event loop, so that timers, signals and I/O can happen before a response.
 * Does not wait with fake timers, because the test may advance them meanwhile and the client would
 * report a timeout.
 */
export async function takeResponseTurn(): Promise<void> {
  if (hasFakeTimers()) return;
  responses += 1;
  await waitTurn();
}

/** Detects fake timers: those of Vitest, Jest, Sinon and Bun add `clock` to `setTimeout`. */
const hasFakeTimers = (): boolean => Object.hasOwn(globalThis.setTimeout, 'clock');
