import { input, idOf, perPage } from '../data.mjs';

export const title = 'openai';
export const packages = ['openai'];
export const load = () => import('openai');

export function open({ default: OpenAI }, origin) {
  const client = new OpenAI({ apiKey: 'bench', baseURL: `${origin}/openai` });
  return {
    getOne: () => client.batches.retrieve(idOf(7)),
    post: () => client.batches.create(input),
    listAll: (limit = perPage) => client.batches.list({ limit }),
  };
}

export const program = `import OpenAI from 'openai';
const c = new OpenAI({ apiKey: 'x' });
console.log(c.batches, c.files, c.responses);`;
