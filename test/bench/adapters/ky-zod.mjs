import { input, idOf, perPage } from '../data.mjs';

export const title = 'ky + zod, as usually written';
export const packages = ['ky', 'zod'];
export const load = async () => {
  const [{ default: ky }, z] = await Promise.all([import('ky'), import('zod')]);
  return { ky, z };
};

/** Schemas as they are usually written. The cost of checking is compared with these, too. */
export function schemas(z) {
  const transfer = z.object({
    id: z.string(),
    status: z.string(),
    type: z.string(),
    createdAt: z.string(),
    sourceAccountId: z.string(),
    destinationAccountId: z.string().nullish(),
    counterpartyId: z.string().nullish(),
    amount: z.string(),
    currency: z.string(),
    direction: z.string(),
    description: z.string().nullish(),
  });
  const page = z.object({
    data: z.array(transfer),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
  });
  return { transfer, page };
}

export function open({ ky, z }, origin) {
  const { transfer, page } = schemas(z);
  const api = ky.create({
    prefix: `${origin}/v0`,
    headers: { authorization: 'Bearer sk_bench' },
  });
  return {
    getOne: async () => transfer.parse(await api.get(`transfers/${idOf(7)}`).json()),
    post: async () => transfer.parse(await api.post('transfers', { json: input }).json()),
    async *listAll(limit = perPage) {
      let cursor;
      do {
        const searchParams = cursor === undefined ? { limit } : { limit, cursor };
        const response = page.parse(await api.get('transfers', { searchParams }).json());
        yield* response.data;
        cursor = response.hasMore ? response.nextCursor : undefined;
      } while (cursor !== undefined);
    },
  };
}

export const program = `import ky from 'ky';
import * as z from 'zod';
const transfer = z.object({ id: z.string(), description: z.string().nullish(), tags: z.array(z.string()) });
console.log(transfer.parse(await ky.get('http://localhost/').json()));`;
