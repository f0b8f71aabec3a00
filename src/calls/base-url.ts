/**
 * What is wrong with a URL for requests, without showing it; undefined when nothing is. Its path must end
 * in `end`.
 */
export function urlProblem(value: unknown, end: string): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) {
    return `it is not an absolute URL, such as https://api.example.com${end}`;
  }
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    return 'it holds a user name or password; take them out';
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(value)) {
    return 'it holds a query or a fragment; take it out';
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    return 'it must use https; plain http would show the credential to the network, and is allowed on loopback addresses only';
  }
  // Not the host: one may be called v0.
  if (!new URL(withoutSlash(value)).pathname.endsWith(end)) {
    return `it must end in ${end}, the version of the API; add it`;
  }
  return undefined;
}

/** A URL without a slash at its end, so that paths, which begin with one, can be put behind it. */
export function withoutSlash(text: string): string {
  const { origin, pathname } = new URL(text);
  // Tried at the first of several slashes only: at each of them, it takes seconds for a long text.
  return `${origin}${pathname}`.replace(/(?<!\/)\/+$/, '');
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d{1,3}){3}$/.test(hostname);
