/** What moves the cursor of a terminal, rings or turns the direction of writing around. */
export const controls = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Foreign text for one line of a message: it must not start another line, such as "It did not take
 * effect.".
 */
export const oneLine = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(controls, '').trim();

/** A field of a foreign error, which may hold anything. */
export const fieldOf = (error: Error, name: string): unknown => Reflect.get(error, name);

/** The message of a foreign error, which need not be a string. */
export function messageOf(error: Error): string {
  const message = fieldOf(error, 'message');
  return typeof message === 'string' ? message : '';
}

/** Errors that are nested deeper are ignored: an error can be its own cause. */
export const maxErrorDepth = 8;

/** The message of the innermost cause. */
export function innermostMessageOf(error: Error, depth = 0): string {
  const cause = fieldOf(error, 'cause');
  if (!(cause instanceof Error) || depth === maxErrorDepth) return messageOf(error);
  return innermostMessageOf(cause, depth + 1);
}
