import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { entryPoints, namesInHovers, publicNames } from '../../docs/generators/public-api.ts';

// Each public name is a promise that a major version keeps, so their number has a bound.

const root = fileURLToPath(new URL('../..', import.meta.url));
const readText = (path: string): string => readFileSync(join(root, path), 'utf8');
const names = publicNames();

/** The largest number of names of each entry point. */
const bounds: Readonly<Record<string, number>> = {
  'payments-platform-sdk': 110,
  'payments-platform-sdk/schemas': 40,
  'payments-platform-sdk/journals': 15,
  'payments-platform-sdk/sandbox': 30,
  'payments-platform-sdk/sandbox/server': 5,
  'payments-platform-sdk/sandbox/msw': 5,
};

test('every entry point has a maximum number of names', () => {
  expect(Object.keys(bounds)).toEqual(Object.keys(entryPoints));
});

test.each(Object.entries(bounds))('%s exports at most %i names', (entry, bound) => {
  expect(names[entry]?.length).toBeLessThanOrEqual(bound);
});

test('all entry points together export at most 190 names', () => {
  expect(Object.values(names).flat().length).toBeLessThanOrEqual(190);
});

test('at most 35 names of the main entry point are values', () => {
  const values = names['payments-platform-sdk']?.filter(({ isValue }) => isValue);
  expect(values?.length).toBeLessThanOrEqual(35);
});

const isGuide = (file: string): boolean =>
  file.endsWith('.md') && !/^(api|gaps|contributing)\.md$/.test(file);
const guides = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter(isGuide)
    .map((file) => `docs/${file}`),
];
const examples = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `examples/${file}`);
const prose = [...guides, ...examples].map(readText).join('\n');
test('every public name appears in a guide, an example or a docstring', () => {
  const hovers = namesInHovers();
  const unused = Object.values(names)
    .flat()
    .map(({ name }) => name)
    .filter((name) => !hovers.has(name) && !new RegExp(`\\b${name}\\b`).test(prose));
  expect(unused).toEqual([]);
});
