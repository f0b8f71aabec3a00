// What is known of each payout, kept where a killed worker cannot take it along. Here that is Redis;
// a row in your database does as well: read() is a SELECT, and swap() an INSERT … ON CONFLICT DO NOTHING
// where there was no entry, else an UPDATE or DELETE … WHERE entry = $before. Each says whether it has hit.
//
// Redis has to write to disk before it answers (appendonly yes, appendfsync always) and may not
// evict keys (maxmemory-policy noeviction). A journal that forgets pays twice.
import type { TransferId } from 'payments-platform-sdk';
import type { Redis } from 'ioredis';

/** Absent means that nobody is paying, and that nobody has paid. */
export type Entry =
  /** Somebody began at `begun` and may have paid, even if nobody is working on it any more. */
  | { readonly state: 'sending'; readonly by: string; readonly begun: number }
  | { readonly state: 'paid'; readonly transfer: TransferId }
  /** A person has to look. */
  | { readonly state: 'unclear'; readonly why: string };

export interface Journal {
  read(reference: string): Promise<Entry | undefined>;
  /** Replaces an entry; false when it is no longer the one that was read. Undefined takes it out. */
  swap(reference: string, before: Entry | undefined, after: Entry | undefined): Promise<boolean>;
  /** Milliseconds since 1970, by one clock for all workers. */
  now(): Promise<number>;
}

/** Writes ARGV[2] if the entry still is ARGV[1]; an empty text stands for no entry. */
const swapScript = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`;

const keyOf = (reference: string) => `payout:${reference}`;
const textOf = (entry: Entry | undefined) => (entry === undefined ? '' : JSON.stringify(entry));

export class RedisJournal implements Journal {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async read(reference: string): Promise<Entry | undefined> {
    const text = await this.#redis.get(keyOf(reference));
    // Only swap() writes these.
    return text === null ? undefined : (JSON.parse(text) as Entry);
  }

  async swap(
    reference: string,
    before: Entry | undefined,
    after: Entry | undefined,
  ): Promise<boolean> {
    const args = [textOf(before), textOf(after)];
    return (await this.#redis.eval(swapScript, 1, keyOf(reference), ...args)) === 1;
  }

  async now(): Promise<number> {
    const [seconds, microseconds] = await this.#redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
  }
}
