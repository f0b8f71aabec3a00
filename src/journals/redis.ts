import {
  describeStore,
  dropTerms,
  isOpen,
  isUndecided,
  LastingJournalError,
  needsMigration,
  pageSize,
  parseEntry,
  readFirstClaim,
  readPaidBefore,
  rejectOthers,
  serializeEntry,
  swapByValues,
  termsMark,
  transferOf,
  warnOfNewStore,
  type FullJournal,
  type SearchFirst,
  type JournalEntry,
  type OpenEntry,
  type OpenPayment,
} from './journal.ts';

/** Sends one command to Redis, such as `('GET', 'key')`, and resolves to the reply. */
export type RedisCommand = (...args: [name: string, ...args: string[]]) => PromiseLike<unknown>;

export const keyPrefix = 'payments:journal:';
/*
 * The journal's own keys begin like the keys of entries, so that one pattern of an ACL covers both.
 * A capital letter tells them apart, because an entry's key has none.
 */
/** Key of the sorted set of open payments. The member '' marks the set as complete. */
export const indexKey = `${keyPrefix}Open`;
/** Key of the version of the store and the time of its first claim. */
export const storeKey = `${keyPrefix}FirstClaimAt`;
export const transferKey = (name: string): string => `${keyPrefix}Transfer:${name}`;

/** The replies of `swapScript`. */
const lost = 0;
const won = 1;
const onOtherNode = 2;
const notDescribed = 3;

/*
 * Swaps an entry, and updates the index and the key of the paid transfer. Derives their names from
 * KEYS[1], because a client may add a prefix; without a reference, as in a cluster, swaps only the
 * entry.
 */
const swapScript = `local before, after, reference, isOpen, keepFor = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local base = string.sub(KEYS[1], 1, -#reference - 1)
local index, store, start = base .. 'Open', base .. 'FirstClaimAt', base .. 'Transfer:'
local transfer, oldTransfer = start .. ARGV[6], start .. ARGV[7]
local entry = redis.call('GET', KEYS[1]) or ''
if entry ~= before then return ${lost} end
if reference ~= '' then
  local found = redis.pcall('EXISTS', index, store, transfer, oldTransfer)
  if type(found) == 'table' then return ${onOtherNode} end
  if after ~= '' and redis.call('EXISTS', store) == 0 then return ${notDescribed} end
  if ARGV[6] ~= '' then
    local owner = redis.call('GET', transfer)
    if owner and owner ~= reference then
      local other = redis.call('GET', base .. owner)
      local isRead, value = pcall(cjson.decode, other or '')
      if isRead and type(value) == 'table' and value.state == 'paid' and tostring(value.platform) .. ' ' .. tostring(value.transferId) == ARGV[6] then return ${lost} end
    end
    if keepFor == '' then redis.call('SET', transfer, reference)
    else redis.call('SET', transfer, reference, 'PX', keepFor) end
  end
  if ARGV[7] ~= '' and ARGV[7] ~= ARGV[6] and redis.call('GET', oldTransfer) == reference then
    redis.call('DEL', oldTransfer)
  end
  if isOpen == '1' then redis.call('ZADD', index, 0, reference) end
end
if after == '' then redis.call('DEL', KEYS[1])
elseif keepFor == '' then redis.call('SET', KEYS[1], after)
else redis.call('SET', KEYS[1], after, 'PX', keepFor) end
if reference ~= '' and isOpen == '' then redis.call('ZREM', index, reference) end
return ${won}`;

/** Sets a key if the key still has the expected value. An empty text stands for no value. */
const replaceScript = `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[2])
else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1`;

/**
 * Creates a Lua script that reads a page of one node's entries, and runs `use` on each. For an
 * entry that is no JSON object, `value` is empty.
 */
const createScanScript = (use: string): string => `local base = string.gsub(KEYS[1], 'Open%d*$', '')
local pattern = string.gsub(base, '[][*?\\\\^]', '\\\\%0') .. '*'
local page = redis.call('SCAN', ARGV[1], 'MATCH', pattern, 'COUNT', ARGV[2])
local references = {}
for _, key in ipairs(page[2]) do
  local reference = string.sub(key, #base + 1)
  local entry = redis.pcall('GET', key)
  local isOwn = reference == 'FirstClaimAt' or string.sub(reference, 1, 9) == 'Transfer:'
  if type(entry) == 'string' and not isOwn then
    local isRead, value = pcall(cjson.decode, entry)
    if not isRead or type(value) ~= 'table' then value = {} end
    ${use}
  end
end
return {page[1], references}`;

const openScript = createScanScript(`if value.state ~= 'paid' and value.state ~= 'not_paid' then
      references[#references + 1] = reference
    end`);

const pruneScript =
  createScanScript(`local paidAt = value.state == 'paid' and tonumber(value.paidAt)
    if paidAt and paidAt < tonumber(ARGV[3]) and redis.call('DEL', key) == 1 then
      references[#references + 1] = reference
      local transfer = base .. 'Transfer:' .. tostring(value.platform) .. ' ' .. tostring(value.transferId)
      if redis.pcall('GET', transfer) == reference then redis.call('DEL', transfer) end
    end`);

