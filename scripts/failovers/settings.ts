/* The files of ops/patroni on one machine: the addresses become those of the loopback interface, the folders temporary ones. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ops = fileURLToPath(new URL('../../ops/patroni/', import.meta.url));

/** The network of the examples; the servers are its 11, 12 and 13. */
const exampleNetwork = '192.0.2.';
export const serverNumbers = [1, 2, 3] as const;
export type ServerNumber = (typeof serverNumbers)[number];

/** A network of the loopback interface, chosen at random so that two runs do not meet. */
export function loopbackNetwork(): string {
  const part = () => 2 + Math.floor(Math.random() * 250);
  return `127.${part()}.${part()}.`;
}

export function addressOf(network: string, server: ServerNumber): string {
  return `${network}${10 + server}`;
}

/** The address at which the proxy listens. */
export function proxyOf(network: string): string {
  return `${network}1`;
}

/** The folder of the programs of the newest PostgreSQL; undefined without one. */
export function postgresPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return undefined;
  const versions = readdirSync(root).filter((version) => existsSync(path.join(root, version, 'bin/initdb')));
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  return newest && path.join(root, newest, 'bin');
}

/** Each word of the files that belongs to the machines of the examples, and its stand-in for a server of this one. */
export function standIns({
  network,
  folder,
  server,
  programs,
}: {
  readonly network: string;
  readonly folder: string;
  readonly server: ServerNumber;
  readonly programs: string;
}): readonly (readonly [word: string, standIn: string])[] {
  const own = `${exampleNetwork}11`;
  const listening = ['listen: ', 'connect_address: ', 'CLIENT_URLS=https://', 'PEER_URLS=https://'];
  const home = path.join(folder, `db${server}`);
  return [
    ...listening.map((word) => [`${word}${own}`, `${word}${exampleNetwork}${10 + server}`] as const),
    ['name: db1', `name: db${server}`],
    ['ETCD_NAME=db1', `ETCD_NAME=db${server}`],
    [exampleNetwork, network],
    ['bind 127.0.0.1:', `bind ${proxyOf(network)}:`],
    ['/etc/patroni/', `${home}/`],
    ['/etc/etcd/', `${home}/`],
    ['/etc/haproxy/database-ca.pem', `${home}/ca.pem`],
    ['/var/lib/etcd/bank', `${home}/etcd`],
    ['/var/lib/postgresql/15/bank', `${home}/data`],
    ['/var/lib/postgresql/patroni.pgpass', `${home}/pgpass`],
    ['/var/run/postgresql', `${home}/socket`],
    ['/usr/lib/postgresql/15/bin', programs],
    // A test must not reset the machine.
    ['mode: required', 'mode: "off"'],
  ];
}

export function replaced(text: string, words: readonly (readonly [word: string, standIn: string])[]): string {
  return words.reduce((so, [word, standIn]) => so.replaceAll(word, standIn), text);
}

export function opsFile(name: string): string {
  return path.join(ops, name);
}

/** One certificate for every server and for the proxy, and the authority that it comes from: itself. */
export function makeCertificate(network: string, to: { readonly cert: string; readonly key: string }): void {
  // etcd also compares the address that a member's connection comes from.
  const addresses = [
    '127.0.0.1',
    proxyOf(network),
    ...serverNumbers.map((server) => addressOf(network, server)),
  ];
  const names = addresses.map((address) => `IP:${address}`).join(',');
  execFileSync(
    'openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...['-subj', '/CN=db.example', '-addext', `subjectAltName=DNS:db.example,${names}`],
      ...['-keyout', to.key, '-out', to.cert],
    ],
    { stdio: 'ignore' },
  );
}
