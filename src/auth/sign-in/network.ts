import { isIP } from 'node:net';

/** The address, or the /64 of an IPv6 address: one subscriber has all its addresses. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6 || address.includes('%')) return address;
  const { hostname } = new URL(`http://[${address}]`);
  // An IPv4 address in IPv6 notation.
  if (hostname.startsWith('[::ffff:')) return hostname;
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].slice(0, 4).join(':');
}
