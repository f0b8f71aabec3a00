// Prints how a page reads, per 1,000 words of running text: colons, semicolons, pronouns, and how often the reader is
// addressed. docs/contributing.md has the figures to aim at: `npx node docs/generators/prose.ts [file …]`
// With --absolute it lists the sentences with every, all, never, nothing or only instead: compare each with the code.
import { globSync, readFileSync } from 'node:fs';

const countWords = (text: string): number =>
  text.replace(/\]\([^)]*\)/g, ']').match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;

const isAbsolute = process.argv.includes('--absolute');
const files = process.argv.slice(2).filter((file) => file !== '--absolute');
let running = '';
for (const file of files.length > 0 ? files : ['README.md', ...globSync('docs/*.md').toSorted()]) {
  const written = readFileSync(file, 'utf8').replace(
    /<!-- generated: [\s\S]*?<!-- end: |^```[\s\S]*?^```$/gm,
    '',
  );
  const text = written.replace(/^[|#].*$/gm, '').replace(/`[^`]*`/g, 'code');
  if (isAbsolute) listAbsolute(file, written);
  else print(file, text, countWords(written));
  running += text;
}
if (!isAbsolute) print('all', running, countWords(running));

function listAbsolute(file: string, text: string): void {
  for (const part of text.replace(/\]\([^)]*\)/g, ']').split(/\n\n|\n(?=[|#-])/)) {
    for (const sentence of part.replace(/\s+/g, ' ').split(/(?<=[.:?]) (?=[A-Z`*])/)) {
      if (/\b(every|all|never|nothing|only)\b/i.test(sentence)) console.log(`${file}: ${sentence}`);
    }
  }
}

function print(name: string, text: string, words: number): void {
  const prose = text.replace(/\]\([^)]*\)/g, ']');
  const rate = (pattern: RegExp): string =>
    (((prose.match(pattern)?.length ?? 0) * 1_000) / countWords(prose)).toFixed(0);
  const figures = {
    colons: rate(/:(?=\s)/g),
    semicolons: rate(/;/g),
    pronouns: rate(/\b(it|its|that|this|one|they)\b/gi),
    reader: rate(/\b(you|we)\b/gi),
  };
  console.log(name.padEnd(30), `${words} words without code,`, JSON.stringify(figures));
}
