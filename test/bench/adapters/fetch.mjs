import { input, idOf, perPage } from '../data.mjs';

export const title = 'bare fetch';
export const packages = [];
/** There is nothing to import, because fetch starts up with the first request. */
export const load = undefined;

export function open(_, origin) {
  const base = `${origin}/v0/transfers`;
  const headers = { accept: 'application/json', authorization: 'Bearer sk_bench' };
  const read = async (path, init) => {
    const response = await fetch(base + path, init);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  };
  return {
    getOne: () => read(`/${idOf(7)}`, { headers }),
    post: () =>
      read('', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      }),
    async *listAll(limit = perPage) {
      let cursor = '';
      for (;;) {
        const page = await read(`?limit=${limit}${cursor}`, { headers });
        yield* page.data;
        if (!page.hasMore) return;
        cursor = `&cursor=${page.nextCursor}`;
      }
    },
  };
}
