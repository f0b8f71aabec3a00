// The text of llms.txt, for coding agents: rules, entry points, and links to the guides and the examples.
// The build writes it beside the package's code, and `npm run docs` at the root of the API reference.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entryPoints } from './public-api.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readText = (path: string): string => readFileSync(join(root, path), 'utf8');

const { bin, typedocOptions } = JSON.parse(readText('package.json')) as {
  bin: Record<string, string>;
  typedocOptions: { projectDocuments: string[] };
};

/** The guides in the package, in the order of the API reference. */
const guides = typedocOptions.projectDocuments.filter(
  (path) => !path.includes('*') && path !== 'docs/contributing.md',
);

/** The first sentence of a text, on one line and without links. */
const takeSentence = (text: string): string =>
  (/^[\s\S]*?[.:](?=\s|$)/.exec(text)?.[0] ?? text)
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)|\{@link (\w+)\}/g, '$1$2')
    .replace(/[.:]$/, '');

/** The paragraph at the beginning, or ''. A generated guide starts with how it was written. */
function takeProse(text: string): string {
  const first = text.split('\n\n').find((part) => !/^(#|Written by )/.test(part)) ?? '';
  return /^(\w|`\w)/.test(first) ? first : '';
}

/** The title of a document without its subtitle. */
export const takeTitle = (text: string): string | undefined => /^# ([^:,\n]+)/m.exec(text)?.[1];

const advice = `\
- Pay with \`transfers.createOnce\`, or \`createAllOnce\` for many. The client needs \`journal\`: \`sqliteJournal(path)\`, \`postgresJournal(query)\` or \`redisJournal(command)\` of \`/journals\`. Resolved means accepted, not arrived.
- \`description\` is the reference of one payment. To retry, make the same call; never invent another description.
- Never send \`transfers.create\` again after \`unknown\`, also not with \`createOnce\`: \`reconcile\` searches for the payment.
- Read \`outcome\`, \`retryable\`, \`code\` and \`reason\` of an error, never its message.
- Amounts are decimal strings (\`'12.50'\`). Ids are strings.
- Tests use \`Sandbox\`, without network.`;

/** The table of README.md that says what each outcome means, without its padding. */
function readOutcomes(base: string): string {
  const [table = ''] = /^\| `error\.outcome`.*(?:\n\|.*)+/m.exec(readText('README.md')) ?? [];
  return table.replace(/ +/g, ' ').replace(/-{3,}/g, '---').replaceAll('](docs/', `](${base}docs/`);
}

function describeEntryPoints(): string[] {
  return Object.entries(entryPoints).map(([name, path]) => {
    const [, text = ''] = /\/\*\*\n([\s\S]*?)\*\//.exec(readText(path)) ?? [];
    return `- \`${name}\`: ${takeSentence(text.replace(/^ \* ?/gm, ''))}`;
  });
}

function listMethods(): string[] {
  const spaces = Map.groupBy(
    readText('docs/api.md').matchAll(/^- `payments\.(\w+)\.(\w+)\(/gm),
    ([, space = '']) => space,
  );
  return [...spaces].map(
    ([space, methods]) =>
      `- \`payments.${space}\`: ${methods.map(([, , name]) => `\`${name}\``).join(', ')}`,
  );
}

/** The text; `base` leads from its folder to the root of the package. */
export function llmsText(base: string): string {
  const link = (path: string, title: string, about: string): string =>
    `- [${title}](${base}${path}): ${takeSentence(about)}`.replace(/: $/, '');
  const guideLinks = guides.map((path) => {
    const text = readText(path);
    return link(path, takeTitle(text) ?? path, takeProse(text));
  });
  const examples = globSync('examples/*.{ts,py}', { cwd: root }).toSorted();
  const exampleLinks = examples.map((path) => {
    const [comment = ''] = /^(\/\/ .*\n)+|^"""[^"]*/.exec(readText(path)) ?? [];
    return link(path, basename(path), comment.replace(/^(\/\/ |""")/gm, ''));
  });
  return `# payments-platform-sdk

> ${takeProse(readText('README.md')).replaceAll('\n', ' ').replaceAll('**', '')}

## Rules

${advice}

${readOutcomes(base)}

## Entry points

${describeEntryPoints().join('\n')}
- commands: ${Object.keys(bin).join(', ')}

${listMethods().join('\n')}

## Guides

- [README](${base}README.md)
${guideLinks.join('\n')}
- [openapi.json](openapi.json): The HTTP API

## Examples

${exampleLinks.join('\n')}
- \`examples/services\`: web service, queue, webhooks, logs, traces, Worker
`;
}
