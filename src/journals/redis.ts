import {
  isOpen,
  isUndecided,
  LastingJournalError,
  pageSize,
  parseEntry,
  readPaidBefore,
  serializeEntry,
  storedTextOf,
  type FullJournal,
  type SearchFirst,
  type JournalEntry,
  type OpenPayment,
} from './journal.ts';

/** Sends one command to Redis, such as `('GET', 'key')`, and resolves to the reply. */
export type RedisCommand = (...args: [name: string, ...args: string[]]) => PromiseLike<unknown>;

const keyPrefix = 'payments:journal:';
/** Key of the sorted set of open payments' references. The member '' marks the set as complete. */
const indexKey = 'payments:journal-open';

/*
 * Swaps a payment's entry, and keeps the index of open payments up to date. A claim never depends
 * on that index. In a cluster the index may be on another node, and then `pcall` continues after
 * the error. A client may add a prefix to keys, so the script derives the name of the index from
 * the key that the server gets.
 */
const swapScript = `local entry = redis.call('GET', KEYS[1]) or ''
if entry ~= ARGV[1] then return 0 end
local reference, after, isOpen, keepFor = ARGV[3], ARGV[2], ARGV[4], ARGV[5]
local index = string.sub(KEYS[1], 1, -#reference - 2) .. '-open'
if isOpen == '1' then
  if redis.call('DBSIZE') == 0 then redis.pcall('ZADD', index, 0, '') end
  redis.pcall('ZADD', index, 0, reference)
end
if after == '' then redis.call('DEL', KEYS[1])
elseif keepFor == '' then redis.call('SET', KEYS[1], after)
else redis.call('SET', KEYS[1], after, 'PX', keepFor) end
if isOpen == '' then redis.pcall('ZREM', index, reference) end
return 1`;

/** Creates a Lua script for one Redis node that reads a page of entries and runs `use` on each. */
const createScanScript = (
  use: string,
): string => `local base = string.gsub(KEYS[1], '%-open%d*$', '')
local pattern = string.gsub(base, '[][*?\\\\^]', '\\\\%0') .. ':*'
local page = redis.call('SCAN', ARGV[1], 'MATCH', pattern, 'COUNT', ARGV[2])
local references = {}
for _, key in ipairs(page[2]) do
  local entry = redis.pcall('GET', key)
  if type(entry) ~= 'string' then entry = nil end
  local reference = string.sub(key, #base + 2)
  ${use}
end
return {page[1], references}`;

const openScript =
  createScanScript(`local state = entry and string.match(entry, '"state" *: *"([%l_]+)"')
  if entry and state ~= 'paid' and state ~= 'not_paid' then
    references[#references + 1] = reference
  end`);

const pruneScript =
  createScanScript(`local paidAt = entry and string.match(entry, '"paidAt" *: *([0-9.]+)')
  if paidAt and tonumber(paidAt) < tonumber(ARGV[3]) and redis.call('DEL', key) == 1 then
    references[#references + 1] = reference
  end`);

// Reads the clock of the key's node, because a plain TIME may reach any node of a cluster.
const timeScript = "return redis.call('TIME')";

