/**
 * An address where every connection is refused, in the shape of a server. No system hands out so low
 * a port by itself, and `fetch` has no rule against this one, as it has against port 1.
 */
export const closedPort = {
  port: 2,
  origin: 'http://127.0.0.1:2',
  baseUrl: 'http://127.0.0.1:2/v0',
} as const;
