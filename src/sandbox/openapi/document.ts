import { successReply, type Reply } from '../api/responses.ts';

export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export type JsonObject = { readonly [key: string]: Json };

/** An item of `servers` in openapi.json: the URL that a client puts in front of each path. */
interface OpenApiServer {
  readonly url: string;
  readonly [key: string]: Json;
}

/** The content of openapi.json (OpenAPI 3.1). Paths of the root API have a server of their own. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly servers: readonly OpenApiServer[];
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly [key: string]: unknown;
}

/** Returns the OpenAPI document with the URLs of the server that sends it. */
const withServerUrls = (
  document: OpenApiDocument,
  { baseUrl, rootUrl }: { readonly baseUrl: string; readonly rootUrl: string },
): OpenApiDocument => ({
  ...document,
  servers: [{ url: baseUrl }],
  paths: Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path,
      item['servers'] === undefined ? item : { ...item, servers: [{ url: rootUrl }] },
    ]),
  ),
});

/** Creates the response to a request for openapi.json, with the URLs of the requested host. */
export function createOpenApiReply(
  document: OpenApiDocument,
  host: string | undefined,
  headers: Record<string, string>,
): Reply {
  const rootUrl = `http://${host}`;
  const reply = successReply(200, withServerUrls(document, { baseUrl: `${rootUrl}/v0`, rootUrl }));
  return { ...reply, headers: { ...reply.headers, ...headers } };
}
