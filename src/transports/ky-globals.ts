/*
 * Stand-ins for globals in ky: ky-stand-ins.json lists them for the build and for the tests. The first use of
 * a class of fetch makes Node load undici, which takes longer than the first request over node:http.
 */

/** ky asks it for a content type, and ky-modules.ts ignores the response. */
export class KyHeaders {
  has(): boolean {
    return true;
  }
}

/** Never created: ky recognises a response by its tag, too. */
export class KyResponse {
  readonly [Symbol.toStringTag] = 'Response';
}

/** Stands in for a Request that no transport reads. */
const unsent = { body: null };

/**
 * A Request costs a sixth of a call, and a transport with `wantsRequest: false` does not use it.
 * attempt.ts passes a signal only for transports that do.
 */
export function KyRequest(input: string, init: RequestInit): Request | typeof unsent {
  return init.signal === undefined ? unsent : new Request(input, init);
}
