import { decoderFor, type Decoder } from './decode.ts';
import type { RawHeaders } from './undici.ts';
import type { Body, BodyFault, TransportResponse } from './transport.ts';

/** As much of a Response as ky and the reading of an answer need. */
export class Reply implements TransportResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly #raw: RawHeaders;
  readonly #abort: (reason: Error) => void;
  readonly #decoder: Decoder | undefined;
  readonly #chunks: Uint8Array[] = [];
  #headers: Headers | undefined;
  #arrived = 0;
  #size = 0;
  #limit = Number.POSITIVE_INFINITY;
  #done: { readonly fault: BodyFault | undefined } | undefined;
  #whenDone: ((body: Body) => void) | undefined;

  constructor(
    status: number,
    statusText: string,
    headers: RawHeaders,
    abort: (reason: Error) => void,
  ) {
    this.status = status;
    this.statusText = statusText;
    this.ok = status >= 200 && status < 300;
    this.#raw = headers;
    this.#abort = abort;
    const coding = headerValue(headers, 'content-encoding');
    this.#decoder =
      coding === undefined
        ? undefined
        : decoderFor(
            coding,
            (chunk) => this.#keep(chunk),
            (fault) => this.#finish(fault),
          );
  }

  /** What ky recognises a Response by. */
  get [Symbol.toStringTag](): string {
    return 'Response';
  }

  /** Made when somebody looks: most answers are read without. */
  get headers(): Headers {
    this.#headers ??= headersFrom(this.#raw);
    return this.#headers;
  }

  whole(limit: number): Body | undefined {
    this.#limit = limit;
    // The whole body may have arrived before anybody set the limit.
    const tooLarge = this.#size > limit || this.#arrived > limit;
    if (tooLarge) this.#overflow();
    if (this.#done === undefined) return undefined;
    return { bytes: this.soFar(), fault: tooLarge ? 'too_large' : this.#done.fault };
  }

  collect(limit: number): Promise<Body> {
    return new Promise((resolve) => {
      const whole = this.whole(limit);
      if (whole === undefined) this.#whenDone = resolve;
      else resolve(whole);
    });
  }

  discard(): void {
    if (this.#done === undefined) this.#abort(new Error('nobody wants the body'));
  }

  soFar(): Uint8Array {
    const [only] = this.#chunks;
    return only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
  }

  add(chunk: Uint8Array): void {
    if (this.#done !== undefined) return;
    if (this.#decoder === undefined) {
      this.#keep(chunk);
      return;
    }
    // Compressed bytes count as well: an endless stream may unpack to nothing.
    this.#arrived += chunk.byteLength;
    if (this.#arrived > this.#limit) this.#overflow();
    else this.#decoder.write(chunk);
  }

  end(): void {
    if (this.#decoder === undefined) this.#finish(undefined);
    else this.#decoder.end();
  }

  cut(): void {
    this.#finish('cut');
  }

  #keep(chunk: Uint8Array): void {
    if (this.#done !== undefined) return;
    this.#size += chunk.byteLength;
    this.#chunks.push(chunk);
    if (this.#size > this.#limit) this.#overflow();
  }

  #overflow(): void {
    this.#finish('too_large');
    this.#abort(new Error('the answer is too large'));
  }

  #finish(fault: BodyFault | undefined): void {
    if (this.#done !== undefined) return;
    this.#done = { fault };
    if (fault !== undefined) this.#decoder?.destroy();
    this.#whenDone?.({ bytes: this.soFar(), fault });
  }
}

const text = (value: Uint8Array | string): string =>
  typeof value === 'string' ? value : Buffer.from(value).toString('latin1');

const isList = (headers: RawHeaders): headers is readonly (Uint8Array | string)[] =>
  Array.isArray(headers);

function headerValue(headers: RawHeaders, name: string): string | undefined {
  if (!isList(headers)) {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }
  const values: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (text(headers[at] ?? '').toLowerCase() === name) values.push(text(headers[at + 1] ?? ''));
  }
  return values.length === 0 ? undefined : values.join(', ');
}

function headersFrom(raw: RawHeaders): Headers {
  const headers = new Headers();
  const append = (name: string, value: string): void => {
    try {
      headers.append(name, value);
    } catch {
      // Node 22 lets through what no Headers can hold. A payment is not lost over it.
    }
  };
  if (isList(raw)) {
    for (let at = 0; at + 1 < raw.length; at += 2) {
      append(text(raw[at] ?? ''), text(raw[at + 1] ?? ''));
    }
    return headers;
  }
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) append(name, one);
    }
  }
  return headers;
}
