import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { mockedByMsw, proxied, stubbedFetch } from './interception.ts';

// The same on the other Nodes, and with MockAgents of undici: test/runtimes/interception.mjs.

test('a fetch that is replaced after the client was made gets its calls', async () => {
  await stubbedFetch(sdk);
});

test('msw gets every call', async () => {
  await mockedByMsw(sdk, { http, HttpResponse, setupServer });
});

test('a proxy that the environment names gets every call', async () => {
  await proxied(new URL('../../src/index.ts', import.meta.url).href);
});
