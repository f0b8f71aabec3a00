import type { OpenApiDocument } from './document.ts';

let cachedDocument: Promise<OpenApiDocument> | undefined;

/**
 * The description of the API. This module generates it for the first request; in the package it loads
 * `payments-platform-sdk/openapi.json` instead, see tsup.config.ts.
 */
export const openApi = (): Promise<OpenApiDocument> =>
  (cachedDocument ??= import('./generate.ts').then(({ generateOpenApi }) => generateOpenApi()));
