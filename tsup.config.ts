import { copyFile } from 'node:fs/promises';
import { defineConfig, type Options } from 'tsup';

const client = { index: 'src/index.ts' };
const schemas = { 'schemas/index': 'src/schemas/index.ts' };
const sandbox = {
  'sandbox/index': 'src/sandbox/index.ts',
  'sandbox/server': 'src/sandbox/server.ts',
  'sandbox/msw': 'src/sandbox/msw.ts',
};

const code: Options = {
  entry: { ...client, ...schemas, ...sandbox },
  target: 'es2022',
  // One copy of every class, whichever entry point it is reached by.
  splitting: true,
  treeshake: true,
};

/** Types of one group of entry points. Apart, so that the client's types do not load zod's. */
const types = (entry: Record<string, string>): Options => ({
  entry,
  format: ['esm', 'cjs'],
  dts: { only: true },
});

export default defineConfig([
  {
    ...code,
    format: 'esm',
    entry: { ...code.entry, 'sandbox/bin': 'src/sandbox/bin.ts' },
  },
  {
    ...code,
    format: 'cjs',
    // ky is published as ESM only; where require() of ESM is switched off (AWS Lambda, Jest) it has
    // to be inside. Its licence asks for its notice to come along.
    noExternal: ['ky'],
    onSuccess: async () => {
      await copyFile('node_modules/ky/license', 'dist/ky-license.txt');
    },
  },
  // Types take five times as long as the code, and nobody needs them to run an example.
  ...(process.env['PAYMENTS_SDK_BUILD'] === 'code' ? [] : [client, schemas, sandbox].map(types)),
]);
