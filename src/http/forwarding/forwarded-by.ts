import { createHmac, timingSafeEqual } from 'node:crypto';

/*
 * The header by which a cell tells another one of the caller's address and certificate. It is keyed, since the other cell need not know the network
 * of this one. Its presence alone ends forwarding, so that no request takes a second hop.
 */

export const forwardedHeader = 'sharedraft-forwarded';

/** Clocks of two cells differ by less. */
const longestMillis = 120_000;

interface Hop {
  readonly method: string;
  /** As sent, with the query. */
  readonly url: string;
  /** The caller's; empty if it had left. */
  readonly address: string;
  /** The header `Client-Cert` beside this one, of a proxy that the cell trusts; undefined: none. */
  readonly clientCert?: string | undefined;
}

function macOf(key: Uint8Array, { method, url, address, clientCert }: Hop, at: string): Buffer {
  const facts = [method, url, address, at, ...(clientCert === undefined ? [] : [clientCert])];
  return createHmac('sha256', key).update(facts.join('\n')).digest();
}

export function sealHop(key: Uint8Array, hop: Hop, now: Date): string {
  const at = String(now.getTime());
  return [at, macOf(key, hop, at).toString('base64url'), hop.address].join(' ');
}

/** The caller's address; undefined for a header that no cell has made for this request and its certificate just now. */
export function openHop(
  key: Uint8Array,
  text: string,
  { now, ...hop }: Omit<Hop, 'address'> & { readonly now: Date },
): string | undefined {
  const [at = '', mac = '', address = ''] = text.split(' ');
  if (!/^\d{1,15}$/.test(at) || Math.abs(now.getTime() - Number(at)) > longestMillis) return undefined;
  const given = Buffer.from(mac, 'base64url');
  const expected = macOf(key, { ...hop, address }, at);
  return given.length === expected.length && timingSafeEqual(given, expected) ? address : undefined;
}
