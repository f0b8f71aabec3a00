import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { checkEnvironmentProxy, checkMsw } from '../drivers/interception.ts';

// test/runtimes/interception.mjs does the same on other versions of Node.

test('msw intercepts every call of the client', async () => {
  await checkMsw(sdk, { http, HttpResponse, setupServer });
});

test('with NODE_USE_ENV_PROXY the proxy in HTTP_PROXY receives every call', async () => {
  await checkEnvironmentProxy(new URL('../../src/index.ts', import.meta.url).href);
});
