import type { Clock, Database } from '../storage/index.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { PasswordHasher } from './passwords.ts';
import type { Vault } from './vault.ts';

export interface AuthDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly tokens: AccessTokens;
  readonly passwords: PasswordHasher;
  readonly accessTokenLifetimeSeconds: number;
}
