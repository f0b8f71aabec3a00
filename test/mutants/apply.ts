import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A part of the source and its replacement. */
export interface Change {
  /** Below src. */
  readonly file: string;
  /** Occurs once in it. */
  readonly from: string;
  readonly to: string;
}

/** A mistake in the source. */
export interface Mutant {
  readonly name: string;
  readonly changes: readonly Change[];
  /** Tests that notice it, as prefixes of paths below test. */
  readonly tests: readonly string[];
}

export const source = fileURLToPath(new URL('../../src', import.meta.url));

/** The changed files by their full path. Throws if a change does not apply. */
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
