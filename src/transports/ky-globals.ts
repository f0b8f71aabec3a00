/*
 * Stand-ins that the build and the tests put into ky in place of globals, by the list in
 * ky-stand-ins.json. The first use of a real class of fetch, such as Headers, would make Node load
 * undici, which takes longer than the first request over node:http.
 */

/** ky asks `has` for a content type, and the stand-ins in ky-modules.ts ignore the result. */
export class KyHeaders {
  has(): boolean {
    return true;
  }
}

/** Never created, because ky also recognises a response by its tag. */
export class KyResponse {
  readonly [Symbol.toStringTag] = 'Response';
}

/** Stands in for a Request that no transport reads. */
const unsent = { body: null };

/**
 * Creates a Request only for a transport that uses one, because a Request costs a sixth of a call.
 * attempt.ts passes a signal only for transports with `wantsRequest: true`.
 */
export function KyRequest(input: string, init: RequestInit): Request | typeof unsent {
  return init.signal === undefined ? unsent : new Request(input, init);
}
