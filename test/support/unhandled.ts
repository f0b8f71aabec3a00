import { afterEach, beforeEach, expect } from 'vitest';
import { settle } from './virtual-clock.ts';

/** Fails each test of the file that calls it in which a rejection was left without a reader. */
export function forbidUnhandledRejections(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => {
    unhandled.push(reason);
  };
  beforeEach(() => {
    unhandled.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    await settle();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
}
