import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Options } from 'tsup';
import { openApi } from './src/sandbox/openapi/openapi.ts';
import { page } from './src/sandbox/page/page.ts';
import kyStandIns from './src/transports/ky-stand-ins.json' with { type: 'json' };
import { llmsText } from './docs/generators/llms.ts';

const client = { index: 'src/index.ts' };
const schemas = { 'schemas/index': 'src/schemas/index.ts' };
const journals = { 'journals/index': 'src/journals/index.ts' };
const sandbox = {
  'sandbox/index': 'src/sandbox/index.ts',
  'sandbox/server': 'src/sandbox/server.ts',
  'sandbox/msw': 'src/sandbox/msw.ts',
};

/** Packages that are bundled; each licence requires its notice in the package. */
const bundled = ['ky', 'zod', 'preact'];

/** Entry points that share their types. */
const groups = [client, schemas, journals, sandbox];

/** Corrects modules of a bundled package. Each has to contain the text. */
const correct = (
  filter: RegExp,
  wrong: string | RegExp,
  right: string,
): NonNullable<Options['esbuildPlugins']>[number] => ({
  name: `correct ${filter}`,
  setup: (build) => {
    build.onLoad({ filter }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text.replace(wrong, right);
      if (contents === text) throw new Error(`${path} no longer contains ${wrong}`);
      return { contents, loader: 'js' };
    });
  },
});

const corrections = [
  // A bundler keeps calls that may have side effects and all that they use: for one type guard, an
  // application would get the whole client.
  correct(
    /[\\/]ky[\\/]distribution[\\/]index\.js$/,
    '= createInstance()',
    '= /* @__PURE__ */ createInstance()',
  ),
  // An application may have added an enumerable member to Object.prototype.
  correct(
    /[\\/]zod[\\/]v4[\\/]core[\\/](core|schemas|util)\.js$/,
    /for \(const (\w+) in (\w+)\)/g,
    'for (const $1 of Object.keys($2))',
  ),
];

const code: Options = {
  target: 'es2022',
  // Code that entry points of one run share becomes a separate file.
  splitting: true,
  treeshake: true,
  // Fewer files start faster, and the part of zod that is used is small. Where require() of ES modules is
  // disabled (AWS Lambda, Jest), ky has to be bundled. docs/decisions/where-the-time-goes.md.
  noExternal: bundled.map((name) => new RegExp(`^${name}(/|$)`)),
  // The globals of fetch make Node load its whole network stack, and only ky's core is used as it is.
  define: kyStandIns.globals,
  inject: ['src/transports/ky-globals.ts'],
  esbuildPlugins: [
    {
      name: 'stand-ins for modules of ky',
      setup(build) {
        const importer = new RegExp(kyStandIns.importer);
        build.onResolve({ filter: /^\.\.?\/.*\.js$/ }, (args) =>
          importer.test(args.importer) && args.path !== kyStandIns.kept
            ? { path: fileURLToPath(new URL('src/transports/ky-modules.ts', import.meta.url)) }
            : undefined,
        );
      },
    },
    ...corrections,
  ],
};

/**
 * Removes white space, so that the package stays small; names stay, for stacks. Node prints a line with each error.
 * Not for the client's ES module: with the white space esbuild removes the marks by which bundlers leave code out.
 */
const shorten: NonNullable<Options['esbuildOptions']> = (options) => {
  options.minifyWhitespace = true;
  options.lineLimit = 200;
};

/** Builds the sandbox's page now, so that its module holds only the result. */
const withPage: NonNullable<Options['esbuildPlugins']> = [
  {
    name: 'page',
    setup: (build) => {
      build.onLoad({ filter: /[/\\]sandbox[/\\]page[/\\]page\.ts$/ }, async () => ({
        contents: `export const page = () => Promise.resolve(${JSON.stringify(await page())});`,
      }));
    },
  },
];

/** The commands load the client's own file, so that the package holds it once. */
const clientApart: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'client apart',
  setup: (build) => {
    build.onResolve({ filter: /^\.\.\/\.\.\/index\.ts$/ }, () => ({
      path: '../index.js',
      external: true,
    }));
  },
};

/** Replaces a module of src/sandbox/openapi, because generating the description needs the compiler and src. */
const replaceOpenApi = (
  file: string,
  createContents: () => string | Promise<string>,
): NonNullable<Options['esbuildPlugins']> => [
  ...withPage,
  {
    name: 'openapi',
    setup: (build) => {
      build.onLoad(
        { filter: new RegExp(`[/\\\\]sandbox[/\\\\]openapi[/\\\\]${file}\\.ts$`) },
        async () => ({
          contents: await createContents(),
        }),
      );
    },
  },
];
// There is no openapi.json beside a bundle, and Rollup cannot import JSON, so a file of code contains it.
const containOpenApi = replaceOpenApi(
  'generate',
  async () => `export const generateOpenApi = () => (${JSON.stringify(await openApi())});`,
);
// Bundlers follow a require() of JSON, so the package needs no second file of code.
const requireOpenApi = replaceOpenApi(
  'openapi',
  () => 'export const openApi = async () => requiredOpenApi;',
);
const lateRequire: NonNullable<Options['plugins']>[number] = {
  name: 'late require',
  // esbuild would replace the require() by a function of its own, which bundlers do not follow.
  renderChunk: (text) => ({
    code: text.replace('requiredOpenApi', `require('payments-platform-sdk/openapi.json')`),
  }),
};

