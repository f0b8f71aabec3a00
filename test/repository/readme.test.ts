import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expected } from '../support/warnings.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${folder}README.md`, 'utf8');

test('every file and folder that test/README.md names exists', () => {
  const paths = [...readme.matchAll(/`([\w.-]+\/[\w./-]*|[\w.-]+\.ts)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !/^(?:docs|src|test|origin)\//.test(path));
  expect(paths.length).toBeGreaterThan(60);
  expect(paths.filter((path) => !existsSync(`${folder}${path}`))).toEqual([]);
});

test('test/README.md has a section for every folder of test/', () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory());
  const names = folders.map(({ name }) => name);
  expect(names.filter((name) => !readme.includes(`\`${name}/\``))).toEqual([]);
});

test('every file whose tests may print warnings exists', () => {
  const files = Object.keys(expected).map((name) => `${folder}${name}.test.ts`);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});
