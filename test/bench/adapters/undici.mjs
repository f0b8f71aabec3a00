import { input, idOf, perPage } from '../data.mjs';

export const title = 'bare undici.request';
export const packages = ['undici'];
export const load = () => import('undici');

export function open({ request }, origin) {
  const base = `${origin}/v0/transfers`;
  const headers = { accept: 'application/json', authorization: 'Bearer sk_bench' };
  const read = async (path, options) => {
    const { statusCode, body } = await request(base + path, options);
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    return body.json();
  };
  return {
    getOne: () => read(`/${idOf(7)}`, { headers }),
    post: () =>
      read('', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      }),
    /** Written by hand like our own pager, so that the iteration itself is no handicap. */
    listAll(limit = perPage) {
      let data = [];
      let at = 0;
      let next = '';
      const advance = async () => {
        if (next === undefined) return { done: true, value: undefined };
        const page = await read(`?limit=${limit}${next}`, { headers });
        next = page.hasMore ? `&cursor=${page.nextCursor}` : undefined;
        data = page.data;
        at = 1;
        return { done: false, value: data[0] };
      };
      return {
        [Symbol.asyncIterator]() {
          return this;
        },
        next: () =>
          at < data.length ? Promise.resolve({ done: false, value: data[at++] }) : advance(),
      };
    },
  };
}
