import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import * as schemas from 'payments-platform-sdk/schemas';
import { expect, onTestFinished, test } from 'vitest';
import { takeTitle } from '../../docs/generators/llms.ts';
import { apiList, undocumented } from '../../docs/generators/public-api.ts';

// Every public name is documented, and the documentation has no stale name and no broken link.

const root = fileURLToPath(new URL('../..', import.meta.url));
const readText = (path: string) => readFileSync(join(root, path), 'utf8');

test('every public name and field has a docstring', () => {
  expect(undocumented()).toEqual([]);
});

test('the docstring check reports a name or field without one', () => {
  const path = join(root, 'src', 'probe.ts');
  const probe = `
    interface Base { inherited: string }
    export interface Shown extends Base {
      /** Fine. */
      said: string;
      unsaid: string;
      /** Fine. */
      nested: { unsaid: number };
    }
    /** Fine. */
    export class Kept { readonly #hidden = 1; open(): number { return this.#hidden; } }
    /** Fine. */
    export type Either = { /* no docstring */ one: 1 } | {
      /** Fine. */
      two: 2;
    };
    export const bare = (input: { field: string }): string => input.field;
  `;
  expect(undocumented([path], new Map([[path, probe]]))).toEqual([
    'src/probe.ts Either.one',
    'src/probe.ts Kept.open',
    'src/probe.ts Shown',
    'src/probe.ts Shown.inherited',
    'src/probe.ts Shown.unsaid',
    'src/probe.ts bare',
  ]);
});

test('docs/api.md is the output of `npx node docs/generators/api-list.ts`', () => {
  expect(readText('docs/api.md')).toBe(apiList());
});

test('docs/api.md names every field of every resource', () => {
  const lines = readText('docs/api.md').split('\n');
  const missing = Object.entries(schemas).flatMap(([constant, schema]) => {
    const noun = constant.replace(/Schema$/, '');
    const shape = Object.keys(('shape' in schema ? schema.shape : {}) as object);
    const line = lines.find((text) => text.startsWith(`- \`${noun} `)) ?? '';
    return shape
      .filter((field) => !new RegExp(`[{;] ${field}\\??: `).test(line))
      .map((field) => `${noun}.${field}`);
  });
  expect(missing).toEqual([]);
});

/** What typedoc writes into a script of the site. */
const readAsset = (site: string, name: string): unknown => {
  const [, encoded = ''] = /"(.*)"/.exec(readFileSync(join(site, 'assets', name), 'utf8')) ?? [];
  return JSON.parse(inflateSync(Buffer.from(encoded, 'base64')).toString());
};

/** Links of the site to a file or an anchor that it does not have, and all that a page would load from elsewhere. */
function findBrokenTargets(site: string): string[] {
  const texts = new Map(
    globSync('**/*.{html,svg}', { cwd: site }).map((path) => [
      path,
      readFileSync(join(site, path), 'utf8'),
    ]),
  );
  const broken = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/<(\w+)[^>]*? (?:href|src)="([^"]*)"/g)].flatMap(([, tag, target = '']) => {
      if (/^https?:/.test(target)) return tag === 'a' ? [] : [`${page}: ${target}`];
      if (target === 'data:,') return [];
      const [path = '', anchor = ''] = decodeURI(target).split('#');
      const file = path === '' ? page : join(dirname(page), path);
      const hasAnchor = anchor === '' || texts.get(file)?.includes(` id="${anchor}"`) === true;
      return existsSync(join(site, file)) && hasAnchor ? [] : [`${page}: ${target}`];
    }),
  );
  return [...new Set(broken)];
}

test('the API reference builds without warnings or broken links', () => {
  const site = mkdtempSync(join(tmpdir(), 'payments-reference-'));
  onTestFinished(() => rmSync(site, { recursive: true }));
  const typedoc = join(root, 'node_modules', 'typedoc', 'bin', 'typedoc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [typedoc, '--out', site], {
    cwd: root,
    encoding: 'utf8',
  });
  // The options of typedoc in package.json have treatWarningsAsErrors.
  expect(stdout + stderr).not.toMatch(/\[(warning|error)\]/);
  expect(status).toBe(0);
  expect(findBrokenTargets(site)).toEqual([]);
  const navigation = JSON.stringify(readAsset(site, 'navigation.js'));
  const titles = pages
    .filter((page) => page.startsWith('docs'))
    .map((page) => takeTitle(readText(page)));
  expect(titles.filter((title) => !navigation.includes(`{"text":"${title}",`))).toEqual([]);
  expect(navigation).toContain('"path":"documents/HTTP_API.html"');
  // The search finds words of guides.
  expect(JSON.stringify(readAsset(site, 'search.js'))).toContain('"ambiguous"');
  const links = readFileSync(join(site, 'llms.txt'), 'utf8').matchAll(/\]\(([^)]+)\)/g);
  expect([...links].filter(([, path = '']) => !existsSync(join(site, path)))).toEqual([]);
});