async function writeFiles(): Promise<void> {
  await Promise.all([writeNotices(), writeOpenApi(), writeFile('dist/llms.txt', llmsText('../'))]);
}

async function writeOpenApi(): Promise<void> {
  await writeFile('dist/openapi.json', `${JSON.stringify(await openApi())}\n`);
}

/** The types of one group of entry points. Separate, so that the client's types do not load zod's. */
const types = (entry: Record<string, string>): Options => ({
  entry,
  format: ['esm', 'cjs'],
  // Members marked `@internal` (how the client creates a resource) stay out, with the types that they use.
  dts: { only: true, compilerOptions: { stripInternal: true } },
});

async function writeNotices(): Promise<void> {
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
 * The client is built separately, so that it is one file, which starts faster:
 * docs/decisions/where-the-time-goes.md. Code that the sandbox uses too (schemas, zod, json.ts, redact.ts)
 * is bundled twice; the two share no class and no state.
 */
export default defineConfig([
  { ...code, format: 'esm', entry: client, onSuccess: writeFiles },
  { ...code, format: 'cjs', entry: client, esbuildOptions: shorten },
  {
    ...code,
    format: 'esm',
    entry: {
      ...schemas,
      ...journals,
      ...sandbox,
      'journals/bin': 'src/commands/journal/bin.ts',
      'probe/bin': 'src/commands/probe/bin.ts',
      'sandbox/bin': 'src/sandbox/bin.ts',
    },
    esbuildPlugins: [...corrections, ...containOpenApi, clientApart],
    esbuildOptions: shorten,
  },
  {
    ...code,
    format: 'cjs',
    entry: { ...schemas, ...journals, ...sandbox },
    esbuildPlugins: [...corrections, ...requireOpenApi],
    plugins: [lateRequire],
    esbuildOptions: shorten,
  },
  // Types take five times as long as the code, and examples run without them.
  ...(process.env['npm_lifecycle_event'] === 'build:code' ? [] : groups.map(types)),
]);

/**
 * Restores type exports. The bundler of declarations exports a class that is only a type (`Transfers`) as
 * a value: importing it would compile, and fail at run time.
 */
async function exportAsTypes(entry: Record<string, string>): Promise<void> {
  for (const [name, source] of Object.entries(entry)) {
    const text = await readFile(source, 'utf8');
    const isType = new Set(
      [...text.matchAll(/^export type \{([^}]*)\}/gm)].flatMap(([, names = '']) =>
        parseNames(names),
      ),
    );
    for (const file of [`dist/${name}.d.ts`, `dist/${name}.d.cts`]) {
      const declarations = await readFile(file, 'utf8');
      const corrected = declarations.replace(/^export \{([^}]*)\}/gm, (_, names: string) => {
        const exported = parseNames(names).map((item) =>
          isType.has(item.split(' as ').at(-1) ?? '') ? `type ${item}` : item,
        );
        return `export { ${exported.join(', ')} }`;
      });
      await writeFile(file, corrected);
    }
  }
}

/**
 * Leaves out the marks of private fields, because with a mark a class of one copy of the package
 * would not fit where the same class of the other copy is expected.
 */
async function removePrivateMarks(): Promise<void> {
  const files = await readdir('dist', { recursive: true });
  for (const file of files.filter((each) => /\.d\.c?ts$/.test(each))) {
    const declarations = await readFile(`dist/${file}`, 'utf8');
    await writeFile(`dist/${file}`, declarations.replace(/^ *#private;\n/gm, ''));
  }
}

/** Writes a folder for each entry point, because old resolvers read no `exports` of package.json. */
async function writeFolders(): Promise<void> {
  const write = async (folder: string, entries: Record<string, string>): Promise<void> => {
    const root = '../'.repeat(folder.split('/').length);
    const paths = Object.entries(entries).map(([field, path]) => [field, `${root}dist/${path}`]);
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/package.json`, `${JSON.stringify(Object.fromEntries(paths))}\n`);
  };
  await write('openapi.json', { main: 'openapi.json' });
  for (const name of Object.keys({ ...schemas, ...journals, ...sandbox })) {
    const entries = { main: `${name}.cjs`, module: `${name}.js`, types: `${name}.d.cts` };
    await write(name.replace('/index', ''), entries);
  }
}

const parseNames = (names: string): string[] => names.split(',').map((name) => name.trim());

// tsup has no hook after the declarations, so the build runs this file directly afterwards.
if (import.meta.main) {
  await removePrivateMarks();
  await Promise.all([...groups.map(exportAsTypes), writeFolders()]);
}
