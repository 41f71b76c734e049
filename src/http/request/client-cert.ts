import { plainAddress } from './address/address.ts';
import { networksOf } from './address/networks.ts';

/** RFC 9440 section 2.2, as Node spells it. `Client-Cert-Chain` is not read: a registered certificate needs no chain. */
export const clientCertHeader = 'client-cert';

/**
 * Returns the header `Client-Cert` of a request whose connection comes from one of the proxies (CIDRs); null from anybody else, who could
 * write the certificate of another. Unlike an address, it is not passed on through further proxies.
 */
export function clientCertReader(proxies: readonly string[]) {
  const isProxy = networksOf(proxies);
  return (remoteAddress: string | undefined, header: string | undefined): string | null => {
    if (header === undefined) return null;
    const address = plainAddress(remoteAddress);
    return address !== null && isProxy(address) ? header : null;
  };
}
