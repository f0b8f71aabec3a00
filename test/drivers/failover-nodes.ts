import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { postgresJournalTable, type JournalEntry } from '../../src/journals/index.ts';
import { keyPrefix } from '../../src/journals/redis.ts';
import { startPostgres, startRedis, type Server } from '../stores/servers.ts';

/* A primary of a store and its asynchronous standby, which failover.ts promotes. */

/** One server of a store, as an administrator sees it. */
export interface Node extends Server {
  /** Stops replication from the primary, whose later writes this standby then lacks. */
  stopReplication(): Promise<void>;
  promote(): Promise<void>;
  /** Reads the entries whose references begin with a text. */
  readEntries(prefix: string): Promise<Map<string, JournalEntry>>;
}

export type ReplicatedStore = 'redis' | 'postgres';

/** Starts a primary, or a standby that has everything its primary has. */
export const startNode = (store: ReplicatedStore, primary?: Node): Promise<Node> =>
  store === 'redis' ? startRedisNode(primary) : startPostgresNode(primary);

export const urlOf = (store: ReplicatedStore, port: number): string =>
  store === 'redis'
    ? `redis://127.0.0.1:${port}`
    : `postgres://postgres@127.0.0.1:${port}/postgres`;

/** A port on which no server listens. */
const nowhere = '1';

async function eventually(works: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await works()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('a standby did not follow its primary');
}

async function startRedisNode(primary: Node | undefined): Promise<Node> {
  const source = primary && ['--replicaof', '127.0.0.1', String(primary.port)];
  const server = await startRedis('--repl-diskless-sync-delay', '0', ...(source ?? []));
  const redis = new Redis(urlOf('redis', server.port));
  redis.on('error', () => undefined);
  if (primary !== undefined) {
    await eventually(async () => (await redis.info('replication')).includes('link_status:up'));
  }
  return {
    port: server.port,
    close: async () => {
      redis.disconnect();
      await server.close();
    },
    stopReplication: async () => {
      await redis.replicaof('127.0.0.1', nowhere);
    },
    promote: async () => {
      await redis.replicaof('NO', 'ONE');
    },
    readEntries: async (prefix) => {
      const keys = await redis.keys(`${keyPrefix}${prefix}*`);
      const values = keys.length === 0 ? [] : await redis.mget(keys);
      return new Map(
        keys.map((key, at) => [key.slice(keyPrefix.length), parseEntry(values[at] ?? '')]),
      );
    },
  };
}

const parseEntry = (text: string): JournalEntry => JSON.parse(text) as JournalEntry;

async function startPostgresNode(primary: Node | undefined): Promise<Node> {
  const server = await startPostgres(primary);
  const pool = new Pool({ connectionString: urlOf('postgres', server.port), max: 1 });
  pool.on('error', () => undefined);
  const isReceiving = async (): Promise<boolean> => {
    const { rowCount } = await pool.query('SELECT 1 FROM pg_stat_wal_receiver WHERE status = $1', [
      'streaming',
    ]);
    return rowCount === 1;
  };
  if (primary === undefined) await pool.query(postgresJournalTable);
  else await eventually(isReceiving);
  return {
    port: server.port,
    close: async () => {
      await pool.end();
      await server.close();
    },
    stopReplication: async () => {
      await pool.query(`ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=${nowhere}'`);
      await pool.query('SELECT pg_reload_conf()');
      await eventually(async () => !(await isReceiving()));
    },
    promote: async () => {
      await pool.query('SELECT pg_promote()');
    },
    readEntries: async (prefix) => {
      const { rows } = await pool.query<{ reference: string; entry: string }>(
        'SELECT reference, entry FROM payments_journal WHERE starts_with(reference, $1)',
        [prefix],
      );
      return new Map(rows.map(({ reference, entry }) => [reference, parseEntry(entry)]));
    },
  };
}
