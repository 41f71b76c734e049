import { isIP } from 'node:net';
import pg from 'pg';
import { oneUrlPerHost } from '../../shared/text/database-urls.ts';
import { DatabaseStartError } from '../hosts/database-start-error.ts';
import { resolvePasswordFile } from '../hosts/password-file.ts';

/**
 * Throws DatabaseStartError if the URL leads to another machine and the driver would not verify the certificate and name of
 * the server (`sslmode=verify-full`): an attacker on the network could read passwords and impersonate the database. The
 * driver itself parses the URL and libpq's environment. `setting` is the name of the URL's setting.
 */
export function refuseUnverifiedUrl(url: string, setting: string): void {
  for (const { host, ssl } of targetsOf(url, setting)) {
    if (isLocal(host) || isVerified(ssl)) continue;
    throw new DatabaseStartError(
      `${setting} leads to another machine and does not verify it. Add sslmode=verify-full to it (and sslrootcert=/path/to/ca.pem if the server's certificate comes from an authority of your own), or set ALLOW_UNVERIFIED_DATABASE=true if you mean it.`,
    );
  }
}

interface Target {
  readonly host: string;
  readonly ssl: unknown;
}

/** The target of each host: a URL may name several, as in libpq. */
function targetsOf(url: string, setting: string): Target[] {
  return oneUrlPerHost(url).map((one) => {
    try {
      const client = new pg.Client({ connectionString: resolvePasswordFile(one) });
      return { host: client.host, ssl: (client as unknown as { readonly ssl: unknown }).ssl };
    } catch (cause) {
      throw new DatabaseStartError(`${setting} cannot be used: ${reasonOf(cause)}`, cause);
    }
  });
}

/** Names an unreadable file. Other messages could contain the URL, and with it a password. */
function reasonOf(cause: unknown): string {
  const { code, path } = cause as NodeJS.ErrnoException;
  return code !== undefined && path !== undefined ? `${path} cannot be read (${code})` : 'it is malformed';
}

/** A unix socket or the loopback interface. */
function isLocal(hosts: string): boolean {
  return hosts.split(',').every((host) => {
    const name = host.toLowerCase();
    return (
      name.startsWith('/') ||
      name === 'localhost' ||
      (isIP(name) === 4 && name.startsWith('127.')) ||
      name === '::1'
    );
  });
}

function isVerified(ssl: unknown): boolean {
  if (ssl === true) return true;
  if (typeof ssl !== 'object' || ssl === null) return false;
  const { rejectUnauthorized, checkServerIdentity } = ssl as Record<string, unknown>;
  return rejectUnauthorized !== false && checkServerIdentity === undefined;
}
