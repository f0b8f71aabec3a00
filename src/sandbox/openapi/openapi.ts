import type { OpenApiDocument } from './document.ts';

let cachedDocument: Promise<OpenApiDocument> | undefined;

/**
 * The description of the API, which is generated for the first request. The package contains what was
 * generated during its build, see tsup.config.ts.
 */
export const openApi = (): Promise<OpenApiDocument> =>
  (cachedDocument ??= import('./generate.ts').then(({ generateOpenApi }) => generateOpenApi()));
