import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';

/*
 * Finds words that this project does not use, in names, comments, titles, messages and docs:
 * npm run words                 all files; fails if there is a finding
 * npm run words -- src/calls    only files below these paths
 */

/** What to write instead of a word; the words are separate parts of a name, or words of a text. */
const replacements: readonly (readonly [pattern: string, instead: string])[] = [
  ['answer|answers|answered|answering|unanswered', 'response, respond'],
  ['wire|wires|wired', 'transport'],
  ['told|tells|telling|said|saith', 'report, describe, message, hint'],
  ['gate|gates', 'rate limiter'],
  ['judged|judge|judges|ruled', 'check, validator'],
  ['whoever|somebody|nobody|anybody|everybody|whose', 'the caller, the process, the passive'],
  ['begun|begin|begins|began', 'start; claimedAt of a claim'],
  ['settle|settles|settled|unsettled', 'flushPromises, resolve; settlement moves funds'],
  ['mend|mends|mended|remedy|remedies', 'fix, hint'],
  [
    'entrance|kin|lookalike|lookalikes|deed|deeds|furnished|patience|strike|struck',
    'see the glossary of words in docs/contributing.md',
  ],
  ['heeded|vouch|vouches|bottomless|spoilt|stranger|strangers', 'plain words'],
  ['walk|walks|walked|walking', 'iteration, scan, pass'],
  ['refuse|refuses|refusing|refusal|refusals', 'reject, invalid'],
  ['house|houses|door|doors|floor|floors', 'repository, entry point, layer'],
];

/** The same in texts only. */
const phrases: readonly (readonly [pattern: string, instead: string])[] = [
  ['for ever', 'permanently, always'],
  ['in earnest', 'in production'],
  ['in the place of', 'instead of'],
  ['behind (?:our|its|their|your) backs?', 'without our knowledge'],
  ['the document', 'the API reference'],
  ['hands? out|handed out', 'returns'],
  ['takes? (?:off|out)|taken (?:off|out)', 'removes'],
  ["(?:a|the) person(?:'s word)?|by a person", 'an operator'],
  ['(?:is|are|was) at it', 'in progress'],
  ['(?:a|the|one|two|first|second|next|later|earlier) looks?(?= [a-z])(?! like)', 'lookup, search'],
  ['stands? still|stood still', 'is suspended'],
  ['(?:has|have|had) left', 'aborted, was sent'],
  ['the dear ones', 'expensive retries'],
  ['decimal text', 'decimal string'],
  ['refused', 'rejected, invalid'],
];

/** Names that are nothing but a participle or an adjective: add the noun or the verb. */
const bareNames = new Set(
  'own given wanted asked found known shown copied defined narrowed ready changed soon later ever ways told said rule rules longest besides'.split(
    ' ',
  ),
);

/** Standing terms that contain one of the words, each with its reason. */
const exceptions: readonly (readonly [term: RegExp, reason: string])[] = [
  [
    /connections? (?:is |was |are |being )?refused|refused connections?|refuses? (?:every |all |the )?connections?|ECONNREFUSED|CONNECT was refused/gi,
    'the system’s own word for a closed port',
  ],
  [
    /\bwire transfers?\b|`wire`|'wire'|"wire"|\bbook, wire\b|\bon-chain or wire\b|on_chain, wire/gi,
    'a type of transfer in the API reference',
  ],
  [/Promise\.allSettled|allSettled|PromiseSettledResult/g, 'JavaScript’s own name'],
  [/settlement/gi, 'the movement of funds between institutions'],
  [/String\.prototype\.beginsWith|aggregate/gi, 'another word'],
];

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

