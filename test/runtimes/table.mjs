// The generated part of docs/runtimes.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { featureNames } from './story.mjs';
import { root } from './setup.mjs';

const file = join(root, 'docs/runtimes.md');
const markers = (name) => [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];

/** Whether a cell is as it has to be, and how it reads. */
export function cell({ results, expected }, feature) {
  const got = results[feature] ?? results.import ?? 'it was not told';
  const wanted = expected[feature] ?? 'yes';
  return { ok: got === wanted, got, wanted };
}

export const matrix = (rows) =>
  table(
    ['', ...featureNames],
    rows.map((row) => [
      row.label,
      ...featureNames.map((feature) => {
        const { ok, got } = cell(row, feature);
        return ok ? got.replace(/:.*/, '') : 'FAILED';
      }),
    ]),
  );

export const list = (checks) =>
  table(
    ['checked', ''],
    checks.map(({ name, ok }) => [name, ok ? 'yes' : 'FAILED']),
  );

const table = (head, lines) =>
  [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');

/** Puts the parts between their markers; answers whether the file was like that before. */
export async function document(parts, { update }) {
  const before = readFileSync(file, 'utf8');
  let text = before;
  for (const [name, part] of Object.entries(parts)) {
    const [start, end] = markers(name);
    const [from, to] = [text.indexOf(start), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`docs/runtimes.md lacks the markers of ${name}`);
    text = `${text.slice(0, from + start.length)}\n\n${part}\n\n${text.slice(to)}`;
  }
  const { default: prettier } = await import(
    createRequire(join(root, 'package.json')).resolve('prettier')
  );
  const options = await prettier.resolveConfig(file);
  const after = await prettier.format(text, { ...options, parser: 'markdown' });
  if (update && after !== before) writeFileSync(file, after);
  return after === before;
}