const termsScript =
  createScanScript(`local paidAt = value.state == 'paid' and tonumber(value.paidAt)
    if paidAt and paidAt < tonumber(ARGV[3]) and string.find(entry, '${termsMark}', 1, true) then
      references[#references + 1] = reference
    end`);

/** Replaces the text of a key that may expire, if the key still has the expected text. */
const rewriteScript = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local ttl = redis.call('PTTL', KEYS[1])
if ttl > 0 then redis.call('SET', KEYS[1], ARGV[2], 'PX', ttl)
else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`;

const listScript = createScanScript('references[#references + 1] = reference');

// Reads the clock of the key's node, because a plain TIME may reach any node of a cluster.
const timeScript = "return redis.call('TIME')";

/**
 * A journal in Redis or Valkey, under `payments:journal:…`, without `similar` for `authorize`. Set
 * `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction`, because a payment may
 * be made twice if Redis loses its claim.
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
    ...others
  }: {
    /**
     * When `createOnce` searches the platform's list before a first claim. Pass another value only
     * if no setting, fail-over or FLUSHALL can make Redis lose an entry. Default: `always`.
     */
    searchFirst?: SearchFirst | undefined;
    /**
     * How many milliseconds Redis keeps a paid entry. After that, `createOnce` with the same
     * reference pays again. Default: permanently.
     */
    keepPaidFor?: number | undefined;
  } = {},
): FullJournal {
  rejectOthers('redisJournal', others, 'searchFirst, keepPaidFor');
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
  const readText = async (key: string): Promise<string | undefined> => {
    const stored = await command('GET', key);
    if (stored === null) return undefined;
    if (typeof stored === 'string') return stored;
    // Undefined does not prove that Redis has no entry, because a REST interface returns no result
    // for an error, either.
    throw new LastingJournalError(
      `redisJournal: command returned ${typeof stored} for GET; expected a string or null.\nReturn the reply of Redis unparsed, and reject on an error: docs/journals.md has the function for each client.`,
    );
  };
  const read = async (reference: string): Promise<JournalEntry | undefined> => {
    const stored = await readText(keyOf(reference));
    return stored === undefined ? undefined : parseEntry(stored);
  };
  const firstClaimAt = async (): Promise<number | undefined> => {
    const stored = await readText(storeKey);
    return stored === undefined ? undefined : readFirstClaim(stored);
  };
  /** Describes a new store by its version and the time of its first claim. Throws for an old store with entries. */
  const describeNewStore = async (nodeKeys?: readonly string[]): Promise<void> => {
    if ((await firstClaimAt()) !== undefined) return;
    if (!(await isRedisEmpty(command, nodeKeys))) {
      // Another call may have described the store and written the entry meanwhile.
      if ((await firstClaimAt()) !== undefined) return;
      throw needsMigration('The journal in Redis');
    }
    const text = describeStore(await readTime(storeKey));
    if ((await command('SET', storeKey, text, 'NX')) === null) return;
    await command('ZADD', indexKey, '0', '');
    warnOfNewStore(`the journal in Redis under ${keyPrefix}`);
  };
  const readTime = async (key: string): Promise<number> => {
    const reply = await command('EVAL', timeScript, '1', key);
    const [seconds, microseconds] = reply as [unknown, unknown];
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  };
  /** Whether the keys of the journal are on several nodes, as the first swap shows. */
  let isSpread = false;
  const swapText = async (
    reference: string,
    stored: string,
    before: JournalEntry | undefined,
    after: JournalEntry | undefined,
  ): Promise<boolean> => {
    const keepFor = after?.state === 'paid' && keepPaidFor !== undefined ? String(keepPaidFor) : '';
    const run = async (name: string): Promise<number> => {
      const reply = await command(
        'EVAL',
        swapScript,
        '1',
        keyOf(reference),
        stored,
        serializeEntry(after),
        name,
        // An empty text stands for: not open, no expiry, no transfer.
        isOpen(after) ? '1' : '',
        keepFor,
        nameTransfer(after),
        nameTransfer(before),
      );
      if (reply === lost || reply === won || reply === onOtherNode || reply === notDescribed) {
        return reply;
      }
      throw new Error('Redis returned a reply other than 0 or 1.');
    };
    if (!isSpread) {
      let reply = await run(reference);
      if (reply === notDescribed) {
        await describeNewStore([indexKey]);
        reply = await run(reference);
      }
      if (reply !== onOtherNode) return reply === won;
      isSpread = true;
    }
    if (after !== undefined) await describeNewStore();
    // The index is written before the entry, so that no claim is missing from the index.
    if (isOpen(after)) await command('ZADD', indexKey, '0', nameClaim(reference, after));
    if (!(await takeTransfer(reference, after, keepFor))) return false;
    if ((await run('')) !== won) return false;
    // Each claim has a member of its own, so that a late removal does not hide a later claim.
    if (isOpen(before) && !isOpen(after)) {
      await command('ZREM', indexKey, nameClaim(reference, before));
    }
    return true;
  };
  /**
   * In a cluster, records that the reference has the entry's transfer. Returns false if another
   * reference has the transfer.
   */
  const takeTransfer = async (
    reference: string,
    entry: JournalEntry | undefined,
    keepFor: string,
  ): Promise<boolean> => {
    const name = nameTransfer(entry);
    if (name === '') return true;
    const key = transferKey(name);
    for (;;) {
      const owner = (await readText(key)) ?? '';
      if (owner !== '' && owner !== reference) {
        const other = await read(owner);
        // An open payment may be about to record this transfer.
        if (isOpen(other) || nameTransfer(other) === name) return false;
      }
      if ((await command('EVAL', replaceScript, '1', key, owner, reference, keepFor)) === 1) {
        return true;
      }
    }
  };
  /** Removes the terms of an entry, and resolves to whether this call has changed the entry. */
  const dropTermsOf = async (reference: string, paidBefore: number): Promise<boolean> => {
    const key = keyOf(reference);
    const stored = (await readText(key)) ?? '';
    const pruned = dropTerms(parseEntry(stored), paidBefore);
    if (pruned === undefined) return false;
    return (await command('EVAL', rewriteScript, '1', key, stored, serializeEntry(pruned))) === 1;
  };
  /** Reads the entries of these members of the index, and yields those of open payments. */
  async function* readOpen(members: readonly string[]): AsyncGenerator<OpenPayment, void> {
    const references = [...new Set(members.map(readReference))];
    const entries = await Promise.all(references.map(read));
    for (const [index, reference] of references.entries()) {
      const entry = entries[index];
      if (isUndecided(entry)) yield { reference, entry };
    }
  }
  return {
    searchFirst,
    find: async (platform, transferId) => {
      const name = `${platform} ${transferId}`;
      const reference = await readText(transferKey(name));
      // Another program, or a process that died, may have left the key of an earlier entry.
      const isPaid = reference !== undefined && nameTransfer(await read(reference)) === name;
      return isPaid ? reference : undefined;
    },
    firstClaimAt,
    read,
    swap: (reference, before, after) =>
      swapByValues(
        before,
        (stored) => swapText(reference, stored, before, after),
        () => readText(keyOf(reference)),
      ),
    now: (reference) => readTime(keyOf(reference)),
    open: async function* () {
      // Without the member '', the index may lack payments.
      if (((await command('ZSCORE', indexKey, '')) ?? undefined) === undefined) {
        await buildIndex(command);
      }
      // A page starts after the text behind the `(`, and the first page after the member ''.
      let start: string | undefined = '(';
      let last: string | undefined;
      while (start !== undefined) {
        const page = ['ZRANGEBYLEX', indexKey, start, '+', 'LIMIT', '0', String(pageSize)] as const;
        const members = (await command(...page)) as string[];
        yield* readOpen(members.filter((each) => readReference(each) !== last));
        last = readReference(members.at(-1) ?? '');
        start = members.length < pageSize ? undefined : `(${members.at(-1)}`;
      }
    },
    prune: async (options) => {
      const paidBefore = readPaidBefore(options);
      const keepsReferences = options.keepReferences === true;
      const script = keepsReferences ? termsScript : pruneScript;
      let count = 0;
      for await (const references of scan(command, script, [String(paidBefore)])) {
        const pruned = keepsReferences
          ? await Promise.all(references.map((each) => dropTermsOf(each, paidBefore)))
          : references;
        count += pruned.filter(Boolean).length;
      }
      return count;
    },
  };
}

/** Scans all entries of each Redis node, and yields the references that the script selects. */
async function* scan(
  command: RedisCommand,
  script: string,
  args: readonly string[] = [],
  nodeKeys?: readonly string[],
): AsyncGenerator<string[], void> {
  for (const nodeKey of nodeKeys ?? (await findNodeKeys(command))) {
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
export async function buildIndex(command: RedisCommand): Promise<void> {
  for await (const references of scan(command, openScript)) {
    const members = references.flatMap((reference) => ['0', reference]);
    if (members.length > 0) await command('ZADD', indexKey, ...members);
  }
  await command('ZADD', indexKey, '0', '');
}

/** Yields the references of all entries. SCAN may return a reference several times. */
export const listReferences = (command: RedisCommand, nodeKeys?: readonly string[]) =>
  scan(command, listScript, [], nodeKeys);

export async function isRedisEmpty(
  command: RedisCommand,
  nodeKeys?: readonly string[],
): Promise<boolean> {
  for await (const references of listReferences(command, nodeKeys)) {
    if (references.length > 0) return false;
  }
  return true;
}

/** Names the transfer of a paid entry as its key does. Empty if the entry names none. */
export function nameTransfer(entry: JournalEntry | undefined): string {
  const transfer = transferOf(entry);
  return transfer === undefined ? '' : `${transfer.platform} ${transfer.transferId}`;
}

/** The member of the index for a claim in a cluster. No reference contains a line feed. */
const nameClaim = (reference: string, { claimId }: OpenEntry): string => `${reference}\n${claimId}`;

const readReference = (member: string): string => member.split('\n', 1)[0] ?? '';

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
