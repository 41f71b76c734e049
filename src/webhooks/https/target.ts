import { BlockList, isIP } from 'node:net';

/** The targets that an institution may send to. */
export interface TargetRules {
  /** A demo may send to this machine and without TLS, so that a newcomer can try. */
  readonly demo: boolean;
  /** Ports beside those of a demo; null: any. */
  readonly ports: readonly number[] | null;
  /** The operators of the service chose the address themselves, so it may be one inside. */
  readonly mayBeInside?: boolean;
}

/** Why a target is refused. Every address inside gets the same words, so that a refusal maps no network. */
export type TargetRefusal = 'malformed' | 'scheme' | 'port' | 'address';

const privateNetworks: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
const privateNetworks6: readonly (readonly [string, number])[] = [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const inside = new BlockList();
// A rule of IPv4 also matches its addresses mapped into IPv6 (::ffff:10.0.0.1).
for (const [network, prefix] of privateNetworks) inside.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of privateNetworks6) inside.addSubnet(network, prefix, 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Checks an address that is about to be connected to. It runs for literals and for each resolved address, at every connection: a
 * name may resolve to another address than it did before.
 */
export function mayConnectTo(
  address: string,
  { demo, mayBeInside }: Pick<TargetRules, 'demo' | 'mayBeInside'>,
): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  if (mayBeInside === true) return true;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  return !inside.check(address, kind) || (demo && loopback.check(address, kind));
}

/** Undefined if the URL may be sent to, as far as its text shows. The address of its name is checked at the connection. */
export function targetRefusal(url: string, rules: TargetRules): TargetRefusal | undefined {
  if (!URL.canParse(url)) return 'malformed';
  const { protocol, port, hostname, username, password, hash } = new URL(url);
  if (username !== '' || password !== '' || hash !== '' || !/^[!-~]{1,2048}$/.test(url)) return 'malformed';
  if (protocol !== 'https:' && !(rules.demo && protocol === 'http:')) return 'scheme';
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  if (!rules.demo && rules.ports?.includes(number) === false) return 'port';
  return isNameInside(hostname, rules) ? 'address' : undefined;
}

/** Names that mean this machine or a local network, and literals. The URL parser has normalized 0x7f.1 and 2130706433. */
function isNameInside(hostname: string, rules: TargetRules): boolean {
  if (rules.mayBeInside === true) return false;
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0) return !mayConnectTo(literal, rules);
  const name = hostname.replace(/\.$/, '').toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost')) return !rules.demo;
  return (
    !name.includes('.') || /\.(?:local|internal|intranet|lan|home|corp|localdomain|home\.arpa)$/.test(name)
  );
}
