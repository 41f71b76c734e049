import { OAuthError } from './oauth-error.ts';

export const scopes = [
  'account:read',
  'institution-users:read',
  'institution-users:write',
  'transfer:read',
  'transfer:write',
  'alertPref:read',
  'alertPref:write',
  'alertHist:read',
  'alertMail:write',
  'events:read',
  'webhooks:manage',
  'core:read',
  'core:write',
  // An ID token, and the claims of the member (OpenID Connect Core 1.0 section 5.4).
  'openid',
  'profile',
  'email',
  // A request for a refresh token, not a right (OpenID Connect Core 1.0 section 11).
  'offline_access',
] as const;
export type Scope = (typeof scopes)[number];

/** Their operations need a client token, so a member token never carries them. */
const clientScopes: readonly Scope[] = [
  'alertMail:write',
  'events:read',
  'core:read',
  'core:write',
  'webhooks:manage',
];

/** A member token carries no other scopes, even if its client is registered for them. */
export const memberScopes: readonly Scope[] = scopes.filter((scope) => !clientScopes.includes(scope));

/** Accepted spellings. Responses and claims use the first ones. */
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

/** The known scopes among the names, in the order above. */
export function scopesIn(names: readonly string[]): Scope[] {
  return scopes.filter((scope) => names.includes(scope));
}

/**
 * The scopes to grant. Undefined requests all registered scopes except `offline_access`. OAuthError `invalid_scope` for an unknown
 * scope and for one that is not registered.
 */
export function grantScopes(requested: string | undefined, registered: readonly string[]): Scope[] {
  if (requested === undefined) return scopesIn(registered).filter((scope) => scope !== 'offline_access');
  if (!grammar.test(requested)) throw new OAuthError('invalid_scope', 'The scope is malformed.');
  const wanted = new Set(requested.split(' ').map(parseScope));
  const granted = scopes.filter((scope) => wanted.has(scope) && registered.includes(scope));
  if (granted.length !== wanted.size) {
    throw new OAuthError('invalid_scope', 'A scope does not exist or is not registered for this client.');
  }
  return granted;
}
