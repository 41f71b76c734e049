import { OAuthError } from './oauth-error.ts';

export const scopes = [
  'account:read',
  'institution-users:read',
  'institution-users:write',
  'transfer:read',
  'transfer:write',
  'events:read',
  // Not a right of the token, but the wish for a refresh token beside it (OpenID Connect Core 1.0 section 11).
  'offline_access',
] as const;
export type Scope = (typeof scopes)[number];

/** No operation of these takes a member's token: a member's token never carries them. */
const forClientsAlone: readonly Scope[] = ['events:read'];

/** The most that a member's token carries, whatever its client is registered for. */
export const memberScopes: readonly Scope[] = scopes.filter((scope) => !forClientsAlone.includes(scope));

/** Spellings of the wider family; answers and claims use ours. */
const spellings: ReadonlyMap<string, Scope> = new Map<string, Scope>([
  ...scopes.map((scope) => [scope, scope] as const),
  ['accounts:read', 'account:read'],
  ['transfers:read', 'transfer:read'],
  ['transfers:write', 'transfer:write'],
]);

/** RFC 6749 section 3.3: tokens of visible ASCII without quote and backslash, one space between. */
const grammar = /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/;

export function parseScope(name: string): Scope | undefined {
  return spellings.get(name);
}

/** Those of ours among the names, in our order. */
export function scopesIn(names: readonly string[]): Scope[] {
  return scopes.filter((scope) => names.includes(scope));
}

/**
 * The scopes to grant: those asked for, or all that the client is registered for but `offline_access`. OAuthError
 * `invalid_scope` for one that does not exist or that the client does not have.
 */
export function grantScopes(asked: string | undefined, registered: readonly string[]): Scope[] {
  if (asked === undefined) return scopesIn(registered).filter((scope) => scope !== 'offline_access');
  if (!grammar.test(asked)) throw new OAuthError('invalid_scope', 'The scope is malformed.');
  const wanted = new Set(asked.split(' ').map(parseScope));
  const granted = scopes.filter((scope) => wanted.has(scope) && registered.includes(scope));
  if (granted.length !== wanted.size) {
    throw new OAuthError('invalid_scope', 'A scope does not exist or is not registered for this client.');
  }
  return granted;
}
