/**
 * An address that refuses every connection, in the shape of a server. No system assigns so low a
 * port, and `fetch` does not block it as it blocks port 1.
 */
export const closedPort = {
  port: 2,
  origin: 'http://127.0.0.1:2',
  baseUrl: 'http://127.0.0.1:2/v0',
} as const;
