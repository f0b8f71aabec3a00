import type { OpenApiDocument } from './document.ts';

let cachedDocument: Promise<OpenApiDocument> | undefined;

/**
 * The OpenAPI document, generated at the first request. The package contains the finished document
 * instead of this module, see tsup.config.ts.
 */
export const openApi = (): Promise<OpenApiDocument> =>
  (cachedDocument ??= import('./generate.ts').then(({ generateOpenApi }) => generateOpenApi()));
