/* Errors of the runtime's and of the user's, which may have anything in any place. */

/** An error's message; one that a user's function threw may have anything in its place. */
export function messageOf(error: Error): string {
  const message = fieldOf(error, 'message');
  return typeof message === 'string' ? message : '';
}

/** A field of somebody else's error; a getter that throws counts as undefined. */
export function fieldOf(error: Error, name: string): unknown {
  try {
    return Reflect.get(error, name);
  } catch {
    return undefined;
  }
}
