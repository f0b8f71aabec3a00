// A page in a headless Chromium. Its server forwards calls to the platform, which sets no CORS headers.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request as ask } from 'node:http';
import { join, normalize } from 'node:path';
import { chromium } from './setup.mjs';

const api = /^\/(?:v0\/|instructions?\/|transactions)/;

/** Forwards a request, and breaks the connection if the platform does. */
function forward(incoming, outgoing, base, path) {
  const { host: _, ...headers } = incoming.headers;
  const upstream = ask(
    base + path,
    { method: incoming.method, headers, agent: false },
    (response) => {
      outgoing.writeHead(response.statusCode, response.headers);
      outgoing.flushHeaders();
      response.pipe(outgoing);
      response.on('error', () => outgoing.destroy());
    },
  );
  upstream.on('error', () => outgoing.socket?.resetAndDestroy());
  outgoing.on('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

const types = { js: 'text/javascript', html: 'text/html; charset=utf-8' };
const html =
  '<!doctype html><meta charset="utf-8"><title>story</title><script type="module" src="/bundle.js"></script>';

/** Opens the bundle in `folder` as a page, and returns the results of the page. */
export async function runInBrowser(folder, platform) {
  const binary = await chromium();
  const world = await platform.open();
  const received = Promise.withResolvers();
  const serve = async (request, response) => {
    const path = request.url ?? '/';
    const [name] = path.split('?');
    if (path.startsWith('/beside/')) forward(request, response, world.echoUrl, path.slice(10));
    else if (api.test(path)) forward(request, response, world.clientOptions.rootUrl, path);
    else if (path === '/results') {
      received.resolve(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      response.end();
    } else if (path === '/world') {
      const origin = `http://127.0.0.1:${server.address().port}`;
      const clientOptions = { ...world.clientOptions, rootUrl: origin, baseUrl: `${origin}/v0` };
      const echoUrl = `${origin}/beside/v0`;
      response.end(JSON.stringify({ ...world, clientOptions: clientOptions, echoUrl }));
    } else if (path === '/') response.setHeader('content-type', types.html).end(html);
    else {
      try {
        const file = await readFile(join(folder, normalize(name)));
        response.setHeader('content-type', types.js).end(file);
      } catch {
        response.writeHead(404).end();
      }
    }
  };
  const server = createServer((request, response) => {
    void serve(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const page = `http://127.0.0.1:${server.address().port}/`;
  const profile = join(folder, 'profile');
  const child = execFile(binary, [
    '--headless=new',
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
    `--user-data-dir=${profile}`,
    page,
  ]);
  const tooLate = setTimeout(
    () => received.resolve({ import: 'the page sent no results' }),
    60_000,
  );
  child.on('error', (error) => received.resolve({ import: String(error) }));
  try {
    return await received.promise;
  } finally {
    clearTimeout(tooLate);
    const gone = child.exitCode === null ? once(child, 'exit') : undefined;
    child.kill();
    await gone;
    server.close();
    server.closeAllConnections();
  }
}
