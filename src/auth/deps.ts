import type { AuditTrail } from '../events/index.ts';
import type { BusinessTime, NameClaims } from '../institutions/index.ts';
import type { ValidatedMemory } from '../memory/index.ts';
import type { FairQueue } from '../shared/fair-queue.ts';
import type { Clock, Database } from '../storage/index.ts';
import type { Clients } from './clients/client-directory.ts';
import type { PasswordHasher } from './credentials/passwords.ts';
import type { ProofNonces } from './dpop/nonces.ts';
import type { UsedProofs } from './dpop/used-proofs.ts';
import type { InstitutionHost } from './hosts/institution-hosts.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { Vault } from './keys/vault.ts';
import type { Providers } from './providers/providers.ts';
import type { ResourceTokens } from './providers/resource-tokens.ts';
import type { LoginBackoff } from './sign-in/login-backoff.ts';
import type { SprayBrake } from './sign-in/spray-brake.ts';
import type { AccessTokens } from './tokens/access-tokens.ts';

export interface AuthDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly memory: ValidatedMemory;
  /** For codes and locks. Tokens, keys and the audit use the clock. */
  readonly businessTime: BusinessTime;
  readonly vault: Vault;
  readonly keys: SigningKeys;
  readonly clientDirectory: Clients;
  /** For a cell with a directory. */
  readonly claims?: NameClaims | undefined;
  readonly tokens: AccessTokens;
  readonly proofNonces: ProofNonces;
  readonly usedProofs: UsedProofs;
  /** The host name of an institution at which the request arrived; undefined at PUBLIC_URL, where all institutions are. */
  readonly host: InstitutionHost | undefined;
  /** PUBLIC_URL, or the institution's host: the issuer and the audience of our tokens. */
  readonly issuer: string;
  readonly providers: Providers;
  readonly resourceTokens: ResourceTokens;
  readonly passwords: PasswordHasher;
  readonly audit: AuditTrail;
  /** Sign-ins with their reads and writes, clients in turns, so that a storm of sign-ins spares the database too. */
  readonly logins: FairQueue;
  /** Delays logins by username, known or unknown, before the user is read. */
  readonly loginBackoff: LoginBackoff;
  /** Delays logins by client and by the member's own address, before the user is read. */
  readonly sprays: SprayBrake;
  /** Delays the refusal of a client's authentication, by address. */
  readonly clientBackoff: LoginBackoff;
  readonly accessTokenLifetimeSeconds: number;
  /** `lifetimeMillis`: the longest life of a login. `idleMillis`: the longest time between two refreshes. */
  readonly refreshTokens: { readonly lifetimeMillis: number; readonly idleMillis: number };
}
