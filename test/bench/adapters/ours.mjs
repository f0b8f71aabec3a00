import { input, idOf, perPage } from '../data.mjs';

export const title = 'payments-platform-sdk';
export const packages = ['payments-platform-sdk'];
/** `BENCH_SDK` is the file of another build. */
export const load = () => import(process.env.BENCH_SDK ?? 'payments-platform-sdk');

export function open({ PaymentsClient }, origin) {
  const payments = new PaymentsClient({ baseUrl: `${origin}/v0`, apiKey: 'sk_bench' });
  return {
    getOne: () => payments.transfers.get(idOf(7)),
    post: () => payments.transfers.create(input),
    listAll: (limit = perPage) => payments.transfers.list({ limit }),
  };
}

export const program = `import { PaymentsClient } from 'payments-platform-sdk';
const p = new PaymentsClient();
console.log(p.entities, p.accounts, p.transfers, p.counterparties, p.ibans, p.settings, p.instructions, p.transactions);`;
