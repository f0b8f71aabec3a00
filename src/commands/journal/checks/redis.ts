import { keyPrefix, redisJournal, storeKey } from '../../../journals/redis.ts';
import { checkClock, EntryChecks, findingOf, versionFinding, type Finding } from './findings.ts';
import type { StoreAddress } from '../flags.ts';
import { connectRedis, readEntries, type RedisConnection } from '../connect.ts';

/** Checks a journal in Redis, and in a cluster the settings of the node that the URL names. */
export async function* checkRedis(store: StoreAddress): AsyncGenerator<Finding, void> {
  const { connection, server, close } = await connectRedis(store);
  const command = (...args: [string, ...string[]]) => connection.call(...args);
  const journal = redisJournal(command);
  try {
    const isPrimary = !(await readInfo(server, 'replication')).includes('role:slave');
    yield findingOf(
      'primary',
      isPrimary,
      'this server is a replica, which lags behind and accepts no claim. Give your service and this command the address of the primary.',
    );
    yield* checkSettings(server);
    const now = await journal.now('');
    yield checkClock(now);
    const stored = await readEntries(command);
    const isOld = stored.size > 0 && (await command('EXISTS', storeKey)) === 0;
    yield versionFinding(isOld, store);
    if (stored.size === 0) yield await checkDatabases(server);
    // Reading the index of an old store, or of a replica, would write.
    if (isOld || !isPrimary) return;
    const open = new Set<string>();
    for await (const { reference } of journal.open()) open.add(reference);
    const checks = new EntryChecks();
    for (const [reference, entry] of stored) {
      // A payment that has changed since its entry was read may have left the index.
      const isOpen =
        open.has(reference) || (await command('GET', `${keyPrefix}${reference}`)) !== entry;
      checks.add({ reference, stored: entry, isOpen }, now);
    }
    yield* checks.findings(store);
  } finally {
    close();
  }
}

const readInfo = async (server: RedisConnection, section: string): Promise<string> =>
  String(await server.call('INFO', section));

async function* checkSettings(server: RedisConnection): AsyncGenerator<Finding, void> {
  yield await checkEviction(server);
  yield findingOf(
    'append-only file',
    (await readInfo(server, 'persistence')).includes('aof_enabled:1'),
    'appendonly is off, so a restart loses the latest claims. Run: CONFIG SET appendonly yes, and set it in the configuration file, too.',
  );
  const [, fsync] = await Promise.resolve(server.call('CONFIG', 'GET', 'appendfsync')).then(
    (reply) => reply as [unknown, unknown],
    () => [undefined, undefined],
  );
  if (fsync === undefined) {
    yield {
      name: 'appendfsync',
      unknown: 'CONFIG GET is not permitted here. It has to be always.',
    };
  } else {
    yield findingOf(
      'appendfsync',
      fsync === 'always',
      `it is ${JSON.stringify(fsync)}, so a crash loses the claims of the last second. Run: CONFIG SET appendfsync always, and set it in the configuration file, too.`,
    );
  }
}

/** Checks the eviction policy, because Redis may remove entries when its memory is full. */
export async function checkEviction(server: RedisConnection): Promise<Finding> {
  const memory = await readInfo(server, 'memory');
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(memory) ?? [];
  return findingOf(
    'maxmemory-policy',
    policy === 'noeviction',
    `it is ${policy}, so Redis may remove an entry of the journal, and its payment is then made again. Run: CONFIG SET maxmemory-policy noeviction, and set it in the configuration file, too.`,
  );
}

/** Checks whether an empty database is perhaps the wrong database of the server. */
async function checkDatabases(server: RedisConnection): Promise<Finding> {
  const keyspace = await readInfo(server, 'keyspace');
  const used = Number(server.options['db'] ?? 0);
  const found: string[] = [];
  for (const [, db = ''] of keyspace.matchAll(/^db(\d+):/gm)) {
    await server.call('SELECT', db);
    if ((await server.call('EXISTS', storeKey)) === 1) found.push(db);
  }
  await server.call('SELECT', String(used));
  return findingOf(
    `database ${used}`,
    found.length === 0,
    `it has no entry, but database ${found.join(', ')} has a journal. Check the number at the end of the URL.`,
  );
}
