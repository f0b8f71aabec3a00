import { trimTrailingSlashes } from '../internal/text.ts';

/**
 * What is wrong with a URL for requests, without showing it; undefined when nothing is. Its path must end
 * in `end`.
 */
export function urlProblem(value: unknown, end: string, allowHttp: boolean): string | undefined {
  const such = `a URL such as https://api.example.com${end}`;
  if (typeof value !== 'string') return `expected ${such}`;
  if (!/^https?:\/\//i.test(value)) return `does not begin with "https://"; expected ${such}`;
  if (!URL.canParse(value)) return `is no URL; expected ${such}`;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    return 'holds a user name or password; expected none';
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(value)) {
    return 'holds a query or a fragment; expected none';
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    return 'http shows the credential to the network; expected https. For a sandbox in a container, allowHttp: true permits it';
  }
  // Not the host: one may be called v0.
  if (!new URL(withoutSlash(value)).pathname.endsWith(end)) {
    return `does not end in ${end}; expected ${such}`;
  }
  return undefined;
}

/** A URL without a slash at its end, so that paths, which begin with one, can be put behind it. */
export function withoutSlash(text: string): string {
  const { origin, pathname } = new URL(text);
  return trimTrailingSlashes(`${origin}${pathname}`);
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d{1,3}){3}$/.test(hostname);
