import { input, idOf, perPage } from '../data.mjs';

export const title = '@polar-sh/sdk';
export const packages = ['@polar-sh/sdk'];
export const load = () => import('@polar-sh/sdk/2026-10');

export function open({ createPolar }, origin) {
  const polar = createPolar({ accessToken: 'bench', baseUrl: `${origin}/polar` });
  return {
    getOne: () => polar.discounts.get(idOf(7)),
    post: () => polar.discounts.create(input),
    listAll: (limit = perPage) => polar.discounts.iterList({ limit }),
  };
}

export const program = `import { createPolar } from '@polar-sh/sdk/2026-10';
const p = createPolar({ accessToken: 'x' });
console.log(p.discounts, p.customers, p.orders);`;
