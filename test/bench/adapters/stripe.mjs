import { input, idOf, perPage } from '../data.mjs';

export const title = 'stripe';
export const packages = ['stripe'];
export const load = () => import('stripe');

export function open({ default: Stripe }, origin) {
  const { hostname, port } = new URL(origin);
  const stripe = new Stripe('sk_test_bench', { host: hostname, port, protocol: 'http' });
  return {
    getOne: () => stripe.transfers.retrieve(idOf(7)),
    post: () => stripe.transfers.create(input),
    listAll: (limit = perPage) => stripe.transfers.list({ limit }),
  };
}

export const program = `import Stripe from 'stripe';
const s = new Stripe('sk');
console.log(s.transfers, s.accounts, s.payouts);`;
