/*
 * Stand-ins for globals in ky: ky-globals.json lists them for the build and for the tests. The first use of
 * a class of fetch makes Node load undici, which takes longer than the first request over node:http.
 */

/** The headers of a request: an object of lower-case names, or a copy. */
export class KyHeaders extends Map<string, string> {
  constructor(init: KyHeaders | Readonly<Record<string, string>> = {}) {
    super(init instanceof KyHeaders ? init : Object.entries(init));
  }
}

/** Never created: ky recognises a response by its tag, too. */
export class KyResponse {
  readonly [Symbol.toStringTag] = 'Response';
}

/** The part of ky's options for `new Request()` that is used here. */
interface KyInit extends Omit<RequestInit, 'headers'> {
  readonly method: string;
  readonly headers: KyHeaders;
}

/**
 * A Request costs a sixth of a call, and a transport with `wantsRequest: false` does not use it.
 * attempt.ts passes a signal only for transports that do.
 */
export function KyRequest(input: string, init: KyInit): Request | UnsentRequest {
  return init.signal === undefined
    ? new UnsentRequest(input, init)
    : new Request(input, { ...init, headers: [...init.headers] });
}

class UnsentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: KyHeaders;
  readonly body = null;

  constructor(url: string, { method, headers }: KyInit) {
    this.url = url;
    this.method = method;
    this.headers = headers;
  }
}
