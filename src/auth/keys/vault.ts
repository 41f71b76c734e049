import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
/** A shorter tag is refused, since it would be easier to guess. */
const authTagLength = 16;

/** The sealed bytes were changed, or were sealed for another purpose or with another SECRET_KEY. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

interface VaultOptions {
  /** A second key-encryption key, which only opens: the next one or the one before. */
  readonly other?: Uint8Array | undefined;
  /** The key of stored hashes if it is not derived from the key-encryption key (ADR 48). */
  readonly hashingKey?: Uint8Array;
  /** The database's hashing key cannot be opened, so no stored hash matches. */
  readonly isHashingKeyLost?: boolean;
}

/**
 * Uses the key-encryption key: seals secrets that must be read again (signing keys; one-time codes until their delivery), and hashes
 * secrets that are only compared. Each use has a key of its own, by HKDF.
 */
export class Vault {
  readonly #sealingKey: Uint8Array;
  readonly #otherSealingKey: Uint8Array | undefined;
  readonly #hashingKey: Uint8Array;
  readonly isHashingKeyLost: boolean;

  /** `keyEncryptionKey`: 32 bytes. */
  constructor(keyEncryptionKey: Uint8Array, { other, hashingKey, isHashingKeyLost }: VaultOptions = {}) {
    if (keyEncryptionKey.length !== 32) throw new RangeError('the key-encryption key must have 32 bytes');
    this.#sealingKey = deriveKey(keyEncryptionKey, 'sharedraft seal');
    this.#otherSealingKey = other && deriveKey(other, 'sharedraft seal');
    this.#hashingKey = hashingKey ?? hashingKeyOf(keyEncryptionKey);
    this.isHashingKeyLost = isHashingKeyLost === true;
  }

  /** Bytes sealed for one purpose cannot be opened for another. */
  seal(purpose: string, secret: Uint8Array): Uint8Array {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#sealingKey, nonce, { authTagLength }).setAAD(
      Buffer.from(purpose),
    );
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Throws DecryptionError. */
  open(purpose: string, sealed: Uint8Array): Uint8Array {
    try {
      return openWith(this.#sealingKey, purpose, sealed);
    } catch (error) {
      if (this.#otherSealingKey === undefined) throw error;
      return openWith(this.#otherSealingKey, purpose, sealed);
    }
  }

  /** The secret sealed anew if only the other key opens it; undefined if this key does. Throws DecryptionError. */
  reseal(purpose: string, sealed: Uint8Array): Uint8Array | undefined {
    try {
      openWith(this.#sealingKey, purpose, sealed);
      return undefined;
    } catch {
      return this.seal(purpose, this.open(purpose, sealed));
    }
  }

  /** The key of stored hashes, sealed. */
  sealedHashingKey(): Uint8Array {
    return this.seal(hashingKeyPurpose, this.#hashingKey);
  }

  /** 32 bytes. A fast hash is enough, since the secrets are long and random, unlike passwords. */
  hash(purpose: string, secret: string): Buffer {
    return createHmac('sha256', this.#hashingKey).update(`${purpose}\0${secret}`).digest();
  }
}

export const hashingKeyPurpose = 'hashing key';

/** The key of stored hashes while SECRET_KEY was never changed. */
export function hashingKeyOf(keyEncryptionKey: Uint8Array): Uint8Array {
  return deriveKey(keyEncryptionKey, 'sharedraft hash');
}

function openWith(key: Uint8Array, purpose: string, sealed: Uint8Array): Uint8Array {
  const bytes = Buffer.from(sealed);
  const nonce = bytes.subarray(0, nonceBytes);
  try {
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength })
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + authTagLength));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + authTagLength)), decipher.final()]);
  } catch (cause) {
    throw new DecryptionError(`auth: the sealed ${purpose} cannot be opened`, { cause });
  }
}

function deriveKey(key: Uint8Array, info: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), info, 32));
}
