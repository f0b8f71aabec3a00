import type * as NodeStream from 'node:stream';
import type * as NodeZlib from 'node:zlib';
import { builtinModule } from '../internal/runtime.ts';

/** Undoes a content-encoding, chunk by chunk. */
export interface Decoder {
  write(chunk: Uint8Array): void;
  end(): void;
  destroy(): void;
}

/** How many codings are undone: each costs memory, and thousands fit into a header (CVE-2026-22036). */
const maxCodings = 3;

/**
 * Streams that undo a content-encoding, in the order to apply them; none when one of its codings is
 * unknown, because fetch leaves such a body as it is, too.
 */
function createDecodingStreams(encoding: string): NodeStream.Transform[] {
  const zlib = builtinModule('node:zlib') as typeof NodeZlib;
  const codings = encoding.toLowerCase().match(/[^\s,]+/g) ?? [];
  if (codings.length > maxCodings) return [];
  const streams = codings
    .toReversed()
    .filter((coding) => coding !== 'identity')
    .map((coding) => createStream(zlib, coding));
  return streams.every((stream) => stream !== undefined) ? streams : [];
}

function createStream(zlib: typeof NodeZlib, coding: string): NodeStream.Transform | undefined {
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
}

/** Creates a decoder for a content-encoding; undefined when there is nothing to undo. */
export function createDecoder(
  encoding: string,
  keep: (chunk: Uint8Array) => void,
  finish: (fault?: 'cut') => void,
): Decoder | undefined {
  if (encoding === '') return undefined;
  const streams = createDecodingStreams(encoding);
  const [first] = streams;
  if (first === undefined) return undefined;
  for (const [index, stream] of streams.entries()) {
    stream.on('error', () => finish('cut'));
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
