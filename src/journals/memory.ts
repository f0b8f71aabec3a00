import { entryOf, textOf, type Journal } from './journal.ts';

/**
 * A journal in the memory of this process, for tests. It ends with the process, so a real payment
 * needs another one.
 *
 * @example
 * ```ts
 * import { memoryJournal } from 'payments-platform-sdk/journals';
 *
 * const client = payments.withOptions({ journal: memoryJournal() });
 * console.log(client.toJSON().baseUrl);
 * ```
 */
export function memoryJournal({ now = Date.now }: { now?: () => number } = {}): Journal {
  const texts = new Map<string, string>();
  return {
    read: (reference) => {
      const text = texts.get(reference);
      return Promise.resolve(text === undefined ? undefined : entryOf(text));
    },
    swap: (reference, before, after) => {
      if ((texts.get(reference) ?? '') !== textOf(before)) return Promise.resolve(false);
      if (after === undefined) texts.delete(reference);
      else texts.set(reference, textOf(after));
      return Promise.resolve(true);
    },
    now: () => Promise.resolve(now()),
  };
}
