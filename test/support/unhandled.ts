import { afterEach, beforeEach, expect } from 'vitest';
import { flushPromises } from './virtual-clock.ts';

/** Fails each test of the calling file that leaves an unhandled rejection. */
export function failOnUnhandledRejections(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => {
    unhandled.push(reason);
  };
  beforeEach(() => {
    unhandled.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    await flushPromises();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
}
