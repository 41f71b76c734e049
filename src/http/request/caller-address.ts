import { BlockList, isIPv6 } from 'node:net';
import { plainAddress } from './address.ts';

/**
 * Where a request comes from, as an address in its one plain spelling: null when the connection has gone.
 *
 * Behind proxies that the operator named (CIDRs), `X-Forwarded-For` is read from its right end, which the nearest proxy
 * wrote, and the first address that is none of ours is the caller. Of anybody else the header is not believed, and
 * nothing left of a hop that is no address.
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

/** Some proxies write the port too: 192.0.2.1:4711, [2001:db8::1]:4711. */
function withoutPort(hop: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}
