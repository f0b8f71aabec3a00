/**
 * Parameters of every check of the client's own: the schemas bring their messages, and an application's
 * `z.config` reaches every zod of a process and may throw.
 */
export const withoutMessage = { error: (): string => 'Invalid input' };
