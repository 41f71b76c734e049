import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const visibleAscii = /^[!-~]{1,128}$/;

/** The caller's own id of the request if it is well formed, otherwise a new UUID. The response and each log line have it. */
export function transactionIdOf(headers: IncomingHttpHeaders): string {
  for (const name of ['transactionid', 'x-request-id', 'x-fapi-interaction-id']) {
    const given = headers[name];
    if (typeof given === 'string' && visibleAscii.test(given)) return given;
  }
  return randomUUID();
}

const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-|$)/;

/** W3C Trace Context, for the log; undefined if missing or malformed. */
export function traceparentOf(headers: IncomingHttpHeaders): string | undefined {
  const given = headers.traceparent;
  return typeof given === 'string' && given.length <= 256 && traceparent.test(given) ? given : undefined;
}
