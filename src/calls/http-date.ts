const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses a date header (Sun, 06 Nov 1994 08:49:37 GMT) to milliseconds since 1970; NaN without one. */
export function parseHttpDate(header: string | null): number {
  const text = header?.trim() ?? '';
  if (!httpDate.test(text)) return Number.NaN;
  return Date.parse(text);
}
