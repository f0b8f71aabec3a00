import { input, idOf, perPage } from '../data.mjs';

export const title = '@anthropic-ai/sdk';
export const packages = ['@anthropic-ai/sdk'];
export const load = () => import('@anthropic-ai/sdk');

export function open({ default: Anthropic }, origin) {
  const client = new Anthropic({ apiKey: 'bench', baseURL: `${origin}/anthropic` });
  return {
    getOne: () => client.models.retrieve(idOf(7)),
    post: () => client.messages.countTokens(input),
    listAll: (limit = perPage) => client.models.list({ limit }),
  };
}

export const program = `import Anthropic from '@anthropic-ai/sdk';
const c = new Anthropic({ apiKey: 'x' });
console.log(c.models, c.messages, c.beta);`;
