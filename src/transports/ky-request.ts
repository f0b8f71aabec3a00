/** The part of ky's options for `new Request()` that is used here. */
interface KyInit extends RequestInit {
  readonly method: string;
  readonly headers: Headers;
}

/**
 * Stands in for `Request` in ky when the package is built (`inject` in tsup.config.ts).
 *
 * A Request costs a sixth of a call, and a transport with `wantsRequest: false` does not use it.
 * attempt.ts passes a signal only for transports that do.
 */
export function KyRequest(input: string, init: KyInit): Request | UnsentRequest {
  return init.signal === undefined ? new UnsentRequest(input, init) : new Request(input, init);
}

class UnsentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body = null;

  constructor(url: string, { method, headers }: KyInit) {
    this.url = url;
    this.method = method;
    this.headers = headers;
  }
}
