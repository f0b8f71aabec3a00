// test/full/interception.ts with the installed package; its path is the argument.
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import {
  checkEnvironmentProxy,
  checkMsw,
  checkStubbedFetch,
  checkUndiciMock,
} from '../full/interception.ts';

const url = process.argv[2] ?? '';
const sdk = await import(url);
// Loads Node's undici first, as an application does that has used fetch.
void new Headers();
const undici8 = await import('undici8');
const undici6 = await import('undici6');

const interceptions = {
  'a stubbed fetch': () => checkStubbedFetch(sdk),
  msw: () => checkMsw(sdk, { http, HttpResponse, setupServer }),
  'a MockAgent of undici 8': () => checkUndiciMock(sdk, undici8),
  // Node 26 no longer reads the global property that undici 6 sets.
  ...(Number.parseInt(process.versions.node, 10) < 26 && {
    'a MockAgent of undici 6': () => checkUndiciMock(sdk, undici6),
  }),
  'a proxy of the environment': () => checkEnvironmentProxy(url),
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