const wordPatterns = replacements.map(
  ([pattern, instead]) => [new RegExp(`^(?:${pattern})$`, 'i'), instead] as const,
);
const textPatterns = [...replacements, ...phrases].map(
  ([pattern, instead]) =>
    [new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${pattern})(?![\\p{L}\\p{N}_])`, 'giu'), instead] as const,
);

const withoutExceptions = (text: string): string =>
  exceptions.reduce(
    (rest, [term]) => rest.replace(term, (match) => ' '.repeat(match.length)),
    text,
  );

const partsOf = (name: string): string[] =>
  name.split(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+/).filter(Boolean);

function checkName(name: string, at: (found: string, instead: string) => void): void {
  if (withoutExceptions(name).trim() === '') return;
  for (const part of partsOf(name)) {
    for (const [pattern, instead] of wordPatterns) {
      if (pattern.test(part)) at(name, instead);
    }
  }
}

function checkText(
  text: string,
  at: (found: string, instead: string, index: number) => void,
): void {
  const clean = withoutExceptions(text);
  for (const [pattern, instead] of textPatterns) {
    for (const match of clean.matchAll(pattern)) at(match[0], instead, match.index);
  }
}

const titleCalls = new Set(['test', 'it', 'describe']);

/** The function that a call such as `test.each(rows)(title, …)` goes back to. */
function rootOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node))
    return rootOf(node.expression);
  return '';
}

function checkSource(file: string, text: string): Finding[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const findings: Finding[] = [];
  const add =
    (position: number) =>
    (found: string, instead: string, index = 0): void => {
      const { line } = source.getLineAndCharacterOfPosition(position + index);
      findings.push({ file, line: line + 1, found, instead });
    };
  const isSource = file.startsWith('src/');
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      const { parent } = node;
      const isDeclared =
        'name' in parent && parent.name === node && !ts.isPropertyAccessExpression(parent);
      if (isDeclared) {
        checkName(node.text, add(node.getStart(source)));
        const isValue =
          ts.isVariableDeclaration(parent) ||
          ts.isParameter(parent) ||
          ts.isFunctionDeclaration(parent) ||
          ts.isBindingElement(parent);
        if (isValue && bareNames.has(node.text)) {
          add(node.getStart(source))(node.text, 'add the noun or the verb');
        }
      }
    }
    const isText =
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node);
    if (isText) {
      const call = node.parent;
      const isTitle =
        ts.isCallExpression(call) &&
        call.arguments[0] === node &&
        titleCalls.has(rootOf(call.expression));
      if (isTitle || (isSource && node.text.includes(' '))) {
        checkText(node.text, add(node.getStart(source)));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  const seen = new Set<number>();
  const checkComments = (position: number): void => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, position) ?? []),
      ...(ts.getTrailingCommentRanges(text, position) ?? []),
    ]) {
      if (seen.has(range.pos)) continue;
      seen.add(range.pos);
      checkText(
        text
          .slice(range.pos, range.end)
          .replaceAll(/\n\s*\*/g, (gap) => ` ${' '.repeat(gap.length - 1)}`),
        add(range.pos),
      );
    }
  };
  const visitComments = (node: ts.Node): void => {
    checkComments(node.getFullStart());
    checkComments(node.getEnd());
    ts.forEachChild(node, visitComments);
  };
  visitComments(source);
  return findings;
}

function checkProse(file: string, text: string): Finding[] {
  const findings: Finding[] = [];
  checkText(text, (found, instead, index) => {
    findings.push({ file, line: text.slice(0, index).split('\n').length, found, instead });
  });
  return findings;
}

const { positionals } = parseArgs({ allowPositionals: true });
const paths =
  positionals.length > 0 ? positionals : ['src', 'test', 'docs', 'examples', 'README.md'];
const files = execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' })
  .split('\n')
  // This list names the words itself.
  .filter((file) => /\.(?:tsx?|mjs|md)$/.test(file) && !file.endsWith('/words.ts'));

const findings = files.flatMap((file) => {
  const text = readFileSync(file, 'utf8');
  const inName: Finding[] = [];
  checkName(basename(file), (found, instead) => inName.push({ file, line: 1, found, instead }));
  return [...inName, ...(file.endsWith('.md') ? checkProse(file, text) : checkSource(file, text))];
});
for (const { file, line, found, instead } of findings) {
  process.stdout.write(`${file}:${line} "${found}": ${instead}\n`);
}
process.stdout.write(`${findings.length} words to replace in ${files.length} files\n`);
process.exitCode = findings.length > 0 ? 1 : 0;
