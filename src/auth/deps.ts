import type { AuditTrail } from '../events/index.ts';
import type { BusinessTime } from '../institutions/index.ts';
import type { Clock, Database } from '../storage/index.ts';
import type { ClientDirectory } from './clients/client-directory.ts';
import type { PasswordHasher } from './credentials/passwords.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { Vault } from './keys/vault.ts';
import type { Providers } from './providers/providers.ts';
import type { ResourceTokens } from './providers/resource-tokens.ts';
import type { LoginBackoff } from './sign-in/login-backoff.ts';
import type { SprayBrake } from './sign-in/spray-brake.ts';
import type { Turns } from './sign-in/turns.ts';
import type { AccessTokens } from './tokens/access-tokens.ts';

export interface AuthDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Of codes and locks; tokens, keys and the audit go by the clock. */
  readonly businessTime: BusinessTime;
  readonly vault: Vault;
  readonly keys: SigningKeys;
  readonly clientDirectory: ClientDirectory;
  readonly tokens: AccessTokens;
  /** Our name as issuer and audience: PUBLIC_URL. */
  readonly issuer: string;
  readonly providers: Providers;
  readonly resourceTokens: ResourceTokens;
  readonly passwords: PasswordHasher;
  readonly audit: AuditTrail;
  /** One after the other, clients in turns: also their look-ups and writes, so that a storm does not take the database either. */
  readonly logins: Turns;
  /** By username, known or not: before a login is looked at. */
  readonly loginBackoff: LoginBackoff;
  /** By client and by a member's own address: before a login is looked at. */
  readonly sprays: SprayBrake;
  /** By address: before a client is told that it is not who it says. */
  readonly clientBackoff: LoginBackoff;
  readonly accessTokenLifetimeSeconds: number;
  /** How long a login may be renewed in all, and how long it waits for that. */
  readonly refreshTokens: { readonly lifetimeMillis: number; readonly idleMillis: number };
}
