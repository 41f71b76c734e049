import { isIP, SocketAddress } from 'node:net';

/** IPv6 in its shortest form without a zone; an IPv4 address of an IPv6 socket as IPv4; null for any other text. */
export function plainAddress(text: string | undefined): string | null {
  const address = (text ?? '').replace(/%.*$/, '');
  const version = isIP(address);
  if (version === 0) return null;
  if (version === 4) return address;
  const plain = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain;
}
