// Calls beside mock libraries, which put sockets and requests of their own in place of those of Node.
import { copyFileSync, readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { join } from 'node:path';
import { createCertificate } from '../drivers/certificate.ts';
import { binaries } from './runtimes.mjs';
import { here, lend, run } from './setup.mjs';

const libraries = ['nock13.5', 'nock14.0', 'nock15.0', 'msw2.0', 'msw2.7', 'msw2.15', 'msw3.0'];
/** Four kinds of host, each with three calls, and two refused connections. */
const checksOfEach = 14;

let made = 0;
function respond(request, response) {
  let sent = '';
  request.on('data', (chunk) => (sent += chunk));
  request.on('end', () => {
    const reply =
      request.method === 'GET'
        ? { data: [], hasMore: false, nextCursor: null }
        : {
            ...JSON.parse(sent),
            id: `txfr_${(made += 1)}`,
            currency: 'USDC',
            type: 'internal',
            status: 'pending',
            direction: 'outgoing',
            createdAt: '2026-11-24T10:00:00Z',
          };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(reply));
  });
}

const listen = (server) =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${server.address().port}`));
  });

/** Runs mocked.mjs with each library, on the packed tarball. */
export async function checkMocks(consumer) {
  lend(consumer, ...libraries);
  const script = join(consumer, 'mocked.mjs');
  copyFileSync(join(here, 'mocked.mjs'), script);
  const { key, cert } = createCertificate(consumer);
  const http = createHttp(respond);
  const https = createHttps({ key: readFileSync(key), cert: readFileSync(cert) }, respond);
  const closed = createHttp();
  const addresses = {
    http: `http://${await listen(http)}`,
    https: `https://${await listen(https)}`,
    closed: await listen(closed),
  };
  closed.close();
  // In a test run, a stub of the global fetch that gets no request is named on stderr.
  const env = { ...process.env, NODE_ENV: 'test', NODE_EXTRA_CA_CERTS: cert };
  const checks = [];
  for (const runtime of ['node22', 'node24', 'node26']) {
    for (const library of libraries) {
      const args = [script, library, JSON.stringify(addresses)];
      const { code, stdout, stderr } = await run(binaries[runtime], args, { cwd: consumer, env });
      const right = stdout.match(/^right /gm)?.length ?? 0;
      checks.push({
        name: `every call ends beside ${library.replace(/\d/, ' $&')}, ${runtime}`,
        ok: code === 0 && right === checksOfEach && !stderr.includes('fetch was replaced'),
        detail: `${stdout}${stderr}`,
      });
    }
  }
  for (const server of [http, https]) {
    server.close();
    server.closeAllConnections();
  }
  return checks;
}
