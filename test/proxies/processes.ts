import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';

/* nginx and haproxy with a configuration of the test on a free port; the test ends them. */

export interface Proxy {
  readonly port: number;
  readonly baseUrl: string;
  /** Starts a new process; the old one ends after its requests. */
  reload(): Promise<void>;
  close(): void;
}

/** The programs that are missing on this machine. */
export const missing = ['nginx', 'haproxy'].filter((name) => {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { env: environment(), stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
});

/** Debian installs servers outside of the PATH of users. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`nobody listens at port ${port}`);
}

const baseUrlAt = (port: number): string => `http://127.0.0.1:${port}/v0`;

/**
 * nginx in front of a port; `http` and `location` are lines of those blocks. Its root has
 * `down.html`.
 */
export async function startNginx(
  upstream: number,
  { http = '', location = '', server = '' }: { http?: string; server?: string; location?: string },
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-nginx-'));
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(join(folder, 'down.html'), '<h1>Down for maintenance</h1>');
  writeFileSync(
    file,
    `daemon off; worker_processes 2; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off; root ${folder}; client_body_temp_path ${folder}; proxy_temp_path ${folder};
  fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  upstream platform { server 127.0.0.1:${upstream}; keepalive 16; }
  ${http}
  server {
    listen 127.0.0.1:${port};
    ${server}
    location / { proxy_pass http://platform; proxy_http_version 1.1; proxy_set_header connection ""; ${location} }
  }
}
`,
  );
  const child = spawn('nginx', ['-c', file, '-p', folder], { env: environment(), stdio: 'ignore' });
  await listening(port);
  return {
    port,
    baseUrl: baseUrlAt(port),
    reload: async () => {
      child.kill('SIGHUP');
      await new Promise((resolve) => setTimeout(resolve, 50));
    },
    close: () => {
      child.kill('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** haproxy in front of a port; `frontend` and `backend` are lines of those sections. */
export async function startHaproxy(
  upstream: number,
  { frontend = '', backend = '' }: { frontend?: string; backend?: string },
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-haproxy-'));
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  stats socket ${folder}/admin.sock mode 600 level admin expose-fd listeners
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 1s
  timeout http-keep-alive 30s
frontend in
  bind 127.0.0.1:${port}
  ${frontend}
  default_backend out
backend out
  ${backend}
  server platform 127.0.0.1:${upstream}
`,
  );
  const children = new Set<ChildProcess>();
  let latest: ChildProcess | undefined;
  const start = (...more: string[]): void => {
    const child = spawn('haproxy', ['-f', file, '-db', ...more], {
      env: environment(),
      stdio: 'ignore',
    });
    children.add(child);
    child.on('exit', () => children.delete(child));
    latest = child;
  };
  start();
  await listening(port);
  return {
    port,
    baseUrl: baseUrlAt(port),
    reload: async () => {
      start('-sf', String(latest?.pid), '-x', `${folder}/admin.sock`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
    close: () => {
      for (const child of children) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
