import { Agent, request } from 'node:http';
import { input, idOf, perPage } from '../data.mjs';

export const title = 'bare http.request';
export const packages = [];
/** There is nothing to import, because node:http is part of Node. */
export const load = undefined;

export function open(_, origin) {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true });
  const common = { accept: 'application/json', authorization: 'Bearer sk_bench' };
  const read = (path, method = 'GET', body) =>
    new Promise((resolve, reject) => {
      const headers =
        body === undefined
          ? common
          : {
              ...common,
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
            };
      const outgoing = request({ hostname, port, path, method, headers, agent });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const chunks = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          if (incoming.statusCode === 200) resolve(JSON.parse(Buffer.concat(chunks)));
          else reject(new Error(`status ${incoming.statusCode}`));
        });
      });
      outgoing.end(body);
    });
  return {
    getOne: () => read(`/v0/transfers/${idOf(7)}`),
    post: () => read('/v0/transfers', 'POST', JSON.stringify(input)),
    async *listAll(limit = perPage) {
      let cursor = '';
      for (;;) {
        const page = await read(`/v0/transfers?limit=${limit}${cursor}`);
        yield* page.data;
        if (!page.hasMore) return;
        cursor = `&cursor=${page.nextCursor}`;
      }
    },
  };
}
