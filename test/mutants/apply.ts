import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A piece of the source, and what stands in its place. */
export interface Change {
  /** Below src. */
  readonly file: string;
  /** Occurs once in it. */
  readonly from: string;
  readonly to: string;
}

/** A way in which the source could be wrong. */
export interface Mutant {
  readonly name: string;
  readonly changes: readonly Change[];
  /** Where a test is known to see it: beginnings of paths below test. */
  readonly tests: readonly string[];
}

export const source = fileURLToPath(new URL('../../src', import.meta.url));

/** The text of every file that is changed, by its full path. Throws when a change does not apply. */
export function changedFiles({ name, changes }: Omit<Mutant, 'tests'>): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { file, from, to } of changes) {
    const path = join(source, file);
    const text = texts.get(path) ?? readFileSync(path, 'utf8');
    if (text.split(from).length !== 2) {
      throw new Error(`"${name}" does not apply: ${file} has to hold once\n${from}`);
    }
    texts.set(
      path,
      text.replace(from, () => to),
    );
  }
  return texts;
}
