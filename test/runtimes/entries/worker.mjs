// Cloudflare Workers: imported at the top, where a Worker may do neither I/O nor chance, so that a
// side effect would end it at once. The order of the imports counts.
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
