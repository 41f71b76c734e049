import type { Queryable } from '../../storage/index.ts';
import { selectPasskeys } from '../passkeys/passkey-queries.ts';
import { selectAuthenticator } from '../second-factor/authenticator-queries.ts';
import { type KnownDevice, selectDevices } from '../sign-in/device-queries.ts';

/** The means of sign-in beside a password, under the names that the member gave them. No secret and no key is among them. */
export interface MeansOfMember {
  readonly passkeys: readonly {
    readonly name: string;
    readonly isSynced: boolean;
    readonly createdAt: Date;
    readonly lastUsedAt: Date | null;
  }[];
  readonly authenticator: {
    readonly name: string;
    readonly createdAt: Date;
    readonly lastUsedAt: Date | null;
    /** Those that are left. */
    readonly recoveryCodes: number;
  } | null;
  /** The devices of the last 400 days. */
  readonly devices: readonly KnownDevice[];
}

/** For an operator who serves the member. */
export async function meansOfMember(db: Queryable, userKey: bigint): Promise<MeansOfMember> {
  const [passkeys, authenticator, devices] = await Promise.all([
    selectPasskeys(db, userKey),
    selectAuthenticator(db, userKey),
    selectDevices(db, userKey),
  ]);
  return {
    passkeys: passkeys.map(({ name, isSynced, createdAt, lastUsedAt }) => ({
      name,
      isSynced,
      createdAt,
      lastUsedAt,
    })),
    authenticator: authenticator
      ? {
          name: authenticator.name,
          createdAt: authenticator.createdAt,
          lastUsedAt: authenticator.lastUsedAt,
          recoveryCodes: authenticator.recoveryCodes,
        }
      : null,
    devices,
  };
}
