import { readdir, readFile, writeFile } from 'node:fs/promises';
import { defineConfig, type Options } from 'tsup';
import { page } from './src/sandbox/page/page.ts';

const client = { index: 'src/index.ts' };
const schemas = { 'schemas/index': 'src/schemas/index.ts' };
const journals = { 'journals/index': 'src/journals/index.ts' };
const sandbox = {
  'sandbox/index': 'src/sandbox/index.ts',
  'sandbox/server': 'src/sandbox/server.ts',
  'sandbox/msw': 'src/sandbox/msw.ts',
};

/** What is built into the package; each licence asks for its notice to come along. */
const bundled = ['ky', 'zod', 'preact'];

/** What has its types in common. */
const groups = [client, schemas, journals, sandbox];

const code: Options = {
  target: 'es2022',
  // What entry points of one run share becomes a file of its own.
  splitting: true,
  treeshake: true,
  // Start-up is a count of files, and the part of zod that is used is small; where require() of ES
  // modules is switched off (AWS Lambda, Jest) ky has to be inside. docs/decisions/where-the-time-goes.md.
  noExternal: bundled.map((name) => new RegExp(`^${name}(/|$)`)),
  // ky asks for the first three to find out what the runtime can do, and makes Node load all of its
  // network stack by asking. What it would do with them is never used here, and a Request with a signal
  // of ky's own outlives young garbage collections. The last one is in src/transports/ky-request.ts.
  define: {
    'globalThis.AbortSignal.any': 'undefined',
    'globalThis.FormData': 'undefined',
    'globalThis.ReadableStream': 'undefined',
    'globalThis.Request': 'KyRequest',
  },
  inject: ['src/transports/ky-request.ts'],
  esbuildPlugins: [
    {
      // A bundler keeps what it cannot prove to be without effect, and all that it refers to: for one type
      // guard an application would get the whole client.
      name: 'ky is made without an effect',
      setup(build) {
        build.onLoad({ filter: /[\\/]ky[\\/]distribution[\\/]index\.js$/ }, async ({ path }) => {
          const text = await readFile(path, 'utf8');
          const contents = text.replace('= createInstance()', '= /* @__PURE__ */ createInstance()');
          if (contents === text) throw new Error('ky makes its instance in another way');
          return { contents, loader: 'js' };
        });
      },
    },
  ],
};

/** The sandbox's page is put together here, and its module holds nothing but the text. */
const withPage: Options['esbuildPlugins'] = [
  {
    name: 'page',
    setup: (build) => {
      build.onLoad({ filter: /[/\\]sandbox[/\\]page[/\\]page\.ts$/ }, async () => ({
        contents: `export const page = () => Promise.resolve(${JSON.stringify(await page())});`,
      }));
    },
  },
];

/** Types of one group of entry points. Apart, so that the client's types do not load zod's. */
const types = (entry: Record<string, string>): Options => ({
  entry,
  format: ['esm', 'cjs'],
  // What is marked `@internal` (how the client makes a resource) stays out, and all that it would bring along.
  dts: { only: true, compilerOptions: { stripInternal: true } },
});

async function notices(): Promise<void> {
  for (const name of bundled) {
    const folder = `node_modules/${name}`;
    const license = (await readdir(folder)).find((file) => /^licen[cs]e(\.|$)/i.test(file));
    if (license === undefined) throw new Error(`${name} has no licence file`);
    const { version } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8')) as {
      version: string;
    };
    const text = await readFile(`${folder}/${license}`, 'utf8');
    await writeFile(`dist/${name}-license.txt`, `${name} ${version}\n\n${text}`);
  }
  await writeBillOfMaterials();
}

interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

async function describeComponent(manifestPath: string) {
  const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as PackageManifest;
  const { name, version, license } = manifest;
  const purl = `pkg:npm/${name}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    licenses: [{ license: { id: license } }],
    purl,
  };
}

/** Writes the SBOM (CycloneDX 1.6): `npm audit` cannot see what is bundled. */
async function writeBillOfMaterials(): Promise<void> {
  const component = await describeComponent('package.json');
  const manifestPaths = bundled.map((name) => `node_modules/${name}/package.json`);
  const components = await Promise.all(manifestPaths.map(describeComponent));
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component },
    components,
    dependencies: [{ ref: component.purl, dependsOn: components.map(({ purl }) => purl) }],
  };
  await writeFile('dist/sbom.cdx.json', `${JSON.stringify(bill, null, 2)}\n`);
}

/*
 * The client is built by itself, so that it is one file, which starts sooner:
 * docs/decisions/where-the-time-goes.md. What the sandbox uses too (schemas, zod, json.ts,
 * redactor.ts) is there twice; no class and no state has to be the same in both.
 */
export default defineConfig([
  { ...code, format: 'esm', entry: client, onSuccess: notices },
  { ...code, format: 'cjs', entry: client },
  {
    ...code,
    format: 'esm',
    entry: { ...schemas, ...journals, ...sandbox, 'sandbox/bin': 'src/sandbox/bin.ts' },
    esbuildPlugins: withPage,
  },
  {
    ...code,
    format: 'cjs',
    entry: { ...schemas, ...journals, ...sandbox },
    esbuildPlugins: withPage,
  },
  // Types take five times as long as the code, and nobody needs them to run an example.
  ...(process.env['PAYMENTS_SDK_BUILD'] === 'code' ? [] : groups.map(types)),
]);

/**
 * A class that is exported as a type (`Transfers`) comes out of the bundler of declarations as if it
 * were a value, and an import of it would compile and fail when it runs.
 */
async function exportAsTypes(entry: Record<string, string>): Promise<void> {
  for (const [name, source] of Object.entries(entry)) {
    const text = await readFile(source, 'utf8');
    const isType = new Set(
      [...text.matchAll(/^export type \{([^}]*)\}/gm)].flatMap(([, names = '']) => listed(names)),
    );
    for (const file of [`dist/${name}.d.ts`, `dist/${name}.d.cts`]) {
      const declarations = await readFile(file, 'utf8');
      const marked = declarations.replace(/^export \{([^}]*)\}/gm, (_, names: string) => {
        const exported = listed(names).map((each) =>
          isType.has(each.split(' as ').at(-1) ?? '') ? `type ${each}` : each,
        );
        return `export { ${exported.join(', ')} }`;
      });
      await writeFile(file, marked);
    }
  }
}

const listed = (names: string): string[] => names.split(',').map((name) => name.trim());

// tsup has no hook behind the declarations, so the build runs this file once more by itself.
if (import.meta.main) await Promise.all(groups.map(exportAsTypes));
