import { expect } from 'vitest';
import type { Sandbox } from 'payments-platform-sdk/sandbox';
import { parseJson, stringifyJson } from '../../src/internal/json.ts';

export interface ReceivedResponse {
  status: number;
  headers: Headers;
  body: unknown;
}

const rootPaths = /^\/(instruction\/|instructions\/|transactions)/;

/** The headers of a caller who holds the right credential for a path. */
export const authorised = (sandbox: Sandbox, path: string): Record<string, string> => ({
  authorization: `Bearer ${rootPaths.test(path) ? sandbox.jwt : sandbox.apiKey}`,
  'content-type': 'application/json',
});

/** Calls a path of the API: root paths as they are, all others under /v0. */
export async function call(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: unknown,
): Promise<ReceivedResponse> {
  const url = `https://api.example.com${rootPaths.test(path) ? '' : '/v0'}${path}`;
  const headers = authorised(sandbox, path);
  const text = body === undefined ? undefined : stringifyJson(body);
  const response =
    method === 'GET' && text !== undefined
      ? await sandbox.getWithBody(new Request(url, { headers }), text)
      : await sandbox.fetch(url, {
          method,
          headers,
          ...(text === undefined ? {} : { body: text }),
        });
  return responseOf(response);
}

export async function responseOf(response: Response): Promise<ReceivedResponse> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : parseJson(text),
  };
}

/* Matchers of vitest, which types them as `any`. */
export const aString: unknown = expect.any(String);
export const containing = (part: string): unknown => expect.stringContaining(part);
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
export const having = (part: object): unknown => expect.objectContaining(part);
