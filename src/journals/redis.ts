import { entryOf, textOf, type Journal } from './journal.ts';

/** Sends one command to Redis, such as `('GET', 'key')`; resolves to its reply. */
export type RedisCommand = (...args: [string, ...string[]]) => PromiseLike<unknown>;

const swap = `local entry = redis.call('GET', KEYS[1]) or ''
if entry ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`;

/**
 * A journal in Redis or Valkey, under keys that begin with `payments:journal:`. It has to run with
 * `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction`, or a crash loses claims.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { redisJournal, type RedisCommand } from 'payments-platform-sdk/journals';
 *
 * // ioredis: (name, ...args) => redis.call(name, ...args); node-redis: (...args) => client.sendCommand(args)
 * const command: RedisCommand = async () => null;
 * const payments = new PaymentsClient({ journal: redisJournal(command) });
 * console.log(payments.toJSON().baseUrl);
 * ```
 */
export function redisJournal(command: RedisCommand): Journal {
  const key = (reference: string): string => `payments:journal:${reference}`;
  return {
    // It can, by its settings, by a fail-over, or by a FLUSHALL.
    forgets: true,
    read: async (reference) => {
      const text = await command('GET', key(reference));
      if (text === null || text === undefined) return undefined;
      if (typeof text !== 'string') throw new Error('Redis gave an entry that is no text.');
      return entryOf(text);
    },
    swap: async (reference, before, after) => {
      const reply = await command('EVAL', swap, '1', key(reference), textOf(before), textOf(after));
      if (reply !== 0 && reply !== 1) throw new Error('Redis gave another reply than 0 or 1.');
      return reply === 1;
    },
    now: async () => {
      const [seconds, microseconds] = (await command('TIME')) as [unknown, unknown];
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    },
  };
}
