import type { AuthDeps } from '../deps.ts';
import { AccessTokens } from '../tokens/access-tokens.ts';
import type { InstitutionHost } from './institution-hosts.ts';

/** The issuer at the host name of an institution. Members reach it over https only, whatever PUBLIC_URL is. */
export function issuerAt(name: string): string {
  return `https://${name}`;
}

/**
 * The issuer of one institution: an authorization server that knows its clients and tokens only. Everything else is shared with PUBLIC_URL,
 * so that brakes and replays count once.
 */
export function atHost(deps: AuthDeps, host: InstitutionHost): AuthDeps {
  const { keys, clock, clientDirectory } = deps;
  const { institutionId } = host;
  const issuer = issuerAt(host.name);
  return {
    ...deps,
    host,
    issuer,
    tokens: new AccessTokens({ keys, clock, issuer, institutionId }),
    clientDirectory: clientDirectory.of(institutionId),
  };
}

/** The purpose of a hash or a seal that counts at this issuer only. That of PUBLIC_URL stands alone, as before there were others. */
export function purposeAt({ host }: Pick<AuthDeps, 'host'>, purpose: string): string {
  return host === undefined ? purpose : `${purpose} at ${host.name}`;
}
