/** Statuses with which a `Response` cannot have a body. */
export const bodylessStatuses: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/** Whether the host name in a URL means this machine, as every name under `.localhost` does. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d{1,3}){3}$/.test(hostname);
