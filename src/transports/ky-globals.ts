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

/**
 * Replaces Request in ky. A transport creates its own Request if it needs one, because creating one
 * takes a sixth of a call's time.
 */
export class KyRequest {
  readonly body = null;
}
