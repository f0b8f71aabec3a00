/** What ky hands to `new Request()`: the options of the call, of which these matter here. */
interface KyInit extends RequestInit {
  readonly method: string;
  readonly headers: Headers;
}

/**
 * What ky makes in the place of a Request, when the package is built (`inject` in tsup.config.ts).
 *
 * A Request costs a sixth of a call, and a wire with `wantsRequest: false` never looks at it: ky only
 * carries it to the wire and asks for its body afterwards, to let go of it. attempt.ts gives a signal
 * for the wires that send a Request, and to no other.
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
