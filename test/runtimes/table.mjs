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

/** Who can do everything, and what the others cannot; written only when every cell is as it has to be. */
export const matrix = (rows) =>
  lines(
    rows.map((row) => {
      const cells = featureNames.map((feature) => [feature, cell(row, feature).got]);
      const others = cells.filter(([, got]) => got !== 'yes');
      const said = others.map(([feature, got]) => `${feature}: ${got.replace(/:.*/, '')}`);
      return [`**${said.join(', ') || 'everything'}**`, ...row.label.split(/, (.*)/)];
    }),
  );

export const list = (checks) =>
  lines(
    checks.map(({ name }) => {
      const [, what = name, where] =
        /^(an editor shows the text of) (.+)$/.exec(name) ??
        /^(.*?), (?:bundled by )?([\w.]+|\w+, msw)$/.exec(name) ??
        [];
      return [what, where];
    }),
  );

/** What is said of many in one line each: `- everything: Node 24 (ESM, CJS); Deno`; of very many, how many. */
function lines(told) {
  const groups = new Map();
  for (const [what, where, how] of told) {
    const places = groups.get(what) ?? new Map();
    groups.set(what, places);
    if (where) places.set(where, [...(places.get(where) ?? []), how ?? 'plain']);
  }
  return [...groups]
    .map(([what, places]) => {
      const named = [...places].map(([where, how]) =>
        how.join() === 'plain' ? where : `${where} (${how.join(', ')})`,
      );
      const said = named.length > 8 ? `${named.length} of them` : named.join('; ');
      return said === '' ? `- ${what}` : `- ${what}: ${said}`;
    })
    .join('\n');
}

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
