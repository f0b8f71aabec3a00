import type { OpenApiDocument } from './document.ts';

let cachedDocument: Promise<OpenApiDocument> | undefined;

/**
 * The description of the API, generated at the first request. The package contains the description
 * that its build generated instead of this module, see tsup.config.ts.
 */
export const openApi = (): Promise<OpenApiDocument> =>
  (cachedDocument ??= import('./generate.ts').then(({ generateOpenApi }) => generateOpenApi()));