const pages = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith(join('docs', 'api') + '/')),
];

/** The anchors that GitHub gives to the headings of a page. */
const findAnchors = (text: string): string[] =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );

/** Links of a page without a target. */
function findBrokenLinks(page: string, text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^https?:/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    const there = path === '' || existsSync(join(root, file));
    const exists =
      there &&
      (anchor === undefined || findAnchors(path === '' ? text : readText(file)).includes(anchor));
    return exists ? [] : [`${page}: ${target}`];
  });
}

test.each(pages)('the document %s has no broken link', (page) => {
  expect(findBrokenLinks(page, readText(page))).toEqual([]);
});

test('the check for links reports a broken link', () => {
  const text = '# A page\n\n[a](README.md) [b](nowhere.md) [c](#a-page) [d](#elsewhere)\n';
  expect(findBrokenLinks('probe.md', text)).toEqual([
    'probe.md: nowhere.md',
    'probe.md: #elsewhere',
  ]);
});

/** The documents that comments and messages name. */
const findDocumentNames = (text: string): string[] =>
  [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([path]) => path);

test('every file of docs/ that the code mentions exists', () => {
  const code = globSync(
    ['src/**/*.ts', 'test/*.ts', 'test/*/*.{ts,mjs}', 'examples/**/*.ts', '*.ts'],
    {
      cwd: root,
    },
  );
  const named = code.flatMap((file) =>
    findDocumentNames(readText(file)).map((path) => `${file}: ${path}`),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((each) => !existsSync(join(root, each.split(': ')[1] ?? '')))).toEqual([]);
});

test('the README links to every guide', () => {
  const readme = readText('README.md');
  // The guide for contributors is not in the package.
  const guides = pages.filter(
    (page) => dirname(page) === 'docs' && page !== 'docs/contributing.md',
  );
  expect(guides.length).toBeGreaterThan(8);
  expect(guides.filter((guide) => !readme.includes(`](${guide})`))).toEqual([]);
});

// Not among them: lists to look something up in, pages for a review, and the guide for contributors.
const others = /^(api|contributing|gaps|performance|proof|runtimes|threat-model)\.md$/;
const guides = pages.filter((page) => dirname(page) === 'docs' && !others.test(basename(page)));

test('the README, the guides and docs/proof.md keep their word limits', () => {
  // The bars and dashes of a table are not words.
  const countWords = (path: string): number =>
    readText(path)
      .replaceAll(/<!-- generated: \w+ -->.*?<!-- end: |^```.*?^```$|\]\([^)]*\)/gms, '')
      .split(/\s+/)
      .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  expect(countWords('README.md')).toBeLessThanOrEqual(800);
  expect(guides.map(countWords).reduce((sum, count) => sum + count)).toBeLessThanOrEqual(8_000);
  expect(countWords('docs/proof.md')).toBeLessThanOrEqual(2_000);
  expect(countWords('docs/threat-model.md')).toBeLessThanOrEqual(1_000);
});

test('no table line of the README and guides exceeds 160 characters', () => {
  const wide = ['README.md', ...guides].flatMap((page) =>
    [...readText(page).matchAll(/^ *\|.{160,}$/gm)].map(([line]) => `${page}: ${line}`),
  );
  expect(wide).toEqual([]);
});

test('the defaults in docs/reference.md are those of resolveOptions', async () => {
  const { resolveOptions } = await import('../../src/calls/client-options.ts');
  const options = resolveOptions({ baseUrl: 'https://api.example.com/v0', apiKey: 'sk_example' });
  const documented = new Map(
    [...readText('docs/api.md').matchAll(/^- `(\w+)`, default ([^:]+):/gm)].map(
      ([, name = '', value = '']) => [name, value.replaceAll("'", '')],
    ),
  );
  for (const name of ['timeout', 'totalTimeout', 'maxRetries', 'validation'] as const) {
    expect([name, documented.get(name)]).toEqual([name, String(options[name])]);
  }
});

const gapRows = [...readText('docs/gaps.md').matchAll(/^\| (\d+) +\|/gm)].map(([, row]) =>
  Number(row),
);
const references = readdirSync(join(root, 'src'), { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile())
  .flatMap((entry) => {
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8').replace(
      /\n\s*(\*|\/\/) ?/g,
      ' ',
    );
    return [...text.matchAll(/docs\/gaps\.md, rows? ([\d, and]+)/g)].flatMap(([, rows = '']) =>
      (rows.match(/\d+/g) ?? []).map(Number),
    );
  });

test('the rows of docs/gaps.md are numbered from 1', () => {
  expect(gapRows.length).toBeGreaterThan(50);
  expect(gapRows).toEqual(gapRows.map((_, index) => index + 1));
});

test('code comments refer to exactly the rows of docs/gaps.md', () => {
  expect(gapRows.filter((row) => !references.includes(row))).toEqual([]);
  expect(references.filter((row) => !gapRows.includes(row))).toEqual([]);
});
