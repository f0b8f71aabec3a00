// The HTTP of Neon and of Upstash, in front of a real PostgreSQL and a real Redis.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import pg from 'pg';

/** The token that the stub of Upstash expects. */
export const upstashToken = 'token-1';

/** Serves POST on loopback. `respond` returns the body of a success, and throws for status 400. */
async function serve(respond, describeError) {
  const handle = async (request, response) => {
    const send = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    try {
      send(200, await respond(await json(request), request.headers));
    } catch (error) {
      send(400, describeError(error));
    }
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, server };
}

const close = async ({ server }) => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
};

/** Neon sends values as PostgreSQL writes them, and its driver parses them. */
export async function startNeon(port) {
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres' });
  const types = { getTypeParser: () => (value) => value };
  const respond = async ({ query, params }, headers) => {
    if (headers['neon-raw-text-output'] !== 'true' || headers['neon-array-mode'] !== 'true') {
      throw new Error('the driver asks for another format than this stub has');
    }
    // Neon rejects several statements in one query, as the extended protocol does.
    const options = { text: query, values: params, types, rowMode: 'array', queryMode: 'extended' };
    const { command, rowCount, rows, fields } = await pool.query(options);
    return { command, rowCount, rows, fields, rowAsArray: true };
  };
  const stub = await serve(respond, ({ message, code }) => ({ message, code }));
  return {
    url: stub.url,
    close: async () => {
      await close(stub);
      await pool.end();
    },
  };
}

/** Upstash takes a command as a JSON array, and responds with its `result` or an `error`. */
export async function startUpstash(port) {
  const redis = new Redis({ port });
  const respond = async (command, headers) => {
    if (headers.authorization !== `Bearer ${upstashToken}`) throw new Error('Unauthorized');
    return { result: await redis.call(...command) };
  };
  const stub = await serve(respond, ({ message }) => ({ error: message }));
  return {
    url: stub.url,
    close: async () => {
      await close(stub);
      redis.disconnect();
    },
  };
}
