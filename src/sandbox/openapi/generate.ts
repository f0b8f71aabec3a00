import { version } from '../../version.ts';
import { operationPaths } from '../api/operations.ts';
import { routes, type Route } from '../api/routes.ts';
import {
  getOperationGaps,
  getSchemaNames,
  operationsWithKnownStatus,
  pathGaps,
  records,
  summaries,
} from './annotations.ts';
import { readDocstrings, type TypeDocs } from './docstrings.ts';
import type { Json, JsonObject, OpenApiDocument } from './document.ts';
import { collectExamples, type Example } from './examples.ts';
import { createParameters, createSchemas, findSchemaName, mergeGaps } from './schemas.ts';

const description = `What the SDK payments-platform-sdk sends and accepts.

Wherever the reference of the platform does not show something, \`x-gap\` names the rows of docs/gaps.md in that package: what is missing, and what is assumed instead.

**Paging.** Lists of the versioned API return a page: send its \`nextCursor\` as \`cursor\`, with the same \`limit\`, until \`hasMore\` is false. \`GET /transactions\` takes \`skip\` and \`take\`, and ends with an empty list.

**Sending money once.** No idempotency key is documented. After a failure without a response, search the list for the \`description\` before you send a Transfer again.`;

const toContent = (schema: string, example: Json | undefined): JsonObject => ({
  'application/json': {
    schema: { $ref: `#/components/schemas/${schema}` },
    ...(example === undefined ? {} : { example }),
  },
});

const refTo = (name: string): JsonObject => ({ $ref: `#/components/responses/${name}` });

/**
 * Describes the responses of an operation by status. Row 28 of docs/gaps.md applies where the API
 * reference does not show the status of a success.
 */
function describeResponses(route: Route, example: Example | undefined): JsonObject {
  const { id, response } = getSchemaNames(route.operation);
  const success: JsonObject = {
    description: response === undefined ? 'Done; any body is ignored.' : 'Success.',
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
    ...(response === undefined ? {} : { content: toContent(response, example?.response) }),
    ...mergeGaps(operationsWithKnownStatus.includes(route.operation) ? undefined : 28),
  };
  // The API reference shows a 404 response only for this operation.
  const notFoundName = route.operation === 'counterparties.get' ? 'NotFound' : 'AssumedNotFound';
  return {
    [String(route.status)]: success,
    '401': refTo('Unauthorized'),
    ...(id === undefined ? {} : { '404': refTo(notFoundName) }),
    default: refTo('Failure'),
  };
}

/** Describes an operation with its parameters, its body, its responses and an example call. */
function describeOperation(
  route: Route,
  example: Example | undefined,
  docs: ReadonlyMap<string, TypeDocs>,
): JsonObject {
  const { operation, body, query } = route;
  const { id, response = '' } = getSchemaNames(operation);
  const idParameter = {
    name: 'id',
    in: 'path',
    required: true,
    schema: { $ref: `#/components/schemas/${id}` },
  };
  // A list that returns `AccountPage` has query parameters of the type `AccountListQuery`.
  const queryType = response.replace(/Page$/, 'ListQuery');
  const parameters = [
    ...(id === undefined ? [] : [idParameter]),
    ...(query === undefined ? [] : createParameters(query, queryType, docs)),
  ];
  const bodyName = body && findSchemaName(body);
  if (body !== undefined && bodyName === undefined) throw new Error(`${operation}: unnamed body`);
  return {
    operationId: operation,
    tags: [operation.split('.')[0] ?? ''],
    summary: summaries[operation],
    security: [route.api === 'versioned' ? { apiKey: [] } : { jwt: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(bodyName === undefined
      ? {}
      : { requestBody: { required: true, content: toContent(bodyName, example?.body) } }),
    responses: describeResponses(route, example),
    ...mergeGaps(...getOperationGaps(operation)),
  };
}

const describeFailure = (text: string, { response }: Example, ...gaps: number[]): JsonObject => ({
  description: text,
  headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
  content: toContent('ErrorBody', response),
  ...mergeGaps(gaps),
});

/**
 * Generates openapi.json from the schemas, the routes and example calls of a sandbox. Each number
 * in `x-gap` is a row of docs/gaps.md, and names something that the API reference does not show.
 */
export async function generateOpenApi(): Promise<OpenApiDocument> {
  const [docs, examples] = await Promise.all([readDocstrings(), collectExamples()]);
  const variables = {
    host: { default: 'api.example.com', description: 'The host of your Platform.' },
  };
  const rootServer = { url: 'https://{host}', description: 'Without a version.', variables };
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = operationPaths[route.operation].split(' ')[1]?.replace(/^\/v0/, '') ?? '';
    // Several operations may share a path. The first adds what applies to the path as a whole.
    paths[path] ??= {
      ...(route.api === 'root' ? { servers: [rootServer] } : {}),
      ...mergeGaps(pathGaps[path]),
    };
    const example = examples.successes.get(route.operation);
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: describeOperation(route, example, docs),
    };
  }
  const { unauthorized, notFound, invalid } = examples;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payments Platform API as payments-platform-sdk assumes it',
      version,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
      'x-gap': 57,
    },
    servers: [
      { url: 'https://{host}/v0', description: 'The versioned API.', variables, 'x-gap': 58 },
    ],
    tags: Object.entries(records).map(([name, { about }]) => ({ name, description: about })),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, which starts with `sk_`, for paths under `/v0`.',
          'x-gap': [43, 45],
        },
        jwt: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A JWT, for paths without a version.',
          'x-gap': [43, 44, 45],
        },
      },
      headers: {
        RequestId: {
          description: 'Identifies the request.',
          schema: { type: 'string' },
          'x-gap': 53,
        },
      },
      responses: {
        Unauthorized: describeFailure('No valid credential.', unauthorized),
        NotFound: describeFailure('No such record.', notFound),
        AssumedNotFound: describeFailure('No such record.', notFound, 47),
        Failure: describeFailure('Any other failure.', invalid, 47, 49, 50, 52),
      },
      schemas: createSchemas(docs),
    },
  };
}
