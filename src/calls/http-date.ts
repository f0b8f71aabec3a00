/** As HTTP writes dates: Sun, 06 Nov 1994 08:49:37 GMT. */
const preferred = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** As C writes them, which RFC 9110 has recipients read too, as UTC: Sun Nov  6 08:49:37 1994. */
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** The time that a header gives, in milliseconds since 1970; NaN when it gives none. */
export function httpDate(header: string | null): number {
  const text = header?.trim() ?? '';
  if (preferred.test(text)) return Date.parse(text);
  return asctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
