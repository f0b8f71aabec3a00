import type * as NodeStream from 'node:stream';
import type * as NodeZlib from 'node:zlib';
import type { BodyFault, Body, TransportResponse } from './transport.ts';
import { builtinModule } from '../internal/runtime.ts';

/** The headers of a response, names and values in turn, as in `rawHeaders` of node:http. */
type RawHeaders = readonly string[];

/** A response whose body arrives chunk by chunk, with the part of `Response` that calls need. */
export class PushedResponse implements TransportResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly isOnUsedConnection: boolean;
  readonly #rawHeaders: RawHeaders;
  readonly #abort: (reason: Error) => void;
  readonly #encoding: string;
  /** Undefined until the first byte of the body arrives, because an empty body needs no decoder. */
  #decoder: Decoder | undefined;
  readonly #chunks: Uint8Array[] = [];
  #headers: Headers | undefined;
  #compressedSize = 0;
  #size = 0;
  #limit = Number.POSITIVE_INFINITY;
  #end: { readonly fault: BodyFault | undefined } | undefined;
  #onEnd: ((body: Body) => void) | undefined;

  constructor(
    status: number,
    statusText: string,
    headers: RawHeaders,
    isOnUsedConnection: boolean,
    abort: (reason: Error) => void,
  ) {
    this.status = status;
    this.statusText = statusText;
    this.ok = status >= 200 && status < 300;
    this.isOnUsedConnection = isOnUsedConnection;
    this.#rawHeaders = headers;
    this.#abort = abort;
    this.#encoding = findHeader(headers, 'content-encoding');
  }

  /** ky recognises an object with this tag as a `Response`. */
  get [Symbol.toStringTag](): string {
    return 'Response';
  }

  /** Creates the Headers on first access, because most calls never read them. */
  get headers(): Headers {
    this.#headers ??= createHeaders(this.#rawHeaders);
    return this.#headers;
  }

  get date(): string {
    return findHeader(this.#rawHeaders, 'date');
  }

  completeBody(limit: number): Body | undefined {
    this.#limit = limit;
    // The whole body may have arrived before the caller set the size limit, so check the size now.
    const isTooLarge = this.#size > limit || this.#compressedSize > limit;
    if (isTooLarge) this.#overflow();
    if (this.#end === undefined) return undefined;
    return { bytes: this.partialBody(), fault: isTooLarge ? 'too_large' : this.#end.fault };
  }

  readBody(limit: number): Promise<Body> {
    return new Promise((resolve) => {
      const body = this.completeBody(limit);
      if (body === undefined) this.#onEnd = resolve;
      else resolve(body);
    });
  }

  discardBody(): void {
    if (this.#end === undefined) this.#abort(new Error('the body is not needed'));
  }

  closeConnection(): void {
    this.#abort(new Error('the response is not used'));
  }

  partialBody(): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    return Buffer.concat(this.#chunks);
  }

  /** Adds a chunk of the body, which may still be compressed. */
  addChunk(chunk: Uint8Array): void {
    const [firstByte] = chunk;
    // Ignore an empty chunk, and chunks after the body has ended or failed.
    if (this.#end !== undefined || firstByte === undefined) return;
    if (this.#encoding === '') {
      this.#keep(chunk);
      return;
    }
    this.#decoder ??= createDecoder(
      this.#encoding,
      firstByte,
      (decoded) => this.#keep(decoded),
      (fault) => this.#finish(fault),
    );
    // Limit the compressed bytes, too, because an endless stream may decompress to nothing.
    this.#compressedSize += chunk.byteLength;
    if (this.#compressedSize > this.#limit) this.#overflow();
    else this.#decoder.write(chunk);
  }

  /** Called when the last chunk of the body has arrived. */
  end(): void {
    if (this.#decoder === undefined) this.#finish(undefined);
    else this.#decoder.end();
  }

  /** Called when the connection broke before the end of the body. */
  cut(): void {
    this.#finish('cut');
  }

  #keep(chunk: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#size += chunk.byteLength;
    this.#chunks.push(chunk);
    if (this.#size > this.#limit) this.#overflow();
  }

  #overflow(): void {
    this.#finish('too_large');
    this.#abort(new Error('the response is too large'));
  }

  #finish(fault: BodyFault | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { fault };
    if (fault !== undefined) this.#decoder?.destroy();
    this.#onEnd?.({ bytes: this.partialBody(), fault });
  }
}

/** All values of a header, joined by commas. Empty if the header is absent. */
function findHeader(rawHeaders: RawHeaders, name: string): string {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  return values.join(', ');
}

function createHeaders(rawHeaders: RawHeaders): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    try {
      headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
    } catch {
      // node:http accepts headers that `Headers` rejects. Such a header must not fail a payment.
    }
  }
  return headers;
}

/** Undoes the content-encoding of a body, chunk by chunk. */
export interface Decoder {
  write(chunk: Uint8Array): void;
  end(): void;
  destroy(): void;
}

/** How many codings of one header are undone. More would cost much memory (CVE-2026-22036). */
const maxCodings = 3;

/**
 * Creates the streams that undo a content-encoding, in the order to apply them. If a coding is
 * unknown there are no streams, because fetch leaves such a body as it is, too.
 */
function createDecodingStreams(encoding: string, firstByte: number): NodeStream.Transform[] {
  const zlib = builtinModule('node:zlib') as typeof NodeZlib;
  const codings = encoding.toLowerCase().match(/[^\s,]+/g) ?? [];
  if (codings.length > maxCodings) return [];
  const streams = codings
    .toReversed()
    .filter((coding) => coding !== 'identity')
    // Only the outermost coding's first byte is known, so inner deflate is assumed to be zlib.
    .map((coding, index) => createStream(zlib, coding, index === 0 ? firstByte : zlibMethod));
  return streams.every((stream) => stream !== undefined) ? streams : [];
}

/** The lower half of the first byte of a body in the zlib format. Raw deflate has another value. */
const zlibMethod = 8;

/** Creates the stream that undoes one coding. Undefined for an unknown coding. */
function createStream(zlib: typeof NodeZlib, coding: string, firstByte: number) {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip();
    case 'deflate':
      // As `deflate` some servers send zlib and others raw deflate, and browsers read both.
      return firstByte % 16 === zlibMethod ? zlib.createInflate() : zlib.createInflateRaw();
    case 'br':
      return zlib.createBrotliDecompress();
    default:
      return undefined;
  }
}

/**
 * Creates a decoder for a body with this content-encoding and this first byte. The decoder calls
 * `keep` with each decoded chunk, and `finish` at the end or at the first fault.
 */
function createDecoder(
  encoding: string,
  firstByte: number,
  keep: (chunk: Uint8Array) => void,
  finish: (fault?: BodyFault) => void,
): Decoder {
  const streams = createDecodingStreams(encoding, firstByte);
  const [first] = streams;
  // The body is not compressed, or has an unknown coding.
  if (first === undefined) return { write: keep, end: finish, destroy: () => undefined };
  for (const [index, stream] of streams.entries()) {
    stream.on('error', (error: NodeJS.ErrnoException) =>
      // zlib reports Z_BUF_ERROR if the compressed data ends too early.
      finish(error.code === 'Z_BUF_ERROR' ? 'incomplete' : 'undecodable'),
    );
    const next = streams[index + 1];
    if (next !== undefined) stream.pipe(next);
  }
  streams.at(-1)?.on('data', keep).on('end', finish);
  return {
    write: (chunk) => first.write(chunk),
    end: () => first.end(),
    destroy: () => streams.forEach((stream) => stream.destroy()),
  };
}
