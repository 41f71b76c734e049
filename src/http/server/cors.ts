/** Headers that a page of another origin may send and read. Cookies never come along: no response allows credentials. */
const requestHeaders =
  'Authorization, Content-Type, DPoP, Idempotency-Key, If-None-Match, transactionId, X-Request-Id, traceparent';
const readableHeaders =
  'transactionId, Location, Link, ETag, Retry-After, Idempotent-Replayed, WWW-Authenticate, DPoP-Nonce, Allow, RateLimit, RateLimit-Policy';

/**
 * The headers that let a page of `origin` use a response (Fetch Standard, section 3.3); none for an origin that is not
 * configured.
 */
export function corsHeaders(
  origin: string | undefined,
  allowed: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  if (origin === undefined || !allowed.has(origin)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': readableHeaders,
  };
}

/** The further headers of a response to a browser's preflight request. */
export function preflightHeaders(methods: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': requestHeaders,
    'access-control-max-age': '600',
  };
}
