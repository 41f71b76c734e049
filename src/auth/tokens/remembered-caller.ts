import { hash } from 'node:crypto';
import type { Actor } from '../../institutions/index.ts';
import type { Basis, Remembered } from '../../memory/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { VerifiedToken } from './access-tokens.ts';
import type { Scope } from './scopes.ts';

export interface Caller {
  readonly actor: Actor;
  readonly scopes: readonly Scope[];
}

/** The caller by one of our tokens. */
export interface TokenCaller extends Caller {
  readonly token: VerifiedToken;
}

/** A token's claims and its caller, as measured. */
const bytesOfCaller = 1_200;

/** Undefined for a token that is new to this process, that was inactive when last read, or whose signing key is gone. */
export function findRemembered(
  { memory, keys, host }: Pick<AuthDeps, 'memory' | 'keys' | 'host'>,
  text: string,
): Remembered<TokenCaller> | undefined {
  const known = memory.find<TokenCaller>(keyOf(text, host));
  if (known === undefined) return undefined;
  const { token } = known.value;
  return token.isRefused !== true && keys.holds(token.kid) ? known : undefined;
}

export function rememberCaller(
  { memory, host }: Pick<AuthDeps, 'memory' | 'host'>,
  text: string,
  caller: TokenCaller,
  basis: Basis,
): void {
  memory.keep(keyOf(text, host), caller, bytesOfCaller, basis);
}

/** The memory holds no token, which is a credential. A token is verified at each issuer by itself. */
function keyOf(text: string, host: AuthDeps['host']): string {
  const name = hash('sha256', text, 'base64');
  return host === undefined ? `token ${name}` : `token ${name} ${host.institutionId} ${host.name}`;
}
