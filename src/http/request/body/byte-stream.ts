import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { unsupportedMediaType } from '../../problems.ts';

/**
 * The body as a stream of bytes, with gzip taken off. Memory is bounded whatever the compressed bytes become. The stream fails if
 * the caller leaves or the compressed bytes end early.
 */
export function byteStreamOf({ headers }: FastifyRequest, body: Readable): AsyncIterable<Uint8Array> {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) throw unsupportedMediaType('The body must be in UTF-8.');
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return body;
  if (encoding !== 'gzip')
    throw unsupportedMediaType('The body may be compressed with gzip, and nothing else.');
  const plain = createGunzip();
  // The reader of the stream gets the error.
  pipeline(body, plain, () => {});
  return plain;
}
