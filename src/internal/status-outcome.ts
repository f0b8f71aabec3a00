import { isObject } from './objects.ts';

/*
 * What an error response proves about a call. The client's errors and the sandbox's page use it.
 */

/** Says after which failures a call may be sent again: see the table in `retry.ts`. */
export type Kind = 'safe' | 'idempotent' | 'once';

/**
 * HTTP statuses that common proxies send only before they forward a request, because of its
 * framing, size, protocol or rate. 401 is missing, because nginx runs `auth_request` again for the
 * page of a 504, and a 401 then replaces the 504.
 */
const sentBeforeForwarding = /* @__PURE__ */ new Set([
  407, 411, 413, 414, 415, 417, 421, 425, 426, 429, 431,
]);

/** Facts of an error response that, with the status, decide what the response proves. */
interface ResponseFacts {
  /** Whether the platform wrote the response, not a proxy. */
  readonly hasErrorBody: boolean;
  /** Whether the response redirects the request to the same URL over https. */
  readonly redirectsToHttps?: boolean;
}

/**
 * Decides what the HTTP status of an error response proves about a call. Assumption A7, that a
 * rejection comes before any effect: docs/proof.md.
 *
 * A proxy may replace the platform's response after the platform has acted. For example, nginx may
 * turn the platform's 504 into a 405, and haproxy its 201 into a 400. So a status proves a
 * rejection only with an Error body, or if proxies send the status only before they forward. A
 * redirect to https proves a rejection, too, because a server that wants https forwards no http.
 *
 * 408 proves nothing, not even with an Error body, because the platform may have processed the
 * request while the connection timed out. 499 proves nothing either, because proxies log 499 for a
 * client that left. 301, 302 and 303 prove nothing, because servers send them after they have
 * processed a POST: docs/gaps.md, row 50.
 */
export function statusOutcome(
  status: number,
  kind: Kind,
  { hasErrorBody, redirectsToHttps = false }: ResponseFacts,
): 'rejected' | 'unknown' {
  const isRedirect = status === 307 || status === 308;
  const canReject =
    isRedirect ||
    status === 501 ||
    status === 505 ||
    (status >= 400 && status < 500 && status !== 408 && status !== 499);
  // A read changes nothing, so for a read it does not matter who sent the status.
  if (kind === 'safe') {
    return canReject || (status >= 300 && status < 400) ? 'rejected' : 'unknown';
  }
  const isProven =
    hasErrorBody || sentBeforeForwarding.has(status) || (isRedirect && redirectsToHttps);
  return canReject && isProven ? 'rejected' : 'unknown';
}

/** Whether the body of an error response is as documented, with an `error` message and a `code`. */
export const isDocumentedErrorBody = (body: unknown): boolean =>
  isObject(body) &&
  typeof Reflect.get(body, 'error') === 'string' &&
  typeof Reflect.get(body, 'code') === 'string';