/**
 * A journal in Redis or Valkey, under `payments:journal:…`. Set `appendonly yes`, `appendfsync
 * always` and `maxmemory-policy noeviction`, because the payment is made twice if Redis loses a
 * claim whose request is on the way.
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
    searchFirst = 'always',
    keepPaidFor,
  }: {
    /**
     * Whether Redis may lose an entry, by its settings, a fail-over or a FLUSHALL. If so,
     * `createOnce` searches the platform's list before every first claim. Default: true.
     */
    searchFirst?: SearchFirst | undefined;
    /**
     * How many milliseconds Redis keeps a paid entry. After that, `createOnce` with the same
     * reference pays again. Default: permanently.
     */
    keepPaidFor?: number | undefined;
  } = {},
): FullJournal {
  // Without this check, a wrong `command` would show only when a payment needs the journal.
  if (typeof command !== 'function') {
    throw new Error(
      'redisJournal: command is no function; expected one that sends one command, such as (name, ...args) => redis.call(name, ...args) of ioredis, (...args) => client.sendCommand(args) of node-redis.',
    );
  }
  // Without this check, Redis would reject a wrong number only after a payment has been made.
  if (keepPaidFor !== undefined && !(Number.isSafeInteger(keepPaidFor) && keepPaidFor > 0)) {
    throw new Error(
      `redisJournal: keepPaidFor is ${keepPaidFor}; expected whole milliseconds above 0, such as 400 * 86_400_000.`,
    );
  }
  const keyOf = (reference: string): string => `${keyPrefix}${reference}`;
  const read = async (reference: string): Promise<JournalEntry | undefined> => {
    const stored = await command('GET', keyOf(reference));
    if (stored === null) return undefined;
    if (typeof stored === 'string') return parseEntry(stored);
    // Undefined does not prove that Redis has no entry, because a REST interface returns no result
    // for an error, either.
    throw new LastingJournalError(
      `redisJournal: command returned ${typeof stored} for GET; expected a string or null.\nReturn the reply of Redis unparsed, and reject on an error: docs/journals.md has the function for each client.`,
    );
  };
  /** Reads these entries, and yields those of open payments. */
  async function* readOpen(references: readonly string[]): AsyncGenerator<OpenPayment, void> {
    const entries = await Promise.all(references.map(read));
    for (const [index, reference] of references.entries()) {
      const entry = entries[index];
      if (isUndecided(entry)) yield { reference, entry };
    }
  }
  return {
    searchFirst,
    find: () => Promise.resolve(undefined),
    firstClaimAt: () => Promise.resolve(0),
    read,
    swap: async (reference, before, after) => {
      const reply = await command(
        'EVAL',
        swapScript,
        '1',
        keyOf(reference),
        storedTextOf(before),
        serializeEntry(after),
        reference,
        // An empty text means that the payment is not open, and that the entry never expires.
        isOpen(after) ? '1' : '',
        after?.state === 'paid' && keepPaidFor !== undefined ? String(keepPaidFor) : '',
      );
      if (reply !== 0 && reply !== 1) throw new Error('Redis returned a reply other than 0 or 1.');
      return reply === 1;
    },
    now: async (reference) => {
      const reply = await command('EVAL', timeScript, '1', keyOf(reference));
      const [seconds, microseconds] = reply as [unknown, unknown];
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    },
    open: async function* () {
      if (await isCluster(command)) {
        // A SCAN of Redis may return the same key twice.
        const listed = new Set<string>();
        for await (const references of scan(command, openScript)) {
          yield* readOpen(references.filter((each) => !listed.has(each) && listed.add(each)));
        }
        return;
      }
      // Without the member '', the index may lack payments.
      if (((await command('ZSCORE', indexKey, '')) ?? undefined) === undefined) {
        await buildIndex(command);
      }
      // A page starts after the reference behind the `(`, and the first page after the member ''.
      let start: string | undefined = '(';
      while (start !== undefined) {
        const page = ['ZRANGEBYLEX', indexKey, start, '+', 'LIMIT', '0', String(pageSize)] as const;
        const references = (await command(...page)) as string[];
        yield* readOpen(references);
        start = references.length < pageSize ? undefined : `(${references.at(-1)}`;
      }
    },
    prune: async (options) => {
      const paidBefore = String(readPaidBefore(options));
      let count = 0;
      for await (const references of scan(command, pruneScript, paidBefore)) {
        count += references.length;
      }
      return count;
    },
  };
}

/** Scans all entries of each Redis node, and yields the references that the script selects. */
async function* scan(
  command: RedisCommand,
  script: string,
  ...args: string[]
): AsyncGenerator<string[], void> {
  for (const nodeKey of await findNodeKeys(command)) {
    let cursor = '0';
    do {
      const page = [nodeKey, cursor, String(pageSize), ...args];
      const reply = await command('EVAL', script, '1', ...page);
      const [nextCursor, references] = reply as [unknown, string[]];
      yield references;
      cursor = String(nextCursor);
    } while (cursor !== '0');
  }
}

/** Adds every open payment to the index. Removes none, because calls may add claims meanwhile. */
async function buildIndex(command: RedisCommand): Promise<void> {
  for await (const references of scan(command, openScript)) {
    const members = references.flatMap((reference) => ['0', reference]);
    if (members.length > 0) await command('ZADD', indexKey, ...members);
  }
  await command('ZADD', indexKey, '0', '');
}

/** Rebuilds the index of open payments after entries were copied. A cluster has no such index. */
export async function rebuildRedisIndex(command: RedisCommand): Promise<void> {
  if (!(await isCluster(command))) await buildIndex(command);
}

export async function isRedisEmpty(command: RedisCommand): Promise<boolean> {
  for await (const references of scan(command, createScanScript('references[1] = reference'))) {
    if (references.length > 0) return false;
  }
  return true;
}

async function isCluster(command: RedisCommand): Promise<boolean> {
  return String(await command('INFO', 'cluster')).includes('cluster_enabled:1');
}

const nodeScript = "return redis.call('CLUSTER', 'MYID')";

/** Finds one key for each node, because in a cluster a command goes to the node of its key. */
async function findNodeKeys(command: RedisCommand): Promise<readonly string[]> {
  if (!(await isCluster(command))) return [indexKey];
  const slots = (await command('CLUSTER', 'SLOTS')) as [unknown, unknown, unknown[]][];
  const nodeCount = new Set(slots.map(([, , primary]) => String(primary))).size;
  const keys = new Map<string, string>();
  for (let index = 0; keys.size < nodeCount; index += 1) {
    const key = `${indexKey}${index}`;
    if (index === 16_384) throw new Error('redisJournal: a node of the cluster has no key.');
    keys.set(String(await command('EVAL', nodeScript, '1', key)), key);
  }
  return [...keys.values()];
}
