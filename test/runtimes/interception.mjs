// test/full/interception.ts with the installed package in the place of the source; its path is
// the argument.
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { mockedByMsw, mockedByUndici, proxied, stubbedFetch } from '../full/interception.ts';

const url = process.argv[2] ?? '';
const sdk = await import(url);
// Node's own undici comes first, as it does in an application that has used fetch.
void new Headers();
const undici8 = await import('undici8');
const undici6 = await import('undici6');

const interceptions = {
  'a stubbed fetch': () => stubbedFetch(sdk),
  msw: () => mockedByMsw(sdk, { http, HttpResponse, setupServer }),
  'a MockAgent of undici 8': () => mockedByUndici(sdk, undici8),
  // Beside undici 8, which has been at the place for its own generation. Node 26 no longer looks
  // at the place that undici 6 knows.
  ...(Number.parseInt(process.versions.node, 10) < 26 && {
    'a MockAgent of undici 6': () => mockedByUndici(sdk, undici6),
  }),
  'a proxy of the environment': () => proxied(url),
};

for (const [name, intercept] of Object.entries(interceptions)) {
  try {
    await intercept();
    console.log(`caught by ${name}`);
  } catch (error) {
    console.log(`WRONG ${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}
