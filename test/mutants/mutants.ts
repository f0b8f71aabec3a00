import { readFileSync } from 'node:fs';
import type { Mutant } from './apply.ts';

const text = readFileSync(new URL('mutants.diff', import.meta.url), 'utf8');

const section = /^@@ (\S+) @@ (.+)\n((?:.+\n)+)/gm;
const entry = /^([^-+\n].*?)(?: @ (.+))?\n((?:[-+] .*\n)+)/gm;
const change = /((?:- .*\n)+)((?:\+ .*\n)*)/g;
const removeMarkers = (lines: string): string => lines.slice(0, -1).replaceAll(/^[-+] /gm, '');

const parsed: Mutant[] = [];
const rest = text.replaceAll(section, (_, place: string, defaultTests: string, entries: string) =>
  entries.replaceAll(entry, (_, name: string, tests: string | undefined, lines: string) => {
    const changes = Array.from(lines.matchAll(change), ([, from = '', to = '']) => ({
      place,
      from: removeMarkers(from),
      to: removeMarkers(to),
    }));
    parsed.push({ name, changes, tests: (tests ?? defaultTests).split(' ') });
    return '';
  }),
);
const stray = rest.split('\n').find((line) => line !== '' && !line.startsWith('#'));
if (stray !== undefined) throw new Error(`mutants.diff: unknown line: ${stray}`);

export const mutants: readonly Mutant[] = parsed;
