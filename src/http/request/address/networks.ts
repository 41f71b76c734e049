import { BlockList, isIPv6 } from 'node:net';

/** Whether an address in its canonical form is in one of the networks (CIDRs, or addresses alone). */
export function networksOf(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  return (address) => networks.length > 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
