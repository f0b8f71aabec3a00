/*
 * Stand-ins that the build and the tests put into ky in place of globals, by the list in
 * ky-stand-ins.json. The first use of a real class of fetch, such as Headers, would make Node load
 * undici, which takes longer than the first request over node:http.
 */

/** Replaces Headers in ky. ky only asks `has` for a content type, and no code uses the result. */
export class KyHeaders {
  has(): boolean {
    return true;
  }
}

/** Replaces Response in ky. Never created, because ky also recognises a response by its tag. */
export class KyResponse {
  readonly [Symbol.toStringTag] = 'Response';
}

/** Placeholder that ky gets instead of a Request, for a transport that reads no Request. */
const unsent = { body: null };

/**
 * Creates a Request only for a transport that reads the Request, because creating one takes a sixth
 * of a call's time. attempt.ts passes a signal only for transports with `wantsRequest: true`.
 */
export function KyRequest(input: string, init: RequestInit): Request | typeof unsent {
  return init.signal === undefined ? unsent : new Request(input, init);
}
