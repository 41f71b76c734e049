import { BlockList, isIPv6 } from 'node:net';
import { plainAddress } from './address.ts';

/**
 * Returns the address that a request comes from, in its canonical form; null if the connection has closed.
 *
 * Behind configured proxies (CIDRs), `X-Forwarded-For` is read from its right end, which the nearest proxy wrote. The first
 * address that is no proxy is the caller. Reading stops at a hop that is no address. From any other peer the header is
 * ignored.
 */
export function callerAddressReader(trustedProxies: readonly string[]) {
  const trusted = new BlockList();
  for (const network of trustedProxies) {
    const [address = '', bits] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    trusted.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  const isTrusted = (address: string) =>
    trustedProxies.length > 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

  return (remoteAddress: string | undefined, forwardedFor: string | undefined): string | null => {
    let address = plainAddress(remoteAddress);
    const hops = (forwardedFor ?? '').split(',');
    while (address !== null && isTrusted(address)) {
      const hop = plainAddress(withoutPort(hops.pop()?.trim() ?? ''));
      if (hop === null) break;
      address = hop;
    }
    return address;
  };
}

/** Removes the port that some proxies write: 192.0.2.1:4711, [2001:db8::1]:4711. */
function withoutPort(hop: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
