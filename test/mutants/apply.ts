import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A part of the source and its replacement. */
export interface Change {
  /** A file or a folder below src. */
  readonly place: string;
  /** Text that occurs once in `place`. */
  readonly from: string;
  readonly to: string;
}

/** A planted mistake in the source. */
export interface Mutant {
  readonly name: string;
  readonly changes: readonly Change[];
  /** Tests that notice the mistake, as prefixes of paths below test. */
  readonly tests: readonly string[];
}

export const source = fileURLToPath(new URL('../../src', import.meta.url));

/** The texts of the changed files by their full path. Throws if a change does not apply. */
export function changedFiles({ name, changes }: Omit<Mutant, 'tests'>): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { place, from, to } of changes) {
    const found = listFiles(place).filter((path) => readFileSync(path, 'utf8').includes(from));
    const [path] = found;
    const text = path === undefined ? '' : (texts.get(path) ?? readFileSync(path, 'utf8'));
    if (path === undefined || found.length > 1 || text.split(from).length !== 2) {
      throw new Error(`"${name}" does not apply: ${place} has to hold once\n${from}`);
    }
    texts.set(
      path,
      text.replace(from, () => to),
    );
  }
  return texts;
}

/** The files that a mutant changes. None if it does not apply, which chaos.test.ts reports. */
export function changesOf(mutant: Mutant): readonly string[] {
  try {
    return [...changedFiles(mutant).keys()];
  } catch {
    return [];
  }
}

/** The files of a place by their full path. */
function listFiles(place: string): string[] {
  const path = join(source, place);
  if (/\.tsx?$/.test(place)) return [path];
  return globSync('**/*.{ts,tsx}', { cwd: path }).map((file) => join(path, file));
}
