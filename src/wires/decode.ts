import type * as NodeStream from 'node:stream';
import type * as NodeZlib from 'node:zlib';
import { builtin } from './runtime.ts';

/** What comes out of a decoder. */
export interface Sink {
  data(chunk: Uint8Array): void;
  end(): void;
  error(error: Error): void;
}

/** Undoes a content-encoding, chunk by chunk. */
export interface Decoder {
  write(chunk: Uint8Array): void;
  end(): void;
  destroy(): void;
}

/**
 * The streams that undo a content-encoding, in the order to apply them; undefined when one of its
 * codings is unknown: the bytes then stay as they are, as fetch leaves them.
 */
export function decodingStreams(encoding: string | null): NodeStream.Transform[] | undefined {
  const codings = (encoding ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  const zlib = builtin('node:zlib') as typeof NodeZlib;
  // Each coding costs memory; nobody applies more than one in earnest.
  if (codings.length > 3) return undefined;
  const streams = codings.toReversed().map((coding) => {
    switch (coding) {
      case 'gzip':
      case 'x-gzip':
        return zlib.createGunzip();
      case 'deflate':
        return zlib.createInflate();
      case 'br':
        return zlib.createBrotliDecompress();
      default:
        return undefined;
    }
  });
  return streams.every((stream) => stream !== undefined) ? streams : undefined;
}

/** A decoder for a content-encoding; undefined when there is nothing to undo. */
export function decoderFor(encoding: string, sink: Sink): Decoder | undefined {
  const streams = decodingStreams(encoding);
  const [first] = streams ?? [];
  const last = streams?.at(-1);
  if (streams === undefined || first === undefined || last === undefined) return undefined;
  for (const [index, stream] of streams.entries()) {
    stream.on('error', (error) => {
      sink.error(error);
    });
    const next = streams[index + 1];
    if (next !== undefined) stream.pipe(next);
  }
  last.on('data', (chunk: Uint8Array) => {
    sink.data(chunk);
  });
  last.on('end', () => {
    sink.end();
  });
  return {
    write: (chunk) => first.write(chunk),
    end: () => first.end(),
    destroy: () => {
      for (const stream of streams) stream.destroy();
    },
  };
}
