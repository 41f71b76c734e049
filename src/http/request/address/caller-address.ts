import { plainAddress } from './address.ts';
import { networksOf } from './networks.ts';

/**
 * Returns the address that a request comes from, in its canonical form; null if the connection has closed.
 *
 * Behind configured proxies (CIDRs), `X-Forwarded-For` is read from its right end, which the nearest proxy wrote. The first
 * address that is no proxy is the caller. Reading stops at a hop that is no address. From any other peer the header is
 * ignored.
 */
export function callerAddressReader(trustedProxies: readonly string[]) {
  const isTrusted = networksOf(trustedProxies);

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
