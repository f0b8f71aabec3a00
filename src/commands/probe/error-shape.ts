import { resolvePlatform } from '../../calls/platform.ts';
import type { Reading } from './platform-reader.ts';

/**
 * Compares error bodies with the documented form, or else finds the fields that they share.
 * `isErrorBody` is TypeScript that recognises these; absent if a proxy's error could look the same.
 */
export function describeErrorShape(errors: readonly Reading[]) {
  const accepts = resolvePlatform().isErrorBody;
  const isDocumented = errors.every(({ body }) => accepts(body));
  if (isDocumented) return { isDocumented, description: '' };
  const [first = [], ...others] = errors.map(({ body }) => scalarFields(body));
  const common = first.filter((field) => others.every((fields) => fields.includes(field)));
  if (common.length === 0) {
    const types = errors.map(({ headers, body }) => describeBody(headers, body));
    return { isDocumented, description: [...new Set(types)].join(', ') };
  }
  const description = `{ ${common.map((field) => field.split(':')[0]).join(', ')} }`;
  // One common field does not identify the platform, because a gateway's errors may be { message }, too.
  if (common.length < 2) return { isDocumented, description };
  return { isDocumented, description, isErrorBody: writeGuard(common) };
}

/** Paths and types of the fields of an object and of the objects in it, as `error.code:string`. */
function scalarFields(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, field]: [string, unknown]) => {
    // Skips names that are no identifiers, because the suggested TypeScript could not use them.
    if (!/^[A-Za-z_]\w{0,40}$/.test(name)) return [];
    const isScalar = ['string', 'number', 'boolean'].includes(typeof field);
    if (isScalar) return [`${prefix}${name}:${typeof field}`];
    return prefix === '' ? scalarFields(field, `${name}.`) : [];
  });
}

function writeGuard(fields: readonly string[]): string {
  const tests = fields.map((field) => {
    const [path = '', kind = ''] = field.split(':');
    return `typeof Object(body).${path.replaceAll('.', '?.')} === '${kind}'`;
  });
  return `(body) => ${tests.join(' && ')}`;
}

function describeBody(headers: Headers, body: unknown): string {
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content type';
  return body === undefined ? type : 'JSON without a common field';
}
