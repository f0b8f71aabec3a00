// Cloudflare Workers. A Worker may use neither I/O nor random numbers while it is loaded, so a side effect
// of the import would fail. The order of the imports matters.
import { finish } from './watching.mjs';
import * as sdk from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { story } from '../story.mjs';

const sideEffects = finish();

export default {
  async fetch(request) {
    const world = await request.json();
    return Response.json(await story({ sdk, Sandbox, world, sideEffects }));
  },
};
