import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// The public declarations, kept in the repository, so that no change of them goes by unseen. A
// change that is meant: `npm run build && npx vitest run --config test/vitest.config.ts
// test/repository/api-report.test.ts -u`, and a line in the changelog.

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const entries = [
  'index',
  'schemas/index',
  'journals/index',
  'sandbox/index',
  'sandbox/server',
  'sandbox/msw',
];

/** The file, and those that it takes types from, each once. */
function withSources(file: string, seen: Map<string, string>): Map<string, string> {
  if (seen.has(file)) return seen;
  const text = readFileSync(file, 'utf8');
  seen.set(file, text);
  for (const [, path = ''] of text.matchAll(/from '(\.[^']+)'/g)) {
    withSources(join(dirname(file), path.replace(/\.js$/, '.d.ts')), seen);
  }
  return seen;
}

/** Shared files are named after what is in them; the name says nothing that the text does not. */
const steady = (text: string): string => text.replaceAll(/-[\w-]{8}(?=(?:\.d)?\.(?:js|ts)\b)/g, '');

test('the public declarations are those of the report', async () => {
  const files = new Map<string, string>();
  for (const entry of entries) withSources(join(dist, `${entry}.d.ts`), files);
  const parts = [...files].map(([file, text]) => `// ${relative(dist, file)}\n${text}`);
  const report = steady(parts.join('\n'));
  expect(report).toContain('declare class PaymentsClient');
  await expect(report).toMatchFileSnapshot('../runtimes/api-report.d.ts');
});

test('what require() finds is declared as what import finds', () => {
  for (const entry of entries) {
    const declared = ['ts', 'cts'].map((ending) =>
      steady(readFileSync(join(dist, `${entry}.d.${ending}`), 'utf8'))
        .replaceAll(/\.c?js'/g, "'")
        .replaceAll(/-[\w-]{8}(?=')/g, ''),
    );
    expect(declared[1]).toBe(declared[0]);
  }
});
