/** Three parts in base64url without padding (RFC 7515 section 2). A lenient decoder would accept several spellings of one signature. */
export function isCompactJwt(text: string): boolean {
  return /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(text);
}
