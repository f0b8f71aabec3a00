import { input, idOf, perPage } from '../data.mjs';

export const title = 'increase';
export const packages = ['increase'];
export const load = () => import('increase');

export function open({ default: Increase }, origin) {
  const client = new Increase({ apiKey: 'bench', baseURL: `${origin}/increase` });
  return {
    getOne: () => client.accountTransfers.retrieve(idOf(7)),
    post: () => client.accountTransfers.create(input),
    listAll: (limit = perPage) => client.accountTransfers.list({ limit }),
  };
}

export const program = `import Increase from 'increase';
const c = new Increase({ apiKey: 'x' });
console.log(c.accountTransfers, c.accounts, c.entities);`;
