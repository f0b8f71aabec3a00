import { oneLine } from '../internal/text.ts';
import { fieldOf } from '../internal/thrown.ts';
import { redactAndCut, redactBounded, redactHeader, type Redact } from './redact.ts';

/** The parts of a response that an error shows. */
export interface FailedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Names the content type of a response for an error message, or says that there is none. */
export function describeType({ headers, text }: FailedResponse): string {
  if (text === '') return 'no body';
  return headers.get('content-type')?.split(';')[0] || 'no content type';
}

/** Reads the fields of an Error body. Each is checked, because a proxy's body may differ. */
export function errorBodyOf(body: unknown, redact: Redact) {
  const stringOf = (name: string): string | undefined => {
    const value = fieldOf(body, name);
    return typeof value === 'string' && value !== '' ? redactAndCut(value, redact) : undefined;
  };
  const details = redactBounded(fieldOf(body, 'details'), redact);
  return { message: stringOf('error'), code: stringOf('code'), details };
}

/** Returns the first words of a body that the platform did not write, such as a proxy's page. */
export function excerptOf(body: string): string {
  const text = oneLine(body.slice(0, 4_096).replace(/<[^<>]{0,500}>/g, ' '));
  if (text.length <= 120) return text;
  return `${text.slice(0, 120)}…`;
}

/**
 * Headers that an error does not show: cookies, and headers about the platform's message. Express,
 * Koa and Fastify would copy these from `error.headers` onto a response of their own.
 */
const hiddenHeader =
  /^(set-cookie|content-.*|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|cache-control)$/;

/** Copies the headers of a response for an error, redacted. */
export function headerRecordOf(headers: Headers, redact: Redact): Readonly<Record<string, string>> {
  const record: Record<string, string> = {};
  // A custom fetch may return headers without `forEach`. An error then shows no headers.
  (headers as Partial<Headers>).forEach?.((value, name) => {
    if (!hiddenHeader.test(name.toLowerCase())) {
      record[redact(name)] = redactAndCut(value, (text) => redactHeader(name, text, redact));
    }
  });
  return Object.freeze(record);
}

/** Usual headers for the id of a request. The API reference names none: docs/gaps.md, row 53. */
const requestIdHeaders = ['x-request-id', 'request-id', 'x-amzn-requestid', 'cf-ray'];

/** Reads the platform's id of a request from the first of the usual headers that is set. */
export function requestIdOf(headers: Headers, redact: Redact): string | undefined {
  const name = requestIdHeaders.find((header) => headers.get(header));
  if (name === undefined) return undefined;
  return oneLine(redactAndCut(headers.get(name) ?? '', redact));
}
