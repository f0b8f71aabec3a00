import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';

/*
 * PostgreSQL and Redis from Debian packages; the tests start them in temporary folders and end
 * them.
 */

const versions = '/usr/lib/postgresql';
const postgresFolder = existsSync(versions)
  ? readdirSync(versions)
      .map((version) => join(versions, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;

/** The required Debian packages. */
export const missing = [
  ...(postgresFolder === undefined ? ['postgresql'] : []),
  ...(existsSync('/usr/bin/redis-server') ? [] : ['redis-server']),
  ...(existsSync('/usr/share/i18n/locales/iso14651_t1') ? [] : ['locales']),
];

async function eventually(works: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (works()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('a server of the tests did not start');
}

const runs = (program: string, ...args: string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

export interface Server {
  readonly port: number;
  close(): Promise<void>;
}

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));

/** Starts Redis on loopback with the settings that a journal needs. */
export async function startRedis(...settings: readonly string[]): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-redis-'));
  const port = await freePort();
  const flags = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', ...settings];
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...flags],
    { stdio: 'ignore' },
  );
  await eventually(() => runs('redis-cli', '-p', String(port), 'PING'));
  return {
    port,
    close: async () => {
      child.kill('SIGTERM');
      await ended(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a Redis Cluster of three primaries. */
export async function startRedisCluster(): Promise<readonly Server[]> {
  const start = async () =>
    startRedis('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()));
  const nodes = await Promise.all([start(), start(), start()]);
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'], {
    stdio: 'ignore',
  });
  // A node rejects commands until it knows that all others have their slots.
  const isReady = ({ port }: Server) =>
    execFileSync('redis-cli', ['-p', String(port), 'CLUSTER', 'INFO'])
      .toString()
      .includes('cluster_state:ok');
  await eventually(() => nodes.every(isReady));
  return nodes;
}

// PostgreSQL does not start as root.
const isRoot = process.getuid?.() === 0;

interface PostgresServer extends Server {
  /** Stops the server in an orderly way, and starts it again on the same port and data. */
  restart(): Promise<void>;
}

/**
 * Starts PostgreSQL on loopback for the user `postgres`, without a password; with a primary, as its
 * streaming standby. Closing it is a crash: the server writes nothing before it ends.
 */
export async function startPostgres(
  primary?: Server,
  variables: NodeJS.ProcessEnv = {},
): Promise<PostgresServer> {
  const env = { ...process.env, ...variables };
  const folder = mkdtempSync(join(tmpdir(), 'payments-postgres-'));
  const data = join(folder, 'data');
  const port = await freePort();
  if (isRoot) execFileSync('chown', ['postgres', folder]);
  const commandOf = (name: string, ...args: readonly string[]): [string, string[]] => {
    const path = join(postgresFolder ?? '', name);
    return isRoot ? ['runuser', ['-u', 'postgres', '--', path, ...args]] : [path, [...args]];
  };
  const run = (...command: Parameters<typeof commandOf>) => {
    execFileSync(...commandOf(...command), { stdio: 'ignore', cwd: '/', env });
  };
  if (primary === undefined) {
    run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust');
  } else {
    const source = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
    run('pg_basebackup', ...source, '-D', data, '-c', 'fast', '--write-recovery-conf');
  }
  const settings = ['-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'];
  const start = async (): Promise<ChildProcess> => {
    const command = commandOf('postgres', '-D', data, ...settings);
    const started = spawn(...command, { stdio: 'ignore', cwd: '/', env });
    await eventually(() =>
      runs(join(postgresFolder ?? '', 'pg_isready'), '-h', '127.0.0.1', '-p', String(port)),
    );
    return started;
  };
  let child = await start();
  const stop = async (mode: 'fast' | 'immediate'): Promise<void> => {
    if (child.exitCode === null) run('pg_ctl', '-D', data, '-m', mode, 'stop');
    await ended(child);
  };
  return {
    port,
    restart: async () => {
      await stop('fast');
      child = await start();
    },
    close: async () => {
      await stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
