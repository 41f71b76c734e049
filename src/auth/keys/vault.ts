import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
/** A shorter tag is refused, since it would be easier to guess. */
const authTagLength = 16;

/** The sealed bytes were changed, or were sealed for another purpose or with another SECRET_KEY. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

/**
 * Uses the key-encryption key: seals secrets that must be read again (signing keys; one-time codes until their delivery), and hashes
 * secrets that are only compared. Each use has a key of its own, by HKDF.
 */
export class Vault {
  readonly #sealingKey: Uint8Array;
  readonly #hashingKey: Uint8Array;

  /** `keyEncryptionKey`: 32 bytes. */
  constructor(keyEncryptionKey: Uint8Array) {
    if (keyEncryptionKey.length !== 32) throw new RangeError('the key-encryption key must have 32 bytes');
    this.#sealingKey = deriveKey(keyEncryptionKey, 'sharedraft seal');
    this.#hashingKey = deriveKey(keyEncryptionKey, 'sharedraft hash');
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
    const bytes = Buffer.from(sealed);
    const nonce = bytes.subarray(0, nonceBytes);
    try {
      const decipher = createDecipheriv(algorithm, this.#sealingKey, nonce, { authTagLength })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + authTagLength));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + authTagLength)), decipher.final()]);
    } catch (cause) {
      throw new DecryptionError(`auth: the sealed ${purpose} cannot be opened`, { cause });
    }
  }

  /** 32 bytes. A fast hash is enough, since the secrets are long and random, unlike passwords. */
  hash(purpose: string, secret: string): Buffer {
    return createHmac('sha256', this.#hashingKey).update(`${purpose}\0${secret}`).digest();
  }
}

function deriveKey(key: Uint8Array, info: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), info, 32));
}
