import { parseEntry, serializeEntry, type Journal } from './journal.ts';

/** Sends one command to Redis, such as `('GET', 'key')`; resolves to its reply. */
export type RedisCommand = (...args: [string, ...string[]]) => PromiseLike<unknown>;

const swapScript = `local entry = redis.call('GET', KEYS[1]) or ''
if entry ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`;

// A cluster sends TIME to any of its nodes, and their clocks differ: the key selects one.
const timeScript = "return redis.call('TIME')";

/**
 * A journal in Redis or Valkey, under `payments:journal:…`. It needs `appendonly yes`, `appendfsync
 * always` and `maxmemory-policy noeviction`. A claim that is lost while its request is on the way still
 * pays twice.
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
export function redisJournal(
  command: RedisCommand,
  {
    forgets = true,
  }: {
    /**
     * Whether Redis may lose an entry, by its settings, a fail-over or a FLUSHALL. `createOnce` then
     * searches before every first claim. Default: true.
     */
    forgets?: boolean | undefined;
  } = {},
): Journal {
  const keyOf = (reference: string): string => `payments:journal:${reference}`;
  return {
    forgets,
    read: async (reference) => {
      const stored = await command('GET', keyOf(reference));
      if (stored === null || stored === undefined) return undefined;
      if (typeof stored !== 'string')
        throw new Error('Redis returned an entry that is not a string.');
      return parseEntry(stored);
    },
    swap: async (reference, before, after) => {
      const reply = await command(
        'EVAL',
        swapScript,
        '1',
        keyOf(reference),
        serializeEntry(before),
        serializeEntry(after),
      );
      if (reply !== 0 && reply !== 1) throw new Error('Redis returned a reply other than 0 or 1.');
      return reply === 1;
    },
    now: async (reference) => {
      const reply = await command('EVAL', timeScript, '1', keyOf(reference));
      const [seconds, microseconds] = reply as [unknown, unknown];
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    },
  };
}
