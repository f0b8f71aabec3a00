import type * as Timers from 'node:timers/promises';
import { builtinModule } from '../../internal/runtime.ts';

const { MessageChannel, setTimeout } = globalThis as Partial<typeof globalThis>;

/** Waits for the next turn of the event loop. */
export function waitTurn(): Promise<void> {
  // Fake timers replace every other function that waits for a turn. The module is loaded here and
  // not by an import, because Deno adds a global when it loads the module.
  const timers = builtinModule('node:timers/promises') as typeof Timers | undefined;
  if (timers !== undefined) return timers.scheduler.yield();
  return new Promise((resolve) => {
    if (MessageChannel === undefined) {
      setTimeout?.(resolve, 0);
      return;
    }
    // A browser delays nested timers by 4 ms, but not messages.
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

/** How many responses have taken a turn. */
export const countResponseTurns = (): number => responses;

/**
 * Lets timers, signals and I/O happen before a response. With fake timers a response takes no turn,
 * because a test advances them while it waits, and the client would report a timeout.
 */
export async function takeResponseTurn(): Promise<void> {
  if (hasFakeTimers()) return;
  responses += 1;
  await waitTurn();
}

/** Fake timers of Vitest, Jest, Sinon and Bun add the property `clock` to `setTimeout`. */
const hasFakeTimers = (): boolean => Object.hasOwn(globalThis.setTimeout, 'clock');
