import { relyingPartyOf } from '../passkeys/relying-party.ts';

/**
 * An address to which a member returns with a code: https; http of the loopback address, for apps on a computer (RFC 8252
 * section 7.3); or the private scheme of an app on a phone, which is a reversed domain name (section 7.1). Without a fragment, which
 * RFC 6749 section 3.1.2 excludes, and without a password.
 */
export function isRedirectUri(text: string): boolean {
  if (!/^[!-~]{1,1024}$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (text.includes('#') || username !== '' || password !== '') return false;
  if (protocol === 'https:') return true;
  if (protocol === 'http:') return isLoopback(hostname);
  return /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+:$/.test(protocol);
}

export const redirectUriRule =
  'An address is https://…, http://127.0.0.1/…, http://[::1]/… or http://localhost/… of a program on the member’s computer, or a private scheme like com.example.app:/…, without a fragment';

/**
 * Whether a request may name the address. Compared character by character (RFC 9700 section 2.1); only the port of a loopback address is
 * free, since the program takes the one that it gets. The name of the service's own pages stands for its address.
 */
export function isRegistered(requested: string, registered: readonly string[], issuer: string): boolean {
  if (registered.includes(requested)) return true;
  const { origin: pages } = relyingPartyOf(issuer);
  const address = requested.startsWith(`${pages}/`) ? issuer + requested.slice(pages.length) : requested;
  const portless = withoutLoopbackPort(address);
  return portless !== undefined && registered.some((one) => withoutLoopbackPort(one) === portless);
}

/** Undefined for any other address. A name of the loopback address has no free port: it may resolve to another host. */
function withoutLoopbackPort(text: string): string | undefined {
  const match = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?(\/.*)?$/.exec(text);
  return match ? `${match[1]}${match[2] ?? ''}` : undefined;
}

function isLoopback(hostname: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

/**
 * Whether no other program of the member's device can take the address: https, or a page of this service. A loopback port and a private scheme
 * belong to whichever program claims them (RFC 8252 section 8.6).
 */
export function isProvenAddress(uri: string, issuer: string): boolean {
  const pages = [issuer, relyingPartyOf(issuer).origin];
  return uri.startsWith('https://') || pages.some((page) => uri.startsWith(`${page}/`));
}

/** The address with the parameters of the response added to its own (RFC 6749 section 4.1.2). */
export function withParameters(
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const added = Object.entries(parameters)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  if (added === '') return uri;
  return `${uri}${uri.includes('?') ? '&' : '?'}${added}`;
}
