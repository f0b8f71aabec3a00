/** What moves the cursor of a terminal, rings or turns the direction of writing around. */
export const controls = /(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu;

/**
 * Somebody else's words for a message of ours: they must not begin a line of their own there, such
 * as "It did not take effect.".
 */
export const oneLine = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(controls, '').trim();

/** A text without slashes at its end. */
export const trimTrailingSlashes = (text: string): string =>
  // Tried at the first of several slashes only: at each of them, it takes seconds for a long text.
  text.replace(/(?<!\/)\/+$/, '');

/** A field of somebody else's error, which may hold anything. */
export const fieldOf = (error: Error, name: string): unknown => Reflect.get(error, name);

/** Its message, which need not be a text either. */
export function messageOf(error: Error): string {
  const message = fieldOf(error, 'message');
  return typeof message === 'string' ? message : '';
}
