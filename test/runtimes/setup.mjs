// The tools of this folder, the packed tarball installed as a user installs it, and the platform.
import { execFile, fork } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export const here = import.meta.dirname;
export const root = join(here, '../..');
export const modules = join(here, 'node_modules');

const execute = promisify(execFile);

/** Runs a program to its end. Returns its exit code and its output, and never throws. */
export async function run(file, args, options = {}) {
  const limits = { timeout: 600_000, maxBuffer: 64 * 2 ** 20, encoding: 'utf8' };
  try {
    const { stdout, stderr } = await execute(file, args, { ...limits, ...options });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout = '', stderr = '', killed } = error;
    const why = killed ? '\n(it did not end by itself)' : '';
    return { code: code ?? 1, stdout, stderr: `${stderr || error.message}${why}` };
  }
}

/** Like run(), but throws when the program fails. */
export async function mustRun(file, args, options) {
  const { code, stdout, stderr } = await run(file, args, options);
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} failed (${code})\n${stdout}${stderr}`);
  return stdout;
}

/** Installs the packages of the lockfile, unless they are installed. */
export async function installTools() {
  const stamp = join(modules, '.installed-lock.json');
  const lock = join(here, 'package-lock.json');
  const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === readFileSync(lock, 'utf8');
  if (isCurrent) return;
  console.log('installing the runtimes (1.5 GB)');
  await mustRun('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here, timeout: 900_000 });
  copyFileSync(lock, stamp);
}

/** Packs the current build, and builds first if the build is older than the source. */
async function packTarball(folder) {
  const built = join(root, 'dist/index.d.ts');
  const sources = [
    ...globSync('src/**/*.{ts,tsx,css}', { cwd: root }),
    'tsup.config.ts',
    'package.json',
  ].map((file) => statSync(join(root, file)).mtimeMs);
  if (!existsSync(built) || statSync(built).mtimeMs < Math.max(...sources)) {
    await mustRun('npm', ['run', '--silent', 'build'], { cwd: root });
  }
  const options = ['--silent', '--ignore-scripts', '--pack-destination', folder];
  return join(folder, (await mustRun('npm', ['pack', ...options], { cwd: root })).trim());
}

/** Installs the tarball of .ci/run, or a new one, into an empty folder. */
export async function installPackage() {
  const folder = mkdtempSync(join(tmpdir(), 'payments-runtimes-'));
  const tarball = process.env.PAYMENTS_SDK_TARBALL ?? (await packTarball(folder));
  const consumer = join(folder, 'consumer');
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{ "private": true }\n');
  await mustRun(
    'npm',
    ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', tarball],
    { cwd: consumer },
  );
  return {
    folder,
    tarball,
    consumer,
    installed: join(consumer, 'node_modules/payments-platform-sdk'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Makes packages of this folder importable in another. */
export function lend(folder, ...names) {
  for (const name of names) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(join(place, '..'), { recursive: true });
    if (!existsSync(place)) symlinkSync(join(modules, name), place);
  }
}

/** Starts the platform in another process, with the Node that runs this. */
export async function startPlatform(consumer) {
  const child = fork(join(here, 'platform.mjs'), [consumer]);
  const waiting = new Map();
  let ended;
  const whenReady = new Promise((resolve, reject) => {
    waiting.set(undefined, { resolve, reject });
  });
  child.on('message', ({ id, world, error }) => {
    const { resolve, reject } = waiting.get(id) ?? {};
    if (error === undefined) resolve?.(world);
    else reject?.(new Error(error));
  });
  child.on('exit', (code) => {
    ended = new Error(`the platform ended with ${code}`);
    for (const { reject } of waiting.values()) reject(ended);
  });
  await whenReady;
  let last = 0;
  return {
    /** Opens a new sandbox with new faults. */
    open: () =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) throw ended;
        const id = (last += 1);
        waiting.set(id, { resolve, reject });
        child.send({ id });
      }),
    stop: () => child.disconnect(),
  };
}

/** The path of a program of the distribution. Installs it if it is missing, and throws if that fails. */
async function findProgram(names, variable) {
  const [name] = names;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/sbin'];
  const places = names.flatMap((each) => folders.map((folder) => join(folder, each)));
  const find = () => [process.env[variable], ...places].find((place) => place && existsSync(place));
  if (find() === undefined && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log(`installing ${name} with apt-get`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const limits = { env, timeout: 600_000 };
    await run('apt-get', ['update', '-q'], limits);
    await run('apt-get', ['install', '-qy', '--no-install-recommends', name], limits);
  }
  const path = find();
  if (path === undefined) {
    throw new Error(
      `${name} is missing. Install the package ${name} (as root this happens automatically), or set ${variable} to its path.`,
    );
  }
  return path;
}

export const chromium = () =>
  findProgram(['chromium', 'chromium-browser'], 'PAYMENTS_SDK_CHROMIUM');

export const redisServer = () => findProgram(['redis-server'], 'PAYMENTS_SDK_REDIS');

/** The package has another name than its program. */
export const mariadbServer = () =>
  findProgram(['mariadb-server-core', 'mariadbd'], 'PAYMENTS_SDK_MARIADB');
