/**
 * On every answer. A document of data may do nothing in a browser; pages bring a policy of their own that allows what
 * they need.
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    // Two years. Over plain http it would be ignored (RFC 6797, section 7.2).
    ...(publicUrl.startsWith('https:') && {
      'strict-transport-security': 'max-age=63072000',
    }),
    // Answers are one caller's own, or the state of a moment. Pages say otherwise.
    'cache-control': 'no-store',
  };
}
