import type * as NodeStream from 'node:stream';
import type * as NodeZlib from 'node:zlib';
import { builtinModule } from '../internal/runtime.ts';

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
export function decodingStreams(encoding: string): NodeStream.Transform[] | undefined {
  const zlib = builtinModule('node:zlib') as typeof NodeZlib;
  const codings = encoding.toLowerCase().match(/[^\s,]+/g) ?? [];
  // Each coding costs memory; nobody applies more than one in earnest.
  if (codings.length > 3) return undefined;
  const streams = codings
    .toReversed()
    .filter((coding) => coding !== 'identity')
    .map((coding) => {
      if (coding === 'gzip' || coding === 'x-gzip') return zlib.createGunzip();
      if (coding === 'deflate') return zlib.createInflate();
      return coding === 'br' ? zlib.createBrotliDecompress() : undefined;
    });
  return streams.every((stream) => stream !== undefined) ? streams : undefined;
}

/** A decoder for a content-encoding; undefined when there is nothing to undo. */
export function decoderFor(
  encoding: string,
  keep: (chunk: Uint8Array) => void,
  finish: (fault?: 'cut') => void,
): Decoder | undefined {
  const streams = decodingStreams(encoding) ?? [];
  const [first] = streams;
  for (const [index, stream] of streams.entries()) {
    stream.on('error', () => finish('cut'));
    const next = streams[index + 1];
    if (next !== undefined) stream.pipe(next);
  }
  streams.at(-1)?.on('data', keep).on('end', finish);
  return (
    first && {
      write: (chunk) => first.write(chunk),
      end: () => first.end(),
      destroy: () => streams.forEach((stream) => stream.destroy()),
    }
  );
}
