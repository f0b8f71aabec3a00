import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';

/* PostgreSQL and Redis as Debian packages them, started by the tests in folders of their own and ended by them. */

const versions = '/usr/lib/postgresql';
const postgresFolder = existsSync(versions)
  ? readdirSync(versions)
      .map((version) => join(versions, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;

/** What has to be installed first, by the names of Debian's packages. */
export const missing = [
  ...(postgresFolder === undefined ? ['postgresql'] : []),
  ...(existsSync('/usr/bin/redis-server') ? [] : ['redis-server']),
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

export async function startRedis(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-redis-'));
  const port = await freePort();
  const flags = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
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

/** Listens on loopback for the user `postgres`, without a password. */
export async function startPostgres(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-postgres-'));
  const data = join(folder, 'data');
  const port = await freePort();
  const bin = (name: string): string => join(postgresFolder ?? '', name);
  // PostgreSQL does not start for root.
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? ['runuser', '-u', 'postgres', '--'] : [];
  if (isRoot) execFileSync('chown', ['postgres', folder]);
  const [first, ...rest]: string[] = [
    ...as,
    bin('initdb'),
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
  ];
  execFileSync(first ?? '', rest, { stdio: 'ignore', cwd: '/' });
  const [program = '', ...args] = [
    ...as,
    bin('postgres'),
    ...['-D', data, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'],
  ];
  const child = spawn(program, args, { stdio: 'ignore', cwd: '/' });
  await eventually(() => runs(bin('pg_isready'), '-h', '127.0.0.1', '-p', String(port)));
  return {
    port,
    close: async () => {
      runs(
        program,
        ...(isRoot ? rest.slice(0, 3) : []),
        bin('pg_ctl'),
        '-D',
        data,
        '-m',
        'immediate',
        'stop',
      );
      child.kill('SIGTERM');
      await ended(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
