/** Returns the host name, without the port, in a Host header or in an origin without its scheme. */
export const parseHostName = (host: string): string | undefined =>
  /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();
