/**
 * Makes a value at its first use. Making all schemas takes as long as loading the rest of the package, and
 * a process needs a few: docs/decisions/where-the-time-goes.md. The comment below lets bundlers drop unused
 * schemas.
 */
/* @__NO_SIDE_EFFECTS__ */
export function lazy<T>(make: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= make());
}

/**
 * Parameters of every check of the client's own: the schemas bring their messages, and an application's
 * `z.config` reaches every zod of a process and may throw.
 */
export const withoutMessage = { error: (): string => 'Invalid input' };
