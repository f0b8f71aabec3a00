// The generated part of docs/runtimes.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { featureNames } from './story.mjs';
import { root } from './setup.mjs';

const file = join(root, 'docs/runtimes.md');
const markers = (name) => [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];

/** The result of a feature on a runtime, and whether it is the expected one. */
export function cell({ results, expected }, feature) {
  const got = results[feature] ?? results.import ?? 'no result';
  const expectedResult = expected[feature] ?? 'yes';
  return { ok: got === expectedResult, got, expected: expectedResult };
}

/** The runtimes that can do everything, and the limits of the others. */
export const formatMatrix = (rows) =>
  formatGroups(
    rows.map((row) => {
      const cells = featureNames.map((feature) => [feature, cell(row, feature).got]);
      const others = cells.filter(([, got]) => got !== 'yes');
      const summary = others.map(([feature, got]) => `${feature}: ${got.replace(/:.*/, '')}`);
      return [`**${summary.join(', ') || 'everything'}**`, ...row.label.split(/, (.*)/)];
    }),
  );

export const formatChecks = (checks) =>
  formatGroups(
    checks.map(({ name }) => {
      const [, fact = name, place, variant] =
        /^(an editor shows the text of) (.+)$/.exec(name) ??
        /^(.*?), (\w+), (ESM|CJS|executable)$/.exec(name) ??
        /^(.*?), (?:bundled by )?([\w.]+(?: on [\w.]+)?|\w+, msw)$/.exec(name) ??
        [];
      return [fact, place, variant];
    }),
  );

/** Groups rows by fact: `- everything: Node 24 (ESM, CJS); Deno`. Long groups are counted. */
function formatGroups(rows) {
  const groups = new Map();
  for (const [fact, place, variant] of rows) {
    const places = groups.get(fact) ?? new Map();
    groups.set(fact, places);
    if (place) places.set(place, [...(places.get(place) ?? []), variant ?? 'plain']);
  }
  return [...groups]
    .map(([fact, places]) => {
      const named = [...places].map(([place, variant]) =>
        variant.join() === 'plain' ? place : `${place} (${variant.join(', ')})`,
      );
      const summary = named.length > 8 ? `${named.length} of them` : named.join('; ');
      return summary === '' ? `- ${fact}` : `- ${fact}: ${summary}`;
    })
    .join('\n');
}

/** Writes the parts between their markers. Returns whether the file was current. */
export async function updateDocument(parts, { update }) {
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
