/**
 * Three parts in base64url without padding (RFC 7515 section 2). Decoders are more lenient, and then one signature has
 * several spellings.
 */
export function isCompactJwt(text: string): boolean {
  return /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(text);
}
