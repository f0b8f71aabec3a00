import { input, idOf, perPage } from '../data.mjs';

export const title = 'hey-api (ky client + zod)';
export const packages = ['@hey-api/openapi-ts', 'ky', 'zod'];
/** The client that prepare.mjs generates from api.json, and builds as an application would. */
export const load = () => import('../node_modules/.generated/hey-api.mjs');

export function open({ client, getTransfer, createTransfer, listTransfers }, origin) {
  client.setConfig({ baseUrl: `${origin}/v0`, headers: { authorization: 'Bearer sk_bench' } });
  const data = async (call) => (await call).data;
  return {
    getOne: () => data(getTransfer({ path: { id: idOf(7) }, throwOnError: true })),
    post: () => data(createTransfer({ body: input, throwOnError: true })),
    /** hey-api has no paging of its own, so this is the loop that its users write. */
    async *listAll(limit = perPage) {
      let cursor;
      do {
        const query = cursor === undefined ? { limit } : { limit, cursor };
        const page = await data(listTransfers({ query, throwOnError: true }));
        yield* page.data;
        cursor = page.hasMore ? page.nextCursor : undefined;
      } while (cursor !== undefined);
    },
  };
}
