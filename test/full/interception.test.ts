import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { checkEnvironmentProxy, checkMsw, checkStubbedFetch } from './interception.ts';

// test/runtimes/interception.mjs does the same on other versions of Node, and with MockAgents of undici.

test('a fetch that is stubbed after the client was created receives its calls', async () => {
  await checkStubbedFetch(sdk);
});

test('msw receives every call', async () => {
  await checkMsw(sdk, { http, HttpResponse, setupServer });
});

test('a proxy of the environment receives every call', async () => {
  await checkEnvironmentProxy(new URL('../../src/index.ts', import.meta.url).href);
});
