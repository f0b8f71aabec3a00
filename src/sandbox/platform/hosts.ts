/** Returns the host name, without the port, in a Host header or in an origin without its scheme. */
export const parseHostName = (host: string): string | undefined =>
  /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\]+)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();

/** Whether the host name in a URL means the loopback interface of this machine. */
export const isLoopback = (name: string): boolean =>
  name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
