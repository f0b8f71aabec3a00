// The page "HTTP API" of the API reference, generated from the description of the API.
import { openApi } from '../../src/sandbox/openapi/openapi.ts';

interface Content {
  readonly content?: { readonly 'application/json': { readonly example?: unknown } };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

interface Components {
  readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
}

const formatNames = (names: readonly string[]): string =>
  names.map((name) => `\`${name}\``).join(', ');

function formatExample(title: string, from: Content | undefined): string[] {
  const example = from?.content?.['application/json'].example;
  const json = JSON.stringify(example, null, 2);
  return example === undefined ? [] : [`${title}:`, `\`\`\`json\n${json}\n\`\`\``];
}

const formatRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The page in Markdown. A method is `{@link …}`, which the plugin resolves. */
export async function httpApiPage(): Promise<string> {
  const { paths, components } = await openApi();
  // The description has the type of any JSON.
  const { securitySchemes, responses } = components as Components;
  const calls = Object.entries(paths).flatMap(([path, { servers, ...methods }]) =>
    Object.entries(methods as Readonly<Record<string, unknown>>)
      .filter(([method]) => !method.startsWith('x-'))
      .map(([method, operation]) => ({
        request: `${method.toUpperCase()} ${servers === undefined ? '/v0' : ''}${path}`,
        operation: operation as Operation,
      })),
  );
  const rows = calls.map(({ request, operation: { operationId, security, responses: all } }) =>
    formatRow([
      `\`${request}\``,
      `{@link ${operationId}}`,
      formatNames(security.flatMap((each) => Object.keys(each))),
      Object.keys(all)
        .filter((status) => status !== 'default')
        .join(', '),
    ]),
  );
  const details = calls.flatMap(({ request, operation }) => [
    `## ${request}`,
    `${operation.summary}: {@link ${operation.operationId}}.`,
    ...(operation.parameters === undefined
      ? []
      : [`Parameters: ${formatNames(operation.parameters.map(({ name }) => name))}.`]),
    ...formatExample('Body', operation.requestBody),
    ...formatExample('Response', Object.values(operation.responses)[0]),
  ]);
  return [
    '# HTTP API',
    `Every operation that the SDK calls, for programs in other languages. [openapi.json](../openapi.json) has
the same with every field (OpenAPI 3.1), and [llms.txt](../llms.txt) is a map of this site for coding agents.`,
    [
      formatRow(['request', 'method', 'credential', 'responses']),
      formatRow(['---', '---', '---', '---']),
      ...rows,
    ].join('\n'),
    '## Credentials',
    Object.entries(securitySchemes)
      .map(([name, { description }]) => `- \`${name}\`: ${description}`)
      .join('\n'),
    '## Errors',
    'A response with any other status may have the same body.',
    ...['Unauthorized', 'NotFound', 'Failure'].flatMap((name) =>
      formatExample(responses[name]?.description.replace(/\.$/, '') ?? name, responses[name]),
    ),
    ...details,
  ].join('\n\n');
}
