import { trimTrailingSlashes } from '../internal/text.ts';
import type { Problem } from '../internal/issues.ts';

/**
 * What is wrong with a URL for requests, without showing it; undefined when nothing is. Its path must end
 * in `end`.
 */
export function findUrlProblem(
  value: unknown,
  end: string,
  allowHttp: boolean,
): Problem | undefined {
  const expected = `a URL such as https://api.example.com${end}`;
  if (typeof value !== 'string') return { expected };
  if (!/^https?:\/\//i.test(value)) {
    return { got: 'a string without "https://"', expected };
  }
  if (!URL.canParse(value)) return { got: 'a string that is not a URL', expected };
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') {
    return { got: 'a URL with a user name or password', expected: 'none' };
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(value)) {
    return { got: 'a URL with a query or a fragment', expected: 'none' };
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    return {
      got: 'http, which shows the credential to the network',
      expected: 'https',
      hint: 'For a sandbox in a container, allowHttp: true permits it',
    };
  }
  // Only the path counts, because a host may be called v0.
  if (!new URL(withoutSlash(value)).pathname.endsWith(end)) {
    return { got: `no final ${end}`, expected };
  }
  return undefined;
}

/** A URL without a slash at its end, so that a path can be appended. */
export function withoutSlash(text: string): string {
  const { origin, pathname } = new URL(text);
  return trimTrailingSlashes(`${origin}${pathname}`);
}

/** Whether a URL can only be of a sandbox: on this machine, or of a host that cannot exist. */
export function isTestUrl(url: string): boolean {
  const { hostname } = new URL(url);
  return isLoopback(hostname) || hostname.endsWith('.invalid');
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d{1,3}){3}$/.test(hostname);
