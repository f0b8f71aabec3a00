import { successReply, type Reply } from '../api/responses.ts';

export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export type JsonObject = { readonly [key: string]: Json };

/** The content of openapi.json (OpenAPI 3.1). Paths of the root API have a server of their own. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string; readonly [key: string]: Json }[];
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly [key: string]: unknown;
}

/** Creates the response to a request for openapi.json, with the URLs of the requested host. */
export function createOpenApiReply(
  document: OpenApiDocument,
  host: string | undefined,
  headers: Record<string, string>,
): Reply {
  const url = `http://${host}`;
  const paths: Record<string, JsonObject> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    paths[path] = item['servers'] === undefined ? item : { ...item, servers: [{ url }] };
  }
  const reply = successReply(200, { ...document, servers: [{ url: `${url}/v0` }], paths });
  return { ...reply, headers: { ...reply.headers, ...headers } };
}
