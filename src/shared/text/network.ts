import { isIP } from 'node:net';

/** Whether the text is an address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 6 ? 128 : 32);
}
