/** Two years. Browsers ignore it over plain http (RFC 6797, section 7.2). */
export const onlyByTls = { 'strict-transport-security': 'max-age=63072000' } as const;

/**
 * Headers of every response. Data may not run or load anything in a browser; each page sends a policy of its own.
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    ...(publicUrl.startsWith('https:') && onlyByTls),
    // Responses belong to one caller, or to one moment. Pages set another value.
    'cache-control': 'no-store',
  };
}
