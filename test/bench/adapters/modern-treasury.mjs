import { input, idOf, perPage } from '../data.mjs';

export const title = 'modern-treasury';
export const packages = ['modern-treasury'];
export const load = () => import('modern-treasury');

export function open({ default: ModernTreasury }, origin) {
  const client = new ModernTreasury({
    apiKey: 'bench',
    organizationID: 'bench',
    baseURL: `${origin}/modern-treasury`,
  });
  return {
    getOne: () => client.counterparties.retrieve(idOf(7)),
    post: () => client.counterparties.create(input),
    listAll: (limit = perPage) => client.counterparties.list({ per_page: limit }),
  };
}

export const program = `import ModernTreasury from 'modern-treasury';
const c = new ModernTreasury({ apiKey: 'x', organizationID: 'y' });
console.log(c.counterparties, c.paymentOrders, c.ledgers);`;
