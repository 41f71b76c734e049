import { randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import type { LiveStream } from '../../operators/index.ts';

export const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // nginx, and proxies that follow it, pass each event on at once.
  'x-accel-buffering': 'no',
  // At its end the connection goes too, so that a process that stops waits for none.
  connection: 'close',
} as const;

/** Consoles that lose a process come back within these milliseconds, each at a time of its own. */
const retryMillis = [1_000, 6_000] as const;

/** Server-sent events (WHATWG HTML, section 9.2). `cut` is aborted when the connection must be destroyed. */
export function eventsOf(stream: LiveStream): { readonly events: Readable; readonly cut: AbortSignal } {
  // One message at a time: the next one is made when the socket has room for it.
  return { events: Readable.from(linesOf(stream), { highWaterMark: 1 }), cut: stream.cut };
}

async function* linesOf(stream: LiveStream): AsyncGenerator<string> {
  yield `retry: ${randomInt(...retryMillis)}\n\n`;
  for await (const { event, id, data } of stream.messages())
    yield `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}
